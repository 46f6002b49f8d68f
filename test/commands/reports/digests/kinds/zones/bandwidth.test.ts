import { expect, test } from 'vitest';
import { findLimits } from '../../../../../../src/commands/reports/digests/kinds/zones/bandwidth.ts';

const zone = (id: string, bandwidthUsed: number) => ({
  id,
  name: `zone ${id}`,
  hostnames: [],
  hostnamesWithoutCertificate: [],
  bandwidthUsed,
  bandwidthLimit: 100,
});

test('what is new comes first, then the soonest; reaching it is new once more', () => {
  const now = new Date('2026-11-11T00:00:00Z');
  const zones = [zone('1', 40), zone('2', 60), zone('3', 100), zone('4', 20)];
  const first = findLimits(zones, now, () => 'nothing');
  expect(first.map(({ id, isNew }) => [id, isNew])).toEqual([
    ['3', true],
    ['2', true],
    ['1', true],
  ]);
  const later = findLimits([zone('1', 41), zone('2', 100), zone('3', 100), zone('4', 50)], now, (id) =>
    id === '3' ? 'reached' : id === '4' ? 'nothing' : 'foretold',
  );
  expect(later.map(({ id, isNew }) => [id, isNew])).toEqual([
    ['2', true],
    ['4', true],
    ['3', false],
    ['1', false],
  ]);
});
