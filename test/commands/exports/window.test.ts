import { expect, test } from 'vitest';
import { chooseWindow } from '../../../src/commands/exports/feature.ts';

test.each([1, 6, 24, 72])('the last %i hours begin where the CDN still has them', (hours) => {
  const now = new Date('2026-11-21T12:00:30Z');
  const { from } = chooseWindow(`${hours}h`, now);
  const ago = (now.getTime() - from.getTime()) / 3_600_000;
  expect(ago).toBeLessThan(72);
  expect(Math.round(ago)).toBe(hours);
});
