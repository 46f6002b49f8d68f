import { execFile, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { sql } from 'kysely';
import { expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { readStoreConfig } from '../../../src/app/config.ts';
import { keyringSource } from '../../../src/app/keyring-service.ts';
import { createAudit } from '../../../src/auth/audit/audit.ts';
import { readKeyring } from '../../../src/auth/keyring/keyring.ts';
import { createKeyStore } from '../../../src/auth/keys/key-store.ts';
import { createSealer } from '../../../src/auth/keys/sealing.ts';
import { UserError } from '../../../src/errors.ts';
import { Secret } from '../../../src/secrets/secret.ts';
import { type Database, openDatabase } from '../../../src/store/database.ts';
import { runMaintenance } from '../../../src/store/embedded/embedded.ts';
import { createQueue, defineJob } from '../../../src/store/queue.ts';
import { insertRecords } from '../../auth/audit/tampering.ts';
import { generateKeys } from '../../auth/keyring/keyrings.ts';
import { ask } from '../../support/bot.ts';
import { copyEmbeddedDatabase } from '../../support/database-templates.ts';
import { createMemoryLog, prepareEngines } from '../../support/engines.ts';
import { prepareKilledBot } from '../../support/killed-bot.ts';
import { startBotProcess } from '../../support/process.ts';
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
    The embedded database serves one process: stop the other one, give this one its own DATA_DIR, or set DATABASE_URL to run several."
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

test('a first start that was killed half-way leaves nothing that the next one stumbles over', async () => {
  const dataDir = await createTempDirectory();
  await mkdir(join(dataDir, 'database.new'));
  await writeFile(join(dataDir, 'database.new', 'PG_VERSION'), '');
  const database = await open(dataDir);
  await database.migrate();
  expect((await readdir(dataDir)).sort()).toEqual(['database', 'lock']);
  await database.close();
});

const at = new Date('2026-11-21T08:00:00.000Z');
const hours = (count: number): Date => new Date(at.getTime() + count * 3_600_000);

async function openParts() {
  const database = await embedded.emptyDatabase();
  const { pool, dump } = database;
  if (!dump) throw new Error('not the embedded engine');
  return { database, engine: { pool, dump }, directory: join(await createTempDirectory(), 'backups') };
}

test('a round gives back the room of deleted rows, so a busy table stays small', async () => {
  const { database, engine, directory } = await openParts();
  const round = async (): Promise<number> => {
    await sql`insert into deliveries select 'id' || n, ${at} from generate_series(1, 5000) n`.execute(
      database.db,
    );
    await database.db.deleteFrom('deliveries').execute();
    await runMaintenance({ ...engine, directory, log: createMemoryLog(), now: () => at });
    const { rows } = await sql<{ size: number }>`select pg_total_relation_size('deliveries') as size`.execute(
      database.db,
    );
    return rows[0]?.size ?? Number.NaN;
  };
  await round();
  const settled = await round();
  await round();
  expect(await round()).toBe(settled);
});

test('a copy that fails leaves nothing behind', async () => {
  const { engine, directory } = await openParts();
  // Nothing can take its place, and it looks like a copy of last year.
  const taken = join(directory, `database-${at.toISOString().replaceAll(':', '-')}.tar.gz`);
  await mkdir(taken, { recursive: true });
  await utimes(taken, 0, 0);
  const log = createMemoryLog();
  await runMaintenance({ ...engine, directory, log, now: () => at });
  expect(log.entries).toMatchObject([{ level: 'error', fields: { error: { code: 'EISDIR' } } }]);
  expect(await readdir(directory)).toEqual([basename(taken)]);
});

test('a copy is made once a day, two are kept, and what was never finished is swept', async () => {
  const { engine, directory } = await openParts();
  const log = createMemoryLog();
  await mkdir(directory, { mode: 0o700 });
  await writeFile(join(directory, 'database-2027-01-01T00-00-00.000Z.tar.gz.tmp'), 'half');
  const made: string[][] = [];
  for (const hour of [0, 23, 25, 49]) {
    await runMaintenance({ ...engine, directory, log, now: () => hours(hour) });
    const names = (await readdir(directory)).filter((name) => name.endsWith('.gz')).sort();
    const newest = join(directory, names.at(-1) ?? '');
    // The files carry the clock of this machine; the rounds are told another.
    const day = new Date(/\d{4}-\d\d-\d\dT\d\d/.exec(newest)?.[0].concat(':00:00Z') ?? '');
    await utimes(newest, day, day);
    made.push(names.map((name) => name.slice(9, 22)));
  }
  expect(log.entries).toEqual([]);
  expect((await readdir(directory)).filter((name) => !name.endsWith('.gz'))).toEqual([]);
  expect(made.map((names) => names.length)).toEqual([1, 1, 2, 2]);
  expect(made.at(-1)).toEqual(['2026-11-22T09', '2026-11-23T09']);
});

const now = (): Date => new Date();
const log = createMemoryLog();
const person = { teamId: 'T0ACME000', userId: 'U0ALICE00' };
const ran: number[] = [];
const job = defineJob({
  name: 'restored',
  data: z.object({ n: z.number() }),
  run: async ({ n }) => void ran.push(n),
});

test('the daily copy is restored as docs/operating.md says, with keys, jobs and the audit record', async () => {
  const root = await mkdtemp(join(tmpdir(), 'chatops-restore-'));
  onTestFinished(() => rm(root, { recursive: true, force: true }));
  const keys = generateKeys('k1');
  const openIn = (dataDir: string): Promise<Database> =>
    openDatabase({ databaseUrl: undefined, dataDir, log });
  const storeOf = async ({ db }: Database) => {
    const config = readStoreConfig({ ENCRYPTION_KEYS: keys });
    const sealer = createSealer((await readKeyring(keyringSource(config))).keyring);
    return createKeyStore({ db, sealer, now, audit: createAudit({ db, now }) });
  };
  const queueOf = async (database: Database, work: boolean) => {
    const queue = createQueue({ database, log, now });
    await queue.start({ jobs: [job], ports: {}, work });
    return queue;
  };

  const dataDir = join(root, 'data');
  const database = await openIn(dataDir);
  await database.migrate();
  await (await storeOf(database)).link(person, new Secret('11111111-2222-3333-4444-555555555555'));
  await insertRecords(database, 50);
  const queue = await queueOf(database, false);
  await queue.enqueue(job, { n: 7 });
  await queue.stop();
  const { pool, dump } = database;
  if (!dump) throw new Error('not the embedded engine');
  await runMaintenance({ pool, dump, directory: join(dataDir, 'backups'), log, now });
  // What came after the copy is not in it.
  await insertRecords(database, 5);
  await database.close();

  // Step 2 of “Restore”, word by word.
  const [copy = ''] = await readdir(join(dataDir, 'backups'));
  expect((await stat(join(dataDir, 'backups', copy))).mode & 0o777).toBe(0o600);
  await rm(join(dataDir, 'database'), { recursive: true });
  await mkdir(join(dataDir, 'database'));
  await promisify(execFile)('tar', ['-xzf', join(dataDir, 'backups', copy), '-C', join(dataDir, 'database')]);

  await writeFile(join(root, 'keys'), keys, { mode: 0o600 });
  const env = { DATA_DIR: dataDir, ENCRYPTION_KEYS_FILE: join(root, 'keys') };
  const verify = startBotProcess(env, 'audit', ['verify']);
  expect(await verify.exited).toBe(0);
  const status = startBotProcess(env, 'keys', ['status']);
  expect(await status.exited).toBe(0);

  const restored = await openIn(dataDir);
  expect(await (await storeOf(restored)).reveal(person)).toMatchObject({ fingerprint: expect.any(String) });
  const records = restored.db.selectFrom('audit_records').select((is) => is.fn.countAll().as('count'));
  expect(await records.executeTakeFirst()).toEqual({ count: 51 });
  const working = await queueOf(restored, true);
  await expect.poll(() => ran).toEqual([7]);
  await working.stop();
  await restored.close();
});

test('a statement that ends the thread fails, is logged, and loses nothing that was committed', async () => {
  const dataDir = await createTempDirectory();
  await copyEmbeddedDatabase(dataDir);
  const log = createMemoryLog();
  const database = await openDatabase({ dataDir, log });
  const { db, ended } = database;
  await sql`insert into deliveries values ('before', now())`.execute(db);
  const nested = 3_000_000;
  const deep = `'select ' || repeat('(', ${nested}) || '1' || repeat(')', ${nested})`;
  const outcomes = await Promise.allSettled([
    sql.raw(`do $$ begin execute ${deep}; end $$`).execute(db),
    sql`insert into deliveries values ('behind it', now())`.execute(db),
    sql`select 1`.execute(db),
  ]);
  expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected']);
  expect(await ended).toMatchObject({ code: 'ERR_WORKER_OUT_OF_MEMORY' });
  expect(log.entries.filter(({ level }) => level === 'error')).toHaveLength(1);
  await expect(sql`select 1`.execute(db)).rejects.toThrow('memory');
  await database.close();

  const again = await openDatabase({ dataDir, log });
  const { rows } = await sql`select id from deliveries`.execute(again.db);
  expect(rows).toEqual([{ id: 'before' }]);
  await again.close();
});

test('a bot whose database has ended stops with code 1, and starts again', async () => {
  const preload = new URL('../../support/end-threads.mjs', import.meta.url).href;
  const env = { NODE_OPTIONS: `--import=${preload}` };
  const { slack, start, kill, stop } = await prepareKilledBot(await embedded.createLocation(), { env });
  onTestFinished(stop);
  const bot = await start();
  bot.child.kill('SIGUSR2');
  await bot.waitForOutput('the embedded database ended');
  expect(await bot.exited).toBe(1);
  await start();
  await ask(slack.as('U0ALICE00', 'C0OPS0000'), 'help');
  expect(await kill('SIGTERM')).toBe(0);
});
