import fc from 'fast-check';
import { expect, test } from 'vitest';
import { chooseWindow, endsInTime } from '../../../src/commands/exports/feature.ts';

test('a window that ends within the 72 hours is taken wherever it begins, at any second of a minute', () => {
  fc.assert(
    fc.property(fc.nat({ max: 59_999 }), fc.integer({ min: 1, max: 90 }), (ms, hours) => {
      const at = new Date(Date.UTC(2026, 10, 21, 12) + ms);
      const ended = new Date(at.getTime() - hours * 3_600_000);
      expect(endsInTime({ from: new Date(0), to: ended }, at)).toBe(hours < 72);
    }),
  );
});

test.each([1, 6, 24, 72])('the last %i hours begin where the CDN still has them', (hours) => {
  const now = new Date('2026-11-21T12:00:30Z');
  const { from } = chooseWindow(`${hours}h`, now);
  const ago = (now.getTime() - from.getTime()) / 3_600_000;
  expect(ago).toBeLessThan(72);
  expect(Math.round(ago)).toBe(hours);
});
