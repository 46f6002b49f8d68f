import { mkdir, readdir, readFile, stat, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { mapConcurrently, runConcurrently } from '../../src/lib/concurrency.ts';
import { writeTempFile } from '../../src/lib/temp-file.ts';
import { createTempDirectory } from '../support/temp-directory.ts';

const newDirectory = async (): Promise<string> => join(await createTempDirectory(), 'spool');

test('a file is whole and only its owner reads it, however much is written at once', async () => {
  const directory = await newDirectory();
  const piece = 'x'.repeat(200_000);
  const file = await writeTempFile(directory, async (write) => {
    for (let nth = 0; nth < 5; nth += 1) await write(piece);
    return { rows: 5 };
  });
  expect(file?.rows).toBe(5);
  expect(await readFile(file?.path ?? '', 'utf8')).toBe(piece.repeat(5));
  expect((await stat(file?.path ?? '')).mode & 0o777).toBe(0o600);
  expect((await stat(directory)).mode & 0o777).toBe(0o700);
});

test('of a file that is not wanted, or fails half-way, nothing is left', async () => {
  const directory = await newDirectory();
  const unwanted = await writeTempFile(directory, async (write) => {
    await write('half');
    return undefined;
  });
  expect(unwanted).toBeUndefined();
  const failing = writeTempFile(directory, async (write) => {
    await write('half');
    throw new Error('cut off');
  });
  await expect(failing).rejects.toThrow('cut off');
  expect(await readdir(directory)).toEqual([]);
});

test('what a crash left goes after six hours, and nothing else does', async () => {
  const directory = await newDirectory();
  await mkdir(directory);
  for (const [name, hours] of [
    ['old.spool', 6.1],
    ['new.spool', 5.9],
    ['old.log', 9],
  ] as const) {
    await writeFile(join(directory, name), '');
    const at = new Date(Date.now() - hours * 3_600_000);
    await utimes(join(directory, name), at, at);
  }
  await writeTempFile(directory, async () => undefined);
  expect((await readdir(directory)).toSorted()).toEqual(['new.spool', 'old.log']);
});

test('of many only so many run at once, each gives its own result, and one failure ends no other', async () => {
  let [running, most] = [0, 0];
  const work = async (n: number): Promise<number> => {
    running += 1;
    most = Math.max(most, running);
    await Promise.resolve();
    running -= 1;
    if (n === 3) throw new Error('three');
    return n * 2;
  };
  expect(await mapConcurrently(2, [1, 2, 4, 5], work)).toEqual([2, 4, 8, 10]);
  const settled = await runConcurrently(
    2,
    [1, 3, 4].map((n) => () => work(n)),
  );
  expect(settled.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
  expect(most).toBe(2);
});
