import { globSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

const root = new URL('../../', import.meta.url);
const read = (path: string): string => readFileSync(new URL(path, root), 'utf8');
const flag = /--(?:max|min)-(?:semi|old)-space-size=\d+/gu;

test('wherever the bot is started it gets the limits of memory of docs/operating.md', () => {
  const documented = [...read('docs/operating.md').matchAll(/^\| `(--m[^`]+)` \|/gmu)].map(([, one]) => one);
  expect(documented).toHaveLength(2);

  const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> };
  const deployed = globSync('deploy/**/*', { cwd: root.pathname, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .flatMap(({ parentPath, name }) => readFileSync(`${parentPath}/${name}`, 'utf8').split('\n'));
  const starts = [
    ...['start', 'web', 'worker'].map((name) => scripts[name] ?? ''),
    ...deployed.filter((line) => /^(?:ENTRYPOINT|ExecStart=).*dist\/bot\/main\.js/u.test(line)),
  ];
  expect(starts).toHaveLength(5);
  for (const start of starts) expect([start, start.match(flag)]).toEqual([start, documented]);
});
