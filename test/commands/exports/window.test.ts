import fc from 'fast-check';
import { expect, test } from 'vitest';
import { checkEventLogWindow } from '../../../src/api/event-logs.ts';
import { chooseWindow, defaultWindow, endsInTime } from '../../../src/commands/exports/feature.ts';

const now = new Date('2026-11-21T12:00:30Z');
test('a window that ends within the 72 hours is taken wherever it begins, at any second of a minute', () => {
  fc.assert(
    fc.property(fc.nat({ max: 59_999 }), fc.integer({ min: 1, max: 90 }), (ms, hours) => {
      const at = new Date(Date.UTC(2026, 10, 21, 12) + ms);
      const ended = new Date(at.getTime() - hours * 3_600_000);
      const window = { from: new Date(0), to: ended };
      expect(endsInTime(window, at)).toBe(hours < 72);
      const isTaken = hours >= 72 || checkEventLogWindow(window, at.getTime()) === undefined;
      expect(isTaken).toBe(true);
    }),
  );
  expect(defaultWindow(now).to.getTime() - defaultWindow(now).from.getTime()).toBe(24 * 3_600_000);
});

test.each(['1h', '6h', '24h', '72h'])('the CDN takes the last %s, as far as it has them', (hours) => {
  const window = chooseWindow(hours, now);
  expect(() => checkEventLogWindow(window, now.getTime())).not.toThrow();
  expect(now.getTime() - window.from.getTime()).toBeLessThan(72 * 3_600_000);
});
