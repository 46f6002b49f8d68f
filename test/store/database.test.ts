import { once } from 'node:events';
import { chmod, stat, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { type Kysely, sql } from 'kysely';
import { describe, expect, test } from 'vitest';
import { UserError } from '../../src/errors.ts';
import { Secret } from '../../src/secrets/secret.ts';
import { openDatabase, storeWithRetries } from '../../src/store/database.ts';
import { openPostgres } from '../../src/store/postgres.ts';
import { migrationProvider, type Schema } from '../../src/store/schema.ts';
import { createMemoryLog, prepareEngines } from '../support/engines.ts';

const engines = await prepareEngines();

describe.each(engines.both)('on $name', ({ skip, emptyDatabase }) => {
  test.skipIf(skip)('values come back the same', async () => {
    const { db } = await emptyDatabase();
    const { rows } = await sql`
      select 7::int8 as small, 9007199254740993::int8 as large, -1::int8 as negative,
             '\\x00ff10'::bytea as bytes, '2026-11-21 08:00:00.123+05:30'::timestamptz as moment,
             '2026-11-21'::date as day, '{"a": [1, null]}'::jsonb as json, 1.50::numeric as exact,
             true as yes, null::text as nothing, ${Buffer.from([1, 2])}::bytea as bound`.execute(db);
    expect(rows).toEqual([
      {
        small: 7,
        large: 9_007_199_254_740_993n,
        negative: -1,
        bytes: Buffer.from([0, 255, 16]),
        moment: new Date('2026-11-21T02:30:00.123Z'),
        day: '2026-11-21',
        json: { a: [1, null] },
        exact: '1.50',
        yes: true,
        nothing: null,
        bound: Buffer.from([1, 2]),
      },
    ]);
    expect(Buffer.isBuffer((rows[0] as { bytes: unknown }).bytes)).toBe(true);
  });
});

test('it answers a ping, and no longer after it was closed; closing twice is fine', async () => {
  const database = await (await engines.embedded.createLocation()).open();
  await database.ping();
  await database.close();
  await database.close();
  await expect(database.ping()).rejects.toThrow(Error);
});

test('a database that takes no writes does not answer a ping', async () => {
  const database = await (await engines.embedded.createLocation()).open();
  await sql`set default_transaction_read_only = on`.execute(database.db);
  await expect(database.ping()).rejects.toMatchObject({ code: '25006' });
  await database.close();
});

test('a directory has one database, which nobody else reads; one that cannot be made is named', async () => {
  const { dataDir, open } = await engines.embedded.createLocation();
  // An earlier version let others read it.
  await writeFile(join(dataDir, 'lock'), '');
  await chmod(join(dataDir, 'lock'), 0o644);
  const database = await open();
  const log = createMemoryLog();
  const second = openDatabase({ dataDir, log });
  await expect(second).rejects.toThrow(`Another process already uses the data directory ${dataDir}.`);
  for (const [name, mode] of [
    ['lock', 0o600],
    ['database', 0o700],
  ] as const)
    expect((await stat(join(dataDir, name))).mode & 0o777).toBe(mode);
  await database.close();
  await (await open()).close();
  await expect(openDatabase({ dataDir: '/dev/null/data', log })).rejects.toThrow(
    'cannot be written (ENOTDIR)',
  );
});

test('a database that closes serves those first who wait for a connection', async () => {
  const database = await (await engines.embedded.createLocation()).open();
  const held = await database.pool.connect();
  const waiting = database.pool.query('select 1 as one');
  const ending = database.close();
  await nextTurn();
  held.release();
  expect((await waiting).rows).toEqual([{ one: 1 }]);
  await ending;
});

test('what cannot be learnt again is stored a moment later, unless the bot ends', async () => {
  let tries = 0;
  const store = async (): Promise<number> => {
    tries += 1;
    if (tries === 1) throw new Error('deadlock');
    return tries;
  };
  expect(await storeWithRetries(store, new AbortController().signal)).toBe(2);
  tries = 0;
  await expect(storeWithRetries(store, AbortSignal.abort())).rejects.toThrow('deadlock');
});

test('a change of the tables that fails is rolled back whole, and none of it is logged as done', async () => {
  const { dataDir } = await engines.embedded.createLocation({ empty: true });
  const log = createMemoryLog();
  const database = await openDatabase({ dataDir, log });
  await sql`create table operations (id text)`.execute(database.db);
  await expect(database.migrate()).rejects.toMatchObject({ cause: { code: '42P07' } });
  expect(log.entries).toEqual([]);
  const found = await sql`select to_regclass('linked_keys') as made`.execute(database.db);
  expect(found.rows).toEqual([{ made: null }]);
  await sql`drop table operations`.execute(database.db);
  await database.migrate();
  const all = Object.keys(await migrationProvider.getMigrations());
  expect(log.entries.map(({ fields }) => fields)).toEqual(all.map((migration) => ({ migration })));
  await database.close();
});

test('a database of a newer version is refused in words', async () => {
  const database = await (await engines.embedded.createLocation()).open();
  await sql`insert into kysely_migration (name, timestamp) values ('9999-later', '')`.execute(database.db);
  await expect(database.migrate()).rejects.toThrowErrorMatchingInlineSnapshot(
    `[UserError: The database is from a newer version of the bot.]`,
  );
});

test('while one statement runs, the thread that asked goes on', async () => {
  const { db } = await engines.embedded.emptyDatabase();
  let turns = 0;
  const over = new AbortController();
  const others = (async () => {
    while (!over.signal.aborted) {
      await nextTurn();
      turns += 1;
    }
  })();
  await sql`select sum(n) from generate_series(1, 500000) as n`.execute(db);
  over.abort();
  await others;
  expect(turns).toBeGreaterThan(20);
});

test('an answer larger than any buffer comes whole', async () => {
  const { db } = await engines.embedded.emptyDatabase();
  const { rows } = await sql<{ text: string }>`select repeat('ä', 5000000) as text`.execute(db);
  expect(rows[0]?.text).toBe('ä'.repeat(5_000_000));
});

test('a connection that is given up takes its transaction with it', async () => {
  const { db, pool } = await engines.embedded.emptyDatabase();
  const client = await pool.connect();
  await client.query('begin');
  await client.query("insert into deliveries values ('one', now())");
  client.release(true);
  expect(await db.selectFrom('deliveries').selectAll().execute()).toEqual([]);
  await sql`select 1`.execute(db);
});

async function readTimeLimit(db: Kysely<Schema>): Promise<unknown> {
  return (await sql`show statement_timeout`.execute(db)).rows;
}

describe.skipIf(engines.postgres.skip)('PostgreSQL alone', () => {
  test('a first start by several processes at once leaves one set of tables', async () => {
    const there = await engines.postgres.createLocation({ empty: true });
    const databases = await Promise.all(Array.from({ length: 5 }, () => there.open()));
    for (const { db } of databases)
      expect(await db.selectFrom('linked_keys').selectAll().execute()).toEqual([]);
  });

  test('a server that breaks its connections costs neither the process nor the next query', async () => {
    const server = await engines.postgres.server();
    const url = await server.createDatabase();
    const log = createMemoryLog();
    const database = await openDatabase({ databaseUrl: url, dataDir: '', log });
    await Promise.all([database.ping(), database.ping(), database.ping()]);
    const broken = database.db.transaction().execute(async (trx) => {
      await sql`select 1`.execute(trx);
      await server.breakConnections(url);
      // All of this pool were idle: it throws them away and says so.
      await expect.poll(() => database.pool.totalCount).toBe(0);
      // What the server told this one of its end is read by then, too.
      await server.breakConnections(url);
      await sql`select 1`.execute(trx);
    });
    await expect(broken).rejects.toThrow(/terminat|connection error/);
    expect(log.entries).toContainEqual(expect.objectContaining({ level: 'warn' }));
    await database.ping();
    await database.close();
  });

  test('a database that takes no writes, or not every text, is refused at the start', async () => {
    const server = await engines.postgres.server();
    const url = await server.createDatabase();
    const name = new URL(url.reveal()).pathname.slice(1);
    await server.run(`alter database ${name} set default_transaction_read_only = on`);
    await expect(openPostgres(url, createMemoryLog())).rejects.toThrow('takes no writes');
    const latin = new URL(url.reveal());
    latin.pathname = `${name}_latin1`;
    await server.run(`create database ${name}_latin1 encoding 'LATIN1' locale 'C' template template0`);
    const opening = openPostgres(new Secret(latin.href), createMemoryLog());
    await expect(opening).rejects.toThrow('stores text as LATIN1');
    await server.run(`drop database ${name}_latin1 with (force)`);
  });

  test('once a server takes no writes, no connection from before is used again', async () => {
    const server = await engines.postgres.server();
    const { pool, close } = await openPostgres(await server.createDatabase(), createMemoryLog());
    const [first, second] = [await pool.connect(), await pool.connect()];
    second.release();
    await first.query('set default_transaction_read_only = on');
    await expect(first.query('delete from deliveries')).rejects.toMatchObject({ code: '25006' });
    const third = await pool.connect();
    first.release();
    const fourth = await pool.connect();
    expect([first, second].filter((one) => one === third || one === fourth)).toEqual([]);
    for (const held of [third, fourth]) held.release();
    await close();
  });

  test('changing tables is not under the time limit of queries', async () => {
    const server = await engines.postgres.server();
    const database = await openPostgres(await server.createDatabase(), createMemoryLog());
    expect(await readTimeLimit(database.db)).toEqual([{ statement_timeout: '5s' }]);
    expect(await readTimeLimit(database.backgroundDb)).toEqual([{ statement_timeout: '0' }]);
    await database.close();
  });
});

test.each([
  ['postgres://bot:hunter2@127.0.0.1:1/bot', '127.0.0.1:1/bot (connection refused).'],
  ['postgres://bot:hunter2@no-such-host.invalid/bot', 'no-such-host.invalid:5432/bot'],
  ['postgres://bot:hun#ter2@127.0.0.1/bot', 'DATABASE_URL'],
])('%# an address that does not work is refused in words, without its password', async (url, words) => {
  const refused: unknown = await openDatabase({
    databaseUrl: new Secret(url),
    dataDir: '',
    log: createMemoryLog(),
  }).catch((error: unknown) => error);
  expect(refused).toBeInstanceOf(UserError);
  const said = `${String(refused)} ${(refused as UserError).hint}`;
  expect(said).toContain(words);
  expect(said).not.toMatch(/hunter2|hun#/);
});

/** PostgreSQL's message of a refusal. */
function encodeRefusal(code: string, message: string): Buffer {
  const fields = Buffer.from(`SFATAL\0C${code}\0M${message}\0\0`);
  const head = Buffer.from('E\0\0\0\0');
  head.writeInt32BE(fields.length + 4, 1);
  return Buffer.concat([head, fields]);
}

test.each([
  ['28000', 'no pg_hba.conf entry for host "10.0.0.1", user "bot", no encryption'],
  ['08P01', 'SSL required'],
  ['08P01', 'prepared statements not allowed with statement pooling'],
  ['08P01', 'no such database: bot'],
  ['08P01', 'no such user: bot'],
  ['28P01', 'password authentication failed for user "bot"'],
  ['08P01', 'no more connections allowed (max_client_conn)'],
  ['08P01', 'query_wait_timeout'],
  ['57P03', 'the database system is starting up'],
  ['', 'no TLS'],
])('a server or pooler that refuses with %s (%s) is told as what it is', async (code, message) => {
  // To a request for TLS it says no by one letter.
  const answer = code === '' ? Buffer.from('N') : encodeRefusal(code, message);
  const server = createServer((socket) =>
    socket.on('error', () => undefined).once('data', () => socket.end(answer)),
  );
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  const url = `postgres://bot:hunter2@127.0.0.1:${port}/bot${code === '' ? '?sslmode=no-verify' : ''}`;
  const refused: unknown = await openPostgres(new Secret(url), createMemoryLog()).catch(
    (error: unknown) => error,
  );
  server.close();
  expect(refused).toBeInstanceOf(UserError);
  const said = `${String(refused)} ${(refused as UserError).hint}`;
  expect(said.replace(String(port), '[port]')).toMatchSnapshot();
});
