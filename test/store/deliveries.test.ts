import { describe, expect, test } from 'vitest';
import { deleteOldRows } from '../../src/app/jobs.ts';
import { claimOnce, releaseClaim } from '../../src/store/database.ts';
import { prepareEngines } from '../support/engines.ts';

const engines = await prepareEngines();
const at = new Date('2026-11-21T08:00:00.000Z');

describe.each(engines.both)('on $name', ({ skip, createLocation, emptyDatabase }) => {
  describe.skipIf(skip)('deliveries', () => {
    test('of many that take the same delivery at once one gets it', async () => {
      const there = await createLocation();
      const first = await there.open();
      const second = first.engine === 'postgres' ? await there.open() : first;
      const claims = Array.from({ length: 20 }, (_, index) =>
        claimOnce((index % 2 === 0 ? first : second).db, 'Ev1', at),
      );
      expect((await Promise.all(claims)).filter(Boolean)).toHaveLength(1);
    });

    test('are forgotten after a day', async () => {
      const { db } = await emptyDatabase();
      const claimBefore = (hours: number, id: string) =>
        claimOnce(db, id, new Date(at.getTime() - hours * 3_600_000));
      await claimBefore(25, 'old');
      await claimBefore(23, 'recent');
      await deleteOldRows(db, at);
      expect([await claimBefore(0, 'recent'), await claimBefore(0, 'old')]).toEqual([false, true]);
      await releaseClaim(db, 'old');
      expect([await claimBefore(0, 'recent'), await claimBefore(0, 'old')]).toEqual([false, true]);
    });
  });
});
