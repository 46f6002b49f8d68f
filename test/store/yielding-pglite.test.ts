import { setImmediate as nextTurn } from 'node:timers/promises';
import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { openEmbedded } from '../../src/store/embedded.ts';
import { createLogger } from '../../src/telemetry/log.ts';
import { copyEmbeddedDatabase } from '../support/database-templates.ts';
import { createTempDirectory } from '../support/temp-directory.ts';

test('whoever asks one thing after the other lets others in, within a transaction too', async () => {
  const dataDir = await createTempDirectory();
  await copyEmbeddedDatabase(dataDir);
  const database = await openEmbedded(dataDir, createLogger('silent'));
  const { db } = database;
  let turns = 0;
  const over = new AbortController();
  const others = (async () => {
    while (!over.signal.aborted) {
      await nextTurn();
      turns += 1;
    }
  })();
  const slow = sql`select sum(n) from generate_series(1, 20000) as n`;
  for (let times = 0; times < 20; times += 1) await slow.execute(db);
  const without = turns;
  await db.transaction().execute(async (trx) => {
    for (let times = 0; times < 20; times += 1) await slow.execute(trx);
  });
  over.abort();
  await others;
  await database.close();
  expect(without).toBeGreaterThan(1);
  expect(turns - without).toBeGreaterThan(2);
});
