import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  createZoneBaseline,
  hasFlag,
  readFlags,
  readZoneBaseline,
} from '../../../../../../src/commands/reports/digests/kinds/zones/baseline.ts';
import { flattenName } from '../../../../../../src/commands/reports/digests/names.ts';

test('fifty thousand zones are remembered with their names in a few bytes each', async () => {
  const now = new Date('2026-11-11T00:00:00Z');
  const zones = Array.from({ length: 50_000 }, (_, index) => ({
    id: String(1_000_000 + index * 3),
    name: index === 7 ? 'a\n"b\\' : `zone ${index}`,
    enabled: index % 2 === 0,
    suspended: index === 7,
    hostnames: [],
    hostnamesWithoutCertificate: index === 7 ? ['www.shop.example'] : [],
    bandwidthUsed: index === 7 ? 100 : 40,
    bandwidthLimit: 100,
  }));
  const marks = await readFlags(zones, now);
  const book = await createZoneBaseline(zones, marks, {
    scope: '',
    at: now.toISOString(),
    since: now.toISOString(),
  });
  expect(JSON.stringify(book).length).toBeLessThan(50_000 * 24);
  const open = await readZoneBaseline(JSON.parse(JSON.stringify(book)) as typeof book);
  expect([...open.keys()]).toEqual(zones.map(({ id }) => id));
  expect(open.get('1000021')?.name).toBe('a b');
  expect(open.has('1000022')).toBe(false);
  const flags = [...open.values()].map((zone) => zone.flags);
  expect(flags).toEqual([...marks]);
  expect(hasFlag(flags[6] ?? 0, 'limit-foretold') && !hasFlag(flags[6] ?? 0, 'disabled')).toBe(true);
  for (const mark of ['suspended', 'disabled', 'near-limit', 'no-certificate', 'limit-reached'] as const)
    expect(hasFlag(flags[7] ?? 0, mark)).toBe(true);
});

test('a name is kept in bounds, whatever is in it', () => {
  expect(flattenName('a\u0000\n\u202E"b\\')).toBe('a b');
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 200 }), (name) => {
      expect(JSON.stringify(flattenName(name)).length).toBeLessThanOrEqual(62);
      expect(flattenName(name).isWellFormed()).toBe(true);
    }),
  );
});
