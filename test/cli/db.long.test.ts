import { execFile } from 'node:child_process';
import { copyFile, mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { sql } from 'kysely';
import { afterAll, afterEach, describe, expect, test } from 'vitest';
import { startCdn } from '../../simulator/cdn/server.ts';
import { startSlack } from '../../simulator/slack/server.ts';
import type { Secret } from '../../src/secrets/secret.ts';
import { type Database, openDatabase } from '../../src/store/database.ts';
import { insertRecords } from '../auth/audit/tampering.ts';
import { connect, environment } from '../support/bot.ts';
import { copyEmbeddedDatabase } from '../support/database-templates.ts';
import { createMemoryLog, deleteRows, prepareEngines } from '../support/engines.ts';
import { type BotProcess, startBotProcess } from '../support/process.ts';
import { readStable } from '../support/words.ts';

// The real processes, as an operator starts them.

const ops = 'C0OPS0000';
const { postgres } = await prepareEngines();
const [slack, cdn] = await Promise.all([startSlack(), startCdn({ zones: 12 })]);
const directory = await mkdtemp(join(tmpdir(), 'chatops-move-'));
const running: BotProcess[] = [];

afterEach(async () => {
  for (const bot of running.splice(0)) await bot.kill('SIGKILL');
});
afterAll(async () => {
  await Promise.all([slack.close(), cdn.close()]);
  await rm(directory, { recursive: true, force: true });
});

type Env = Record<string, string>;

async function start(env: Env, word = 'all', ...more: string[]): Promise<BotProcess> {
  const bot = startBotProcess(env, word, more);
  running.push(bot);
  if (word === 'all') await bot.waitForOutput('ready');
  return bot;
}

async function run(env: Env, ...words: string[]): Promise<{ said: string; code: number | null }> {
  const command = await start(env, 'db', ...words);
  const code = await command.exited;
  return { said: makeStable(command.output()), code };
}

/** Without what differs from run to run, or changes with every table. */
function makeStable(said: string): string {
  return readStable(said, { directory })
    .replaceAll(/, version [\d.]+, as of \S+\)/g, ', <versions>)')
    .replaceAll(/-\w{6}\b/g, '')
    .replaceAll(/[\d,]+( rows of )\d+( tables)/g, '<n>$1<n>$2')
    .replaceAll(/\([^()]+ process \d+\)/g, '(<process>)')
    .replaceAll(/^ {2}(?!linked_keys)[\w.]+: [\d,]+\n/gm, '');
}

async function newDirectory(name: string): Promise<string> {
  return mkdtemp(join(directory, `${name}-`));
}

const open = (databaseUrl: Secret | undefined, dataDir = ''): Promise<Database> =>
  openDatabase({ databaseUrl, dataDir, log: createMemoryLog() });

/** The rows of a table that holds much, written as text of this many characters. */
async function insertMany({ db }: Database, rows: number, length: number): Promise<void> {
  await sql`insert into deliveries
    select n || repeat('x', ${length}::int), now() from generate_series(1, ${rows}::int) n`.execute(db);
}

const countDeliveries = async ({ db }: Database): Promise<unknown> =>
  (await sql<{ count: number }>`select count(*) as count from deliveries`.execute(db)).rows[0]?.count;

const createDatabase = async (options?: { readonly empty: boolean }): Promise<Secret> =>
  (await postgres.server()).createDatabase(options);

describe.skipIf(postgres.skip)('npm run db', () => {
  test('a bot moves to PostgreSQL and goes on with its keys; beside it nothing is exported from its directory', async () => {
    const dataDir = await newDirectory('data');
    await copyEmbeddedDatabase(dataDir);
    const env = environment({ slack, cdn, dataDir });
    const bot = await start(env);
    await connect({ slack, cdn, env }, 'U0ALICE00', ops);
    const file = join(directory, 'moved.ndjson');
    const steps = { 'export beside the bot': await run(env, 'export', file) };
    await bot.kill('SIGTERM');
    Object.assign(steps, { export: await run(env, 'export', file) });
    const text = await readFile(file, 'utf8');
    const keyring = (await readFile(join(dataDir, 'encryption-keys'), 'utf8')).trim().split(':')[1] ?? '';
    for (const secret of [cdn.key, slack.botToken, slack.appToken, keyring])
      expect(text.includes(secret)).toBe(false);

    const url = await createDatabase({ empty: true });
    const there: Env = { ...env, DATABASE_URL: url.reveal(), DATA_DIR: await newDirectory('none') };
    Object.assign(steps, {
      'import without the keyring': await run({ ...there, ENCRYPTION_KEYS: '' }, 'import', file),
      'import onto rows': await run(there, 'import', file),
    });
    const keyed: Env = { ...there, ENCRYPTION_KEYS_FILE: join(dataDir, 'encryption-keys') };
    keyed['DATABASE_URL'] = (await createDatabase({ empty: true })).reveal();
    Object.assign(steps, { import: await run(keyed, 'import', file) });
    await start(keyed);
    const person = slack.as('U0ALICE00', ops);
    await person.slash('zones');
    await person.waitForMessage(({ reads }) => reads.includes('12 zones'));

    // And back, beside the bot: PostgreSQL serves both.
    const beside = join(directory, 'beside.ndjson');
    Object.assign(steps, { 'export beside the bot on PostgreSQL': await run(keyed, 'export', beside) });
    const backDir = await newDirectory('back');
    await copyFile(join(dataDir, 'encryption-keys'), join(backDir, 'encryption-keys'));
    Object.assign(steps, { 'import back': await run({ ...env, DATA_DIR: backDir }, 'import', beside) });
    expect(steps).toMatchSnapshot();
  });

  test('killed during an import, both engines hold no row, and take it the next time', async () => {
    const file = join(directory, 'large.ndjson');
    const source = await createDatabase();
    const filled = await open(source);
    await deleteRows(filled);
    await insertMany(filled, 60_000, 1_000);
    await insertRecords(filled, 100);
    await filled.close();
    // Less memory than the table has.
    const small = { NODE_OPTIONS: '--max-semi-space-size=1 --max-old-space-size=56' };
    expect((await run({ ...small, DATABASE_URL: source.reveal() }, 'export', file)).code).toBe(0);
    expect((await stat(file)).size).toBeGreaterThan(60e6);

    const url = await createDatabase({ empty: true });
    const importing = await start({ DATABASE_URL: url.reveal() }, 'db', 'import', file);
    const target = await open(url);
    const inserts = sql`select 1 from pg_stat_activity
      where datname = current_database() and query like 'insert into deliveries%'`;
    await expect.poll(async () => (await inserts.execute(target.db)).rows.length).toBe(1);
    await importing.kill('SIGKILL');
    expect(await countDeliveries(target)).toBe(0);
    await target.close();

    const dataDir = await newDirectory('data');
    const embedded = await start({ DATA_DIR: dataDir }, 'db', 'import', file);
    const size = async (): Promise<number> => {
      const { stdout } = await promisify(execFile)('du', ['-sk', join(dataDir, 'database')]).catch(() => ({
        stdout: '0',
      }));
      return Number.parseInt(stdout, 10);
    };
    // An empty one has 40 MB.
    await expect.poll(size, { timeout: 60_000 }).toBeGreaterThan(70_000);
    await embedded.kill('SIGKILL');
    const left = await open(undefined, dataDir);
    expect(await countDeliveries(left)).toBe(0);
    await left.close();
    expect(await run({ ...small, DATA_DIR: dataDir }, 'import', file)).toMatchObject({ code: 0 });
  });

  test('where the file finds no room, it is said and nothing is left', async () => {
    const url = await createDatabase();
    const database = await open(url);
    await insertMany(database, 2_000, 1_000);
    await database.close();
    const to = await newDirectory('full');
    const script = 'ulimit -f 64; exec "$0" dist/bot/main.js db export "$1/moved.ndjson"';
    const ended = await promisify(execFile)('sh', ['-c', script, process.execPath, to], {
      env: { DATABASE_URL: url.reveal(), PATH: process.env['PATH'] },
    }).catch((error: { code: number; stderr: string }) => error);
    expect(await readdir(to)).toEqual([]);
    const none = await run({ DATABASE_URL: url.reveal() }, 'export', join(to, 'none', 'moved.ndjson'));
    await expect(stat(join(to, 'none'))).rejects.toThrow('ENOENT');
    const { code, stderr = '' } = ended as { code?: number; stderr?: string };
    expect([{ code, said: makeStable(stderr) }, none]).toMatchSnapshot();
  });
});
