import { execFile } from 'node:child_process';
import { createReadStream, createWriteStream } from 'node:fs';
import { chown, mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { env } from 'node:process';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';
import { Client } from 'pg';
import { afterAll, expect, test } from 'vitest';
import { generateKeys } from '../auth/keyring/keyrings.ts';
import { ask, connect, startBot } from '../support/bot.ts';
import { prepareEngines } from '../support/engines.ts';
import { readStable } from '../support/words.ts';

const alice = 'U0ALICE00';
const bob = 'U0BOB0000';
const ops = 'C0OPS0000';

const { postgres } = await prepareEngines();
const closing: (() => unknown)[] = [];
afterAll(async () => {
  for (const close of closing.reverse()) await close();
});

/** A small disk for a database, which root may mount and a server on this machine sees; else why not. */
async function mountDisk(): Promise<{ readonly path: string } | { readonly missing: string }> {
  if (postgres.skip) return { missing: 'no PostgreSQL' };
  if (env['TEST_DATABASE_URL']) return { missing: 'TEST_DATABASE_URL may be on another machine' };
  if (process.getuid?.() !== 0) return { missing: 'only root may mount a disk' };
  const run = promisify(execFile);
  const path = await mkdtemp(join(tmpdir(), 'chatops-disk-'));
  closing.push(() => rm(path, { recursive: true, force: true }));
  try {
    await run('mount', ['-t', 'tmpfs', '-o', 'size=64m', 'none', path]);
  } catch {
    return { missing: 'nothing can be mounted here' };
  }
  closing.push(() => run('umount', [path]));
  return { path };
}

const disk = await mountDisk();
const why = 'missing' in disk ? ` (skipped: ${disk.missing})` : '';

async function openClient(connectionString: string): Promise<Client> {
  const client = new Client({ connectionString });
  await client.connect();
  closing.push(() => client.end());
  return client;
}

/** A database whose files are on that disk. */
async function createDatabase(path: string): Promise<string> {
  const { databaseUrl } = await postgres.createLocation();
  const url = databaseUrl?.reveal() ?? '';
  const name = new URL(url).pathname.slice(1);
  const admin = await openClient((await postgres.server()).adminUrl);
  const { rows } = await admin.query<{ data_directory: string }>('show data_directory');
  const { uid, gid } = await stat(rows[0]?.data_directory ?? '');
  await chown(path, uid, gid);
  const tablespace = `${name}_disk`;
  await admin.query(`create tablespace ${tablespace} location '${path}'`);
  closing.push(async () => {
    await admin.query(`drop database ${name} with (force)`);
    await admin.query(`drop tablespace ${tablespace}`);
  });
  await admin.query(`alter database ${name} set tablespace ${tablespace}`);
  return url;
}

test.skipIf('missing' in disk)(
  `a full disk of PostgreSQL is told in words, loses nothing and passes by itself${why}`,
  async () => {
    const path = 'path' in disk ? disk.path : '';
    const url = await createDatabase(path);
    const variables = { DATABASE_URL: url, ENCRYPTION_KEYS: generateKeys('k1') };
    const bot = await startBot({ transport: 'http', zones: 3, env: variables });
    closing.push(() => bot.stop());
    await connect(bot, alice, ops);
    await connect(bot, bob, ops);
    const person = bot.slack.as(alice, ops);
    const asked = bot.cdn.requests.length;

    const db = await openClient(url);
    // The room that rows of the failed statement take stays taken.
    await db.query('alter table deliveries set (autovacuum_enabled = false)');
    const filler = join(path, 'filler');
    await expect(pipeline(createReadStream('/dev/zero'), createWriteStream(filler))).rejects.toThrow(
      'ENOSPC',
    );
    // The first row that finds no room in the index still takes some in the table, and so on until that has none either.
    await db.query(`do $$ begin
      for n in 1..200000 loop
        begin
          insert into deliveries values ('filled' || n, now());
        exception when disk_full then null;
        end;
      end loop;
    end $$`);
    await expect(db.query(`insert into deliveries values ('more', now())`)).rejects.toMatchObject({
      code: '53100',
    });

    const acknowledged = await person.slash('zones');
    expect(acknowledged).toMatchObject({ status: 200, timedOut: false });
    const refusal = await person.waitForMessage(/disk/);
    expect(readStable(refusal)).toMatchSnapshot();
    expect(bot.cdn.requests.length).toBe(asked);
    // An event that cannot be stored is not acknowledged, so that Slack tells it again.
    const gone = { type: 'user_change', user: { id: bob, team_id: 'T0ACME000', deleted: true } };
    const told = { eventId: 'Ev0FULLDISK', retryAfterMs: [] };
    expect((await bot.slack.event(gone, told)).status).toBeGreaterThanOrEqual(500);
    const findKeys = async (): Promise<unknown[]> =>
      (await db.query('select user_id from linked_keys order by user_id')).rows;
    expect(await findKeys()).toEqual([{ user_id: alice }, { user_id: bob }]);

    await rm(filler);
    expect((await bot.slack.event(gone, told)).status).toBe(200);
    expect((await ask(person, 'zones')).reads).toContain('3 zones');
    expect(bot.cdn.requests.length).toBe(asked + 1);
    await expect.poll(findKeys, { timeout: 30_000 }).toEqual([{ user_id: alice }]);
  },
);
