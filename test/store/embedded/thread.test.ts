import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { sql } from 'kysely';
import { afterAll, expect, test } from 'vitest';
import { openDatabase } from '../../../src/store/database.ts';
import { copyEmbeddedDatabase } from '../../support/database-templates.ts';
import { createMemoryLog } from '../../support/engines.ts';

const dataDir = await mkdtemp(join(tmpdir(), 'chatops-thread-'));
await copyEmbeddedDatabase(dataDir);
const database = await openDatabase({ dataDir, log: createMemoryLog() });
afterAll(async () => {
  await database.close();
  await rm(dataDir, { recursive: true });
});

test('while one statement runs, the thread that asked goes on', async () => {
  const { db } = database;
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
  const { db } = database;
  const { rows } = await sql<{ text: string }>`select repeat('ä', 5000000) as text`.execute(db);
  expect(rows[0]?.text).toBe('ä'.repeat(5_000_000));
});

test('a connection that is given up takes its transaction with it', async () => {
  const { db, pool } = database;
  const client = await pool.connect();
  await client.query('begin');
  await client.query("insert into deliveries values ('one', now())");
  client.release(true);
  expect(await db.selectFrom('deliveries').selectAll().execute()).toEqual([]);
  await sql`select 1`.execute(db);
});
