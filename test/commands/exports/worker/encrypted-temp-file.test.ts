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

test.skipIf(process.platform !== 'linux')('it has no name, and on the disk it is noise', async () => {
  const spool = createEncryptedTempFile(folder);
  const plain = 'a personal line\n'.repeat(50_000);
  spool.write(Buffer.from(plain));
  expect(await readdir(folder)).toEqual([]);
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
