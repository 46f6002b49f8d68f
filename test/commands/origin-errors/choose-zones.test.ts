import { expect, test } from 'vitest';
import { chooseZones, mostLogs } from '../../../src/commands/origin-errors/choose-zones.ts';

const zones = Array.from({ length: 60 }, (_, nth) => ({ id: String(nth), bandwidthUsed: nth }));
const ids = (...chosen: string[]) => new Set(chosen);

test('of many zones those of channels come first, then failing ones, opened ones and the busiest', () => {
  const chosen = chooseZones(zones, { channels: ids('3'), failing: ids('1', '3'), asked: ids('2', '1') });
  expect(chosen).toHaveLength(mostLogs);
  expect(chosen.slice(0, 5).map(({ id }) => id)).toEqual(['3', '1', '2', '59', '58']);
});

test('few zones are all read', () => {
  expect(chooseZones(zones.slice(0, 3), { channels: ids('2') })).toEqual(zones.slice(0, 3));
});
