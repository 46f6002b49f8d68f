import { expect, test } from 'vitest';
import { chooseZones, mostLogs } from '../../../src/commands/origin-errors/choose-zones.ts';

const zones = Array.from({ length: 60 }, (_, nth) => ({ id: String(nth), bandwidthUsed: nth }));
const ids = (...chosen: string[]) => new Set(chosen);

test('of many zones those of channels come first, then failing ones, opened ones and the busiest', () => {
  const chosen = chooseZones(zones, { channels: ids('3'), failing: ids('1', '3'), asked: ids('2', '1') });
  expect(chosen).toHaveLength(mostLogs);
  expect(chosen.slice(0, 5).map(({ id }) => id)).toEqual(['3', '1', '2', '59', '58']);
});

test('what needs attention comes before all, the worst first, and is not all', () => {
  const wrong = zones
    .slice(0, 20)
    .map((zone) => ({ ...zone, hostnames: [], hostnamesWithoutCertificate: ['a'] }));
  const disabled = { ...zones[20], id: '20', hostnames: [], hostnamesWithoutCertificate: [], enabled: false };
  const asked = ids(...zones.slice(25, 60).map(({ id }) => id));
  const all = [...wrong, disabled, ...zones.slice(21)];
  const chosen = chooseZones(all, { channels: ids('23'), failing: ids('24'), asked }).map(({ id }) => id);
  expect(chosen.toSorted().slice(0, 8)).toContain('20');
  expect(chosen.slice(8, 12)).toEqual(['23', '24', '59', '58']);
});

test('few zones are all read', () => {
  expect(chooseZones(zones.slice(0, 3), { channels: ids('2') })).toEqual(zones.slice(0, 3));
});
