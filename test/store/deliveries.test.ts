import { describe, expect, test } from 'vitest';
import { createClaims } from '../../src/store/deliveries.ts';
import { prepareEngines } from '../support/engines.ts';

const engines = await prepareEngines();
const at = new Date('2026-11-21T08:00:00.000Z');
const hours = (count: number): Date => new Date(at.getTime() + count * 3_600_000);

describe.each(engines.both)('on $name', ({ skip, createLocation }) => {
  describe.skipIf(skip)('deliveries', () => {
    test('a delivery is taken once, also after a restart', async () => {
      const there = await createLocation();
      const first = await there.open();
      expect(await createClaims(first.db, () => at)('Ev1')).toBe(true);
      expect(await createClaims(first.db, () => hours(1))('Ev1')).toBe(false);
      expect(await createClaims(first.db, () => at)('Ev2')).toBe(true);
      await first.close();
      const second = await there.open();
      expect(await createClaims(second.db, () => hours(2))('Ev1')).toBe(false);
    });

    test('of many that take the same delivery at once one gets it', async () => {
      const there = await createLocation();
      const first = await there.open();
      const second = first.engine === 'postgres' ? await there.open() : first;
      const claims = Array.from({ length: 20 }, (_, index) =>
        createClaims((index % 2 === 0 ? first : second).db, () => at)('Ev1'),
      );
      expect((await Promise.all(claims)).filter(Boolean)).toHaveLength(1);
    });
  });
});
