import { setImmediate as nextTurn } from 'node:timers/promises';
import { sql } from 'kysely';
import { expect, onTestFinished, test } from 'vitest';
import { openDatabase } from '../../../src/store/database.ts';
import { copyEmbeddedDatabase } from '../../support/database-templates.ts';
import { createMemoryLog } from '../../support/engines.ts';
import { createTempDirectory } from '../../support/temp-directory.ts';

async function open() {
  const dataDir = await createTempDirectory();
  await copyEmbeddedDatabase(dataDir);
  const database = await openDatabase({ dataDir, log: createMemoryLog() });
  onTestFinished(() => database.close());
  return database;
}

test('while one statement runs, the thread that asked goes on', async () => {
  const { db } = await open();
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

test('what is asked together is answered one after the other, each with its own answer', async () => {
  const { db } = await open();
  const numbers = Array.from({ length: 40 }, (_, nth) => nth);
  const answers = await Promise.all(
    numbers.map(async (nth) => {
      const { rows } = await sql<{ n: number }>`select ${nth}::int as n`.execute(db);
      return rows[0]?.n;
    }),
  );
  expect(answers).toEqual(numbers);
});

test('an error has its code, and the next statement is answered', async () => {
  const { db } = await open();
  const twice = () => sql`insert into deliveries values (${'one'}, now())`.execute(db);
  await twice();
  await expect(twice()).rejects.toMatchObject({ code: '23505', constraint: 'deliveries_pkey' });
  await expect(sql`select 1 / 0`.execute(db)).rejects.toMatchObject({ code: '22012' });
  await db.deleteFrom('deliveries').execute();
});

test('an answer larger than any buffer comes whole', async () => {
  const { db } = await open();
  const { rows } = await sql<{ text: string }>`select repeat('ä', 5000000) as text`.execute(db);
  expect(rows[0]?.text).toBe('ä'.repeat(5_000_000));
});

test('a connection that is given up takes its transaction with it', async () => {
  const { db, pool } = await open();
  const client = await pool.connect();
  await client.query('begin');
  await client.query("insert into deliveries values ('one', now())");
  client.release(true);
  expect(await db.selectFrom('deliveries').selectAll().execute()).toEqual([]);
  await sql`select 1`.execute(db);
});

test('closing waits for what was asked', async () => {
  const database = await open();
  await database.ping();
  const asked = [1, 2, 3].map((n) => sql`select ${n}::int as n`.execute(database.db));
  // Until they have reached the driver.
  await nextTurn();
  await database.close();
  expect((await Promise.all(asked)).map(({ rows }) => rows)).toEqual([[{ n: 1 }], [{ n: 2 }], [{ n: 3 }]]);
});
