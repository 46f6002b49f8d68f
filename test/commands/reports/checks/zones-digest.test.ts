import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import type { ZoneSummary } from '../../../../src/api/zones/summary.ts';
import type { AccountReads } from '../../../../src/commands/reports/accounts/reads.ts';
import { flattenName } from '../../../../src/commands/reports/checks/check.ts';
import { zonesDigest } from '../../../../src/commands/reports/checks/zones-digest.ts';

const now = new Date('2026-11-11T00:00:00Z');
type Baseline = Parameters<NonNullable<typeof zonesDigest.keepUnreported>>[0];

function collect(zones: readonly ZoneSummary[], baseline?: Baseline) {
  const account = { pullZones: { all: async () => ({ zones, skipped: 0 }) } } as unknown as AccountReads;
  const targets = { zones: [], shieldZones: [], apps: [] };
  return zonesDigest.collect({
    account,
    now,
    targets,
    past: [],
    baseline,
  });
}

const zone = (id: string, bandwidthUsed: number): ZoneSummary => ({
  id,
  name: `zone ${id}`,
  hostnames: [],
  hostnamesWithoutCertificate: [],
  bandwidthUsed,
  bandwidthLimit: 100,
});

test('limits: what is new comes first, then the soonest; reaching it is new once more', async () => {
  const listNew = ({ figures }: Awaited<ReturnType<typeof collect>>) =>
    figures?.limits.map(({ id, isNew }) => [id, isNew]);
  const first = await collect([zone('1', 40), zone('2', 60), zone('3', 100), zone('4', 20)]);
  expect(listNew(first)).toEqual([
    ['3', true],
    ['2', true],
    ['1', true],
  ]);
  const later = [zone('1', 41), zone('2', 100), zone('3', 100), zone('4', 50)];
  expect(listNew(await collect(later, first.baseline))).toEqual([
    ['2', true],
    ['4', true],
    ['3', false],
    ['1', false],
  ]);
});

test('twenty thousand zones are remembered, and what changed of them is found', async () => {
  const zones = Array.from({ length: 20_000 }, (_, nth) => ({
    ...zone(String(1_000_000 + nth * 3), nth === 7 ? 100 : 40),
    name: nth === 7 ? 'a\n"b\\' : `zone ${nth}`,
    enabled: nth % 2 === 0,
    suspended: nth === 7,
    hostnamesWithoutCertificate: nth === 7 ? ['www.shop.example'] : [],
  }));
  const { baseline } = await collect(zones);
  const stored = JSON.parse(JSON.stringify(baseline)) as Baseline;
  const same = await collect(zones, stored);
  expect(same.figures?.news).toMatchObject({ joined: { count: 0 }, left: { count: 0 } });
  expect(same.figures?.limits.every(({ isNew }) => !isNew)).toBe(true);
  const news = (
    await collect(
      zones.filter((_, nth) => nth !== 7).map((one) => ({ ...one, enabled: true })),
      stored,
    )
  ).figures?.news;
  expect(news?.left).toEqual({ count: 1, first: [{ id: '1000021', name: 'a b' }] });
  expect(news?.recovered.disabled.count).toBe(9_999);
  expect(news?.recovered.suspended.count).toBe(0);
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
