import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readdir, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { UserError } from '../../../src/errors.ts';
import { openDatabase } from '../../../src/store/database.ts';
import { createMemoryLog, prepareEngines } from '../../support/engines.ts';
import { createTempDirectory } from '../../support/temp-directory.ts';

const { embedded } = await prepareEngines();
const open = (dataDir: string) => openDatabase({ dataDir, log: createMemoryLog() });

test('a second process on one directory is refused in words, and gets it when the first has ended', async () => {
  const there = await embedded.createLocation();
  const child = spawn(
    process.execPath,
    [new URL('open-database-process.ts', import.meta.url).pathname, there.dataDir],
    {
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  );
  const ended = once(child, 'exit');
  const said = await Promise.race([once(child.stdout, 'data'), ended]);
  expect(String(said[0])).toBe('open\n');
  const refused: unknown = await open(there.dataDir).catch((error: unknown) => error);
  expect(refused).toBeInstanceOf(UserError);
  const { message, hint } = refused as UserError;
  expect(`${message}\n${hint}`.replace(there.dataDir, '<directory>')).toMatchInlineSnapshot(`
    "Another process already uses the data directory <directory>.
    The embedded database serves one process: stop the other one, give this one a DATA_DIR of its own, or set DATABASE_URL to run several."
  `);
  child.kill('SIGKILL');
  await ended;
  await there.open();
});

const apart = ['--user', '--map-root-user', '--pid', '--fork', '--kill-child', '--mount-proc'];
// Linux only, and not where the system forbids it.
const canBeApart = spawnSync('unshare', [...apart, 'true']).status === 0;

test.skipIf(!canBeApart)(
  'two processes that do not see each other, as in two containers, do not share a directory',
  async () => {
    const { dataDir, open: openHere } = await embedded.createLocation();
    const start = () => {
      const script = new URL('open-database-process.ts', import.meta.url).pathname;
      const command = [...apart, process.execPath, script, dataDir];
      return spawn('unshare', command, { stdio: ['ignore', 'pipe', 'pipe'] });
    };
    const first = start();
    expect(String(await once(first.stdout, 'data'))).toBe('open\n');
    const second = start();
    const [refusal, exit] = await Promise.all([text(second.stderr), once(second, 'exit')]);
    expect(refusal).toContain(dataDir);
    expect(exit).toEqual([1, null]);
    first.kill('SIGKILL');
    // Its process ends a moment after the one that was killed.
    const isFree = () => openHere().then(Boolean, () => false);
    await expect.poll(isFree, { timeout: 10_000 }).toBe(true);
  },
);

test('what is kept is in a directory that nobody else may enter, and its lock is nobody else’s to read', async () => {
  const dataDir = join(await createTempDirectory(), 'data');
  await mkdir(dataDir, { mode: 0o700 });
  // Of a version that left it to SQLite.
  await writeFile(join(dataDir, 'lock'), '', { mode: 0o644 });
  const database = await open(dataDir);
  expect((await stat(join(dataDir, 'lock'))).mode & 0o777).toBe(0o600);
  expect((await stat(dataDir)).mode & 0o777).toBe(0o700);
  expect((await stat(join(dataDir, 'database'))).mode & 0o777).toBe(0o700);
  await database.close();
});

test('a first start that was killed half-way leaves nothing that the next one stumbles over', async () => {
  const dataDir = await createTempDirectory();
  await mkdir(join(dataDir, 'database.new'));
  await writeFile(join(dataDir, 'database.new', 'PG_VERSION'), '');
  const database = await open(dataDir);
  await database.migrate();
  expect((await readdir(dataDir)).sort()).toEqual(['database', 'lock']);
  await database.close();
});

test('a directory that cannot be made is refused in words', async () => {
  const file = join(await createTempDirectory(), 'file');
  await writeFile(file, '');
  const refused: unknown = await open(join(file, 'data')).catch((error: unknown) => error);
  expect(String(refused).replace(file, '<file>')).toMatchInlineSnapshot(
    `"UserError: The data directory <file>/data cannot be written (ENOTDIR)."`,
  );
});
