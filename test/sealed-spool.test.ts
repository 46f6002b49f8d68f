import { randomBytes } from 'node:crypto';
import { mkdtemp, readdir, readlink, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createSealedSpool } from '../src/sealed-spool.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'spool-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

async function all(pieces: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const parts: Uint8Array[] = [];
  for await (const piece of pieces) parts.push(piece);
  return Buffer.concat(parts);
}

test('what was written is read, as often as one likes, and was looked at before', async () => {
  const seen: number[] = [];
  const spool = await createSealedSpool(join(folder, 'new'), (piece) => seen.push(piece.length));
  const pieces = [1, 300_000, 7, 700_000, 0, 65_536].map((size) => randomBytes(size));
  for (const piece of pieces) await spool.write(piece);
  await spool.finish();
  const whole = Buffer.concat(pieces);
  expect(spool.length()).toBe(whole.length);
  expect((await all(spool.read())).equals(whole)).toBe(true);
  expect((await all(spool.read())).equals(whole)).toBe(true);
  expect(seen).toEqual(pieces.map(({ length }) => length));
  await spool.discard();
  await spool.discard();
});

test.skipIf(process.platform !== 'linux')('it has no name, and on the disk it is noise', async () => {
  const spool = await createSealedSpool(folder, () => undefined);
  const plain = 'a personal line\n'.repeat(50_000);
  await spool.write(Buffer.from(plain));
  await spool.finish();
  expect((await readdir(folder)).filter((name) => name.endsWith('.spool'))).toEqual([]);
  const handles = await readdir('/proc/self/fd');
  const links = await Promise.all(
    handles.map(async (fd) => ({ fd, to: await readlink(`/proc/self/fd/${fd}`).catch(() => '') })),
  );
  const ours = links.find(({ to }) => to.startsWith(folder) && to.endsWith('.spool (deleted)'));
  const { open } = await import('node:fs/promises');
  const file = await open(`/proc/self/fd/${ours?.fd}`);
  const { mode } = await file.stat();
  const stored = await file.readFile('latin1');
  await file.close();
  expect(mode & 0o777).toBe(0o600);
  expect(stored).toHaveLength(plain.length);
  expect(stored).not.toContain('personal');
  await spool.discard();
});

test('what must not leave is not written', async () => {
  const spool = await createSealedSpool(folder, () => {
    throw new Error('a secret');
  });
  await expect(spool.write(Buffer.from('x'))).rejects.toThrow('a secret');
  expect(spool.length()).toBe(0);
  await spool.discard();
});
