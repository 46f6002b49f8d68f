import { createHash, randomBytes } from 'node:crypto';
import { mkdtemp, readdir, readlink, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createEncryptedTempFile } from '../../../../src/commands/exports/worker/gather.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'spool-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const readAll = (file: { read: () => Iterable<Uint8Array> }): Buffer => Buffer.concat([...file.read()]);

test('what was written is read, as often as needed', () => {
  const spool = createEncryptedTempFile(join(folder, 'new'));
  const pieces = [1, 300_000, 7, 700_000, 0, 65_536].map((size) => randomBytes(size));
  for (const piece of pieces) spool.write(piece);
  const whole = Buffer.concat(pieces);
  expect(spool.finish()).toBe(createHash('sha256').update(whole).digest('hex'));
  for (const _ of [1, 2]) expect(readAll(spool).equals(whole)).toBe(true);
  spool.discard();
  spool.discard();
});

test.skipIf(process.platform !== 'linux')('it has no name, and on the disk it is noise', async () => {
  const spool = createEncryptedTempFile(folder);
  const plain = 'a personal line\n'.repeat(50_000);
  spool.write(Buffer.from(plain));
  expect((await readdir(folder)).filter((name) => name !== 'new')).toEqual([]);
  const handles = await readdir('/proc/self/fd');
  const links = await Promise.all(
    handles.map(async (fd) => ({ fd, to: await readlink(`/proc/self/fd/${fd}`).catch(() => '') })),
  );
  const ours = links.find(({ to }) => to.startsWith(folder) && to.endsWith(' (deleted)'));
  const { open } = await import('node:fs/promises');
  const file = await open(`/proc/self/fd/${ours?.fd}`);
  const { mode } = await file.stat();
  const stored = await file.readFile('latin1');
  await file.close();
  expect(mode & 0o777).toBe(0o600);
  expect(stored).toHaveLength(plain.length);
  expect(stored).not.toContain('personal');
  spool.discard();
});
