import { expect, test } from 'vitest';
import { housekeeping } from '../../../src/app/jobs/housekeeping.ts';
import { createKeyLinks } from '../../../src/auth/keys/links.ts';
import { createClaims } from '../../../src/store/deliveries.ts';
import { noPorts } from '../../store/queue/no-ports.ts';
import { createMemoryLog, prepareEngines } from '../../support/engines.ts';

const { embedded } = await prepareEngines();
const at = new Date('2026-11-21T08:00:00.000Z');

test('housekeeping forgets deliveries after a day, and running twice does no harm', async () => {
  const { db } = await embedded.emptyDatabase();
  await createClaims(db, () => new Date(at.getTime() - 25 * 3_600_000))('old');
  await createClaims(db, () => new Date(at.getTime() - 3_600_000))('recent');
  const context = {
    db,
    log: createMemoryLog(),
    ports: noPorts,
    now: () => at,
    signal: AbortSignal.timeout(10_000),
    attempt: 1,
    lastAttempt: false,
  };
  await housekeeping.run({}, context);
  await housekeeping.run({}, context);
  expect(await db.selectFrom('deliveries').select('id').execute()).toEqual([{ id: 'recent' }]);
});

test('housekeeping forgets links to the page for keys a day after they expired', async () => {
  const { db } = await embedded.emptyDatabase();
  const madeAt = (hours: number) =>
    createKeyLinks({ db, now: () => new Date(at.getTime() - hours * 3_600_000) });
  const person = { teamId: 'T0ACME000', userId: 'U0ALICE00' };
  await madeAt(25).offer(person, 'old');
  await madeAt(24).offer(person, 'recent');
  await housekeeping.run(
    {},
    {
      db,
      log: createMemoryLog(),
      ports: noPorts,
      now: () => at,
      signal: AbortSignal.timeout(10_000),
      attempt: 1,
      lastAttempt: false,
    },
  );
  expect(await db.selectFrom('key_links').select('shown_for').execute()).toEqual([{ shown_for: 'recent' }]);
});
