import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { features } from '../../src/commands/registry.ts';

const read = (path: string): string => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');
const countWords = (path: string): number => read(path).match(/\S+/gu)?.length ?? 0;
const readme = read('README.md');

test('the command table lists exactly what the registry has; paste the expected text when it changed', () => {
  const rows = features.flatMap(({ commands }) =>
    commands.map(({ usage, summary, needs }) => {
      const right = needs === 'none' ? '' : needs;
      return `| \`/cdn ${usage.replaceAll('|', '\\|')}\` | ${summary} | ${right} |`;
    }),
  );
  const table = ['| command | does | right |', '|---|---|---|', ...rows].join('\n');
  expect(/<!-- commands -->\n([\s\S]*?)\n<!-- \/commands -->/.exec(read('docs/commands.md'))?.[1]).toBe(
    table,
  );
});

test('the configuration table names every variable the code reads', () => {
  const [config, documented] = [read('src/app/config.ts'), read('docs/configuration.md')];
  const names = new Set([...config.matchAll(/^ {2}([A-Z][A-Z_]{3,}): /gmu)].map(([, name]) => name ?? ''));
  expect(names.size).toBeGreaterThan(12);
  for (const name of names) expect(documented).toContain(`\`${name}\``);
});

test('the two commands a stranger types first are npm scripts', () => {
  const { scripts } = JSON.parse(read('package.json')) as {
    scripts: Record<string, string>;
  };
  for (const [, script] of readme.matchAll(/npm ci && npm (?:run )?([a-z]+)/g))
    expect(scripts).toHaveProperty([script ?? '']);
});

test('the pages together, the README and the page for operators stay short', () => {
  const docs = readdirSync(new URL('../../docs/', import.meta.url)).filter((name) => name.endsWith('.md'));
  const pages = ['README.md', 'CONTRIBUTING.md', 'CHANGELOG.md', 'SECURITY.md'].concat(
    docs.map((name) => `docs/${name}`),
  );
  const total = pages.reduce((sum, page) => sum + countWords(page), 0);
  expect(docs).toContain('go-live.md');
  expect(total).toBeLessThanOrEqual(18_000);
  expect(countWords('README.md')).toBeLessThanOrEqual(1_200);
  expect(countWords('docs/go-live.md')).toBeLessThanOrEqual(2_500);
});
