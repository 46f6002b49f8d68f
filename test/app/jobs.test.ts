import { describe, expect, test } from 'vitest';
import { deleteOldRows } from '../../src/app/jobs.ts';
import { createClaims } from '../../src/auth/claims.ts';
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
});
