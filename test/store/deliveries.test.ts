import { describe, expect, test } from 'vitest';
import { claimDelivery, purgeDeliveries } from '../../src/store/deliveries.ts';
import { enginesUnderTest } from './engines.ts';

const engines = await enginesUnderTest();
const at = new Date('2026-11-21T08:00:00.000Z');
const hours = (count: number): Date => new Date(at.getTime() + count * 3_600_000);

describe.each(engines.both)('on $name', ({ skip, place, empty }) => {
  describe.skipIf(skip)('deliveries', () => {
    test('a delivery is taken once, also after a restart', async () => {
      const there = await place();
      const first = await there.open();
      expect(await claimDelivery(first.db, 'Ev1', at)).toBe(true);
      expect(await claimDelivery(first.db, 'Ev1', hours(1))).toBe(false);
      expect(await claimDelivery(first.db, 'Ev2', at)).toBe(true);
      await first.close();
      const second = await there.open();
      expect(await claimDelivery(second.db, 'Ev1', hours(2))).toBe(false);
    });

    test('of many that take the same delivery at once one gets it', async () => {
      const there = await place();
      const first = await there.open();
      const second = first.engine === 'postgres' ? await there.open() : first;
      const claims = Array.from({ length: 20 }, (_, index) =>
        claimDelivery((index % 2 === 0 ? first : second).db, 'Ev1', at),
      );
      expect((await Promise.all(claims)).filter(Boolean)).toHaveLength(1);
    });

    test('old deliveries are forgotten, recent ones are not', async () => {
      const { db } = await empty();
      await claimDelivery(db, 'old', hours(-25));
      await claimDelivery(db, 'recent', hours(-23));
      expect(await purgeDeliveries(db, hours(-24))).toBe(1);
      expect(await claimDelivery(db, 'recent', at)).toBe(false);
      expect(await claimDelivery(db, 'old', at)).toBe(true);
    });
  });
});
