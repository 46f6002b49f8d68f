import { readdirSync, readFileSync } from 'node:fs';
import { dirname, posix } from 'node:path';
import { describe, expect, test } from 'vitest';

const root = new URL('../../', import.meta.url);
const read = (path: string): string => readFileSync(new URL(path, root), 'utf8');
const filesOf = (path: string): string[] =>
  readdirSync(new URL(path, root), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => `${entry.parentPath.slice(root.pathname.length)}/${entry.name}`);

const files = filesOf('src');
const imports = files.flatMap((file) => {
  const specifiers = [...read(file).matchAll(/(?:\bfrom|\bimport)\s*\(?\s*'([^']+)'/g)].map(
    ([, specifier = '']) => specifier,
  );
  return specifiers.map((specifier) => ({ file, specifier }));
});

const importersOf = (packages: RegExp): string[] =>
  [...new Set(imports.filter(({ specifier }) => packages.test(specifier)).map(({ file }) => file))].sort();

/** The folder of src that holds a file; `main` and `errors` are files of src itself. */
const folderOf = (file: string): string => file.split('/')[1]?.replace('.ts', '') ?? '';

describe('docs/architecture.md, the house', () => {
  const picture = /## The house\n[\s\S]*?```mermaid\n([\s\S]*?)```/.exec(read('docs/architecture.md'))?.[1];
  const drawn = new Set<string>();
  for (const line of picture?.split('\n') ?? []) {
    const [from, to] = line.trim().split(' --> ');
    for (const target of to?.split(' & ') ?? []) drawn.add(`${from} --> ${target}`);
  }
  // errors.ts is a leaf that every folder may import.
  const followed = new Map<string, string>();
  for (const { file, specifier } of imports) {
    if (!/^\.{1,2}\/.*\.ts$/.test(specifier)) continue;
    const [from, to] = [folderOf(file), folderOf(posix.join(dirname(file), specifier))];
    if (from !== to && to !== 'errors') followed.set(`${from} --> ${to}`, `${file} imports ${specifier}`);
  }

  test('draws every import between two folders', () => {
    const undrawn = [...followed].filter(([arrow]) => !drawn.has(arrow));
    expect(undrawn.map(([arrow, example]) => `${arrow}: ${example}`)).toEqual([]);
  });

  test('draws no arrow that no import follows', () => {
    expect([...drawn].filter((arrow) => !followed.has(arrow))).toEqual([]);
  });
});

describe('packages', () => {
  test('only src/slack knows Bolt and Socket Mode; the wiring beside it knows the Web API', () => {
    const bolt = importersOf(/^@slack\/(?:bolt|socket-mode)/);
    expect(bolt.filter((file) => !file.startsWith('src/slack/'))).toEqual([]);
    const webApi = importersOf(/^@slack\/web-api/);
    expect(webApi.filter((file) => !/^src\/(?:slack|app)\//.test(file))).toEqual([]);
  });

  test('the API has never heard of Slack', () => {
    expect(importersOf(/^@slack\//).filter((file) => file.startsWith('src/api/'))).toEqual([]);
  });

  test('views do no I/O', () => {
    const importers = importersOf(/^(?:node:|kysely|pg|ofetch)/);
    expect(importers.filter((file) => file.startsWith('src/views/'))).toEqual([]);
  });
});

describe('the layout of src and test', () => {
  test('src has no loose file but main.ts and errors.ts', () => {
    expect(files.filter((file) => dirname(file) === 'src').sort()).toEqual(['src/errors.ts', 'src/main.ts']);
  });

  test('every folder of test mirrors one of src', () => {
    const mirrored = filesOf('test')
      .filter((file) => /\.(?:ts|js)$/.test(file))
      .filter((file) => !/^test\/(?:deploy|docs|external|playground|simulator|support)\//.test(file))
      .map((file) => dirname(file).replace('test/', 'src/'));
    // A file of src that is tested from several sides has a folder of its name.
    const ofSrc = new Set(files.flatMap((file) => [dirname(file), file.replace('.ts', '')]));
    expect([...new Set(mirrored)].filter((folder) => !ofSrc.has(folder))).toEqual([]);
  });
});
