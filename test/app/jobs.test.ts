import { describe, expect, test } from 'vitest';
import { deleteOldRows } from '../../src/app/jobs.ts';
import { createKeyLinks } from '../../src/auth/keys/links.ts';
import { createSealer } from '../../src/auth/keys/sealing.ts';
import { createClaims } from '../../src/store/deliveries.ts';
import { createKeyring } from '../auth/keyring/keyrings.ts';
import { prepareEngines } from '../support/engines.ts';

const engines = await prepareEngines();
const at = new Date('2026-11-21T08:00:00.000Z');
const hoursAgo = (hours: number) => (): Date => new Date(at.getTime() - hours * 3_600_000);

describe.each(engines.both)('housekeeping on $name', ({ skip, emptyDatabase }) => {
  test.skipIf(skip)('forgets deliveries after a day, and running twice does no harm', async () => {
    const { db } = await emptyDatabase();
    await createClaims(db, hoursAgo(25))('old');
    await createClaims(db, hoursAgo(23))('recent');
    await deleteOldRows(db, at);
    await deleteOldRows(db, at);
    expect(await createClaims(db, () => at)('recent')).toBe(false);
    expect(await createClaims(db, () => at)('old')).toBe(true);
  });

  test.skipIf(skip)('forgets links to the page for keys a day after they expired', async () => {
    const { db } = await emptyDatabase();
    const person = { teamId: 'T0ACME000', userId: 'U0ALICE00' };
    const sealer = createSealer(await createKeyring());
    await createKeyLinks({ db, sealer, now: hoursAgo(25) }).offer(person, 'old');
    await createKeyLinks({ db, sealer, now: hoursAgo(24) }).offer(person, 'recent');
    await deleteOldRows(db, at);
    expect(await db.selectFrom('key_links').select('shown_for').execute()).toEqual([{ shown_for: 'recent' }]);
  });
});
