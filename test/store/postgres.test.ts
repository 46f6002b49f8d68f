import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { tenantScope } from '../../src/lib/fair-queue.ts';
import { prepareEngines } from '../support/engines.ts';

const { postgres } = await prepareEngines();

test.skipIf(postgres.skip)('queries of one tenant that wait leave connections to the next', async () => {
  const location = await postgres.createLocation();
  const [holder, database] = await Promise.all([location.open(), location.open()]);
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  const { promise: held, resolve: tellHeld } = Promise.withResolvers<void>();
  const holding = holder.db.transaction().execute(async (trx) => {
    await sql`select pg_advisory_xact_lock(1)`.execute(trx);
    tellHeld();
    await released;
  });
  await held;
  let ended = 0;
  const wait = async (): Promise<void> => {
    await sql`select pg_advisory_lock_shared(1), pg_advisory_unlock_shared(1)`.execute(database.db);
    ended += 1;
  };
  const slow = tenantScope.run('T0BUSY000', () => Promise.allSettled(Array.from({ length: 40 }, wait)));
  for (let nth = 0; nth < 10; nth += 1) await tenantScope.run('T0QUIET00', () => database.ping());
  await database.ping();
  expect(ended).toBe(0);
  release();
  await Promise.all([holding, slow]);
  expect(ended).toBe(40);
});
