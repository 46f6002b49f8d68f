import { readdirSync, readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { describe, expect, test } from 'vitest';

const root = new URL('../../', import.meta.url);
const read = (path: string): string => readFileSync(new URL(path, root), 'utf8');
const foldersOf = (path: string): string[] =>
  readdirSync(new URL(path, root), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name)
    .sort();
const filesOf = (path: string): string[] =>
  readdirSync(new URL(path, root), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => `${entry.parentPath.slice(root.pathname.length)}/${entry.name}`);

const folders = foldersOf('src');
const importsByFolder = readLintRules();

describe('docs/architecture.md, the house', () => {
  const picture = /## The house\n[\s\S]*?```mermaid\n([\s\S]*?)```/.exec(read('docs/architecture.md'))?.[1];
  const arrows = new Map<string, string[]>();
  const nodes = new Set<string>();
  for (const line of picture?.split('\n') ?? []) {
    const [from, to = ''] = line.trim().split(' --> ');
    if (from === undefined || !/^[a-z]+$/.test(from) || from === 'end') continue;
    const targets = to.split(' & ').filter(Boolean);
    for (const node of [from, ...targets]) nodes.add(node);
    arrows.set(from, [...(arrows.get(from) ?? []), ...targets]);
  }

  test('the nodes are main and the folders of src', () => {
    expect([...nodes].sort()).toEqual([...folders, 'main'].sort());
  });

  test.each(folders)('the arrows of %s are the imports that lint allows', (folder) => {
    expect(arrows.get(folder)?.toSorted()).toEqual(importsByFolder.get(folder));
  });
});

describe('CONTRIBUTING.md, the table of folders', () => {
  const rows = [...read('CONTRIBUTING.md').matchAll(/^\| `src\/([a-z]+)` \|[^|]*\|([^|]*)\|$/gmu)];

  test('lists the folders of src', () => {
    expect(rows.map(([, folder = '']) => folder).sort()).toEqual(folders);
  });

  test.each(rows.map(([, folder = '', mayImport = '']) => [folder, mayImport]))(
    'the imports of %s are those that lint allows',
    (folder, mayImport) => {
      const named = [...mayImport.matchAll(/`([a-z]+)`/g)].map(([, name = '']) => name);
      expect(named.sort()).toEqual(importsByFolder.get(folder));
    },
  );
});

describe('the layout of src and test', () => {
  const files = filesOf('src');

  test('src has no loose file but main.ts and errors.ts', () => {
    expect(files.filter((file) => dirname(file) === 'src').sort()).toEqual(['src/errors.ts', 'src/main.ts']);
  });

  test('no folder has more than 15 files of its own', () => {
    const counts = Object.groupBy(files, (file) => dirname(file));
    const large = Object.entries(counts).filter(([, own = []]) => own.length > 15);
    expect(large.map(([folder, own]) => `${folder}: ${own?.length}`)).toEqual([]);
  });

  test('no file has more than 250 lines', () => {
    const lengths = files.map((file) => [file, read(file).trimEnd().split('\n').length] as const);
    expect(lengths.filter(([, lines]) => lines > 250)).toEqual([]);
  });

  const tests = filesOf('test').filter((file) => /\.(?:ts|js)$/.test(file));

  test('every folder of test mirrors one of src', () => {
    const mirrored = tests
      .filter((file) => !/^test\/(?:deploy|docs|external|playground|simulator|support)\//.test(file))
      .map((file) => dirname(file).replace('test/', 'src/'));
    // A file of src that is tested from several sides has a folder of its name.
    const ofSrc = new Set(files.flatMap((file) => [dirname(file), file.replace('.ts', '')]));
    expect([...new Set(mirrored)].filter((folder) => !ofSrc.has(folder))).toEqual([]);
  });

  test('no folder of test has more than 15 files of its own', () => {
    const counts = Object.entries(Object.groupBy(tests, (file) => dirname(file)));
    expect(counts.filter(([, own = []]) => own.length > 15).map(([folder]) => folder)).toEqual([]);
  });
});

/** What each folder may import of src: every folder but itself and those that .oxlintrc.json denies it. */
function readLintRules(): Map<string, string[]> {
  interface Restrictions {
    readonly patterns: readonly { readonly regex?: string }[];
  }
  const { overrides } = JSON.parse(read('.oxlintrc.json')) as {
    overrides: readonly {
      readonly files: readonly string[];
      readonly rules: { readonly 'no-restricted-imports'?: readonly [string, Restrictions] };
    }[];
  };
  const rules = new Map<string, string[]>();
  for (const { files, rules: own } of overrides) {
    const folder = /^src\/([a-z]+)\/\*\*/.exec(files[0] ?? '')?.[1];
    const restrictions = own['no-restricted-imports']?.[1];
    if (folder === undefined || !restrictions) continue;
    const denied = new Set([folder]);
    for (const { regex = '' } of restrictions.patterns) {
      const names = /^\^\(\\\.\\\.\/\)\+\(([a-z|]+)\)\/$/.exec(regex)?.[1];
      for (const name of names?.split('|') ?? []) denied.add(name);
    }
    rules.set(
      folder,
      folders.filter((name) => !denied.has(name)),
    );
  }
  return rules;
}
