import { expect, test } from 'vitest';
import type { PullZone } from '../../../../simulator/cdn/zone-fields.ts';
import { findDigestKind } from '../../../../src/commands/reports/checks/list.ts';
import { createDigestScenario, GB, logOriginErrors, makeZone } from '../../../support/digests/scenario.ts';

test('upload scanning by the CDN’s own days', async () => {
  const overview = Object.fromEntries(
    Array.from({ length: 28 }, (_, index) => {
      const [year, month, date] = new Date(Date.UTC(2026, 10, 10) - index * 86_400_000)
        .toISOString()
        .slice(0, 10)
        .split('-');
      const blockedRequests = index === 1 ? 40 : 2;
      return [`${date}-${month}-${year}`, { filesScanned: 1000, loggedRequests: 50, blockedRequests }];
    }),
  );
  const scans = await createDigestScenario(
    {
      kinds: ['scanning'].map(findDigestKind),
      targets: { zones: [], shieldZones: ['501', '502'], apps: [] },
    },
    {
      shieldZones: [
        { id: 501, plan: 'advanced', overview },
        { id: 502, plan: 'basic' },
      ],
    },
  );
  const told = await scans.run('2026-11-10T09:00:00Z');
  expect(told.top).toMatchSnapshot('told, top');
  expect(told.thread).toMatchSnapshot('told, thread');
  expect(told.charts).toMatchSnapshot('told, charts');
});

test('a day that does not say how many uploads were blocked is not counted as none', async () => {
  const day = { filesScanned: 100, loggedRequests: 0 };
  const scans = await createDigestScenario(
    { kinds: ['scanning'].map(findDigestKind), targets: { zones: [], shieldZones: ['501'], apps: [] } },
    {
      shieldZones: [
        { id: 501, plan: 'advanced', overview: { '09-11-2026': { ...day, blockedRequests: 4 } } },
      ],
    },
  );
  await scans.run('2026-11-10T09:00:00Z');
  const [zone] = scans.data.shieldZones;
  if (zone) zone.overview = { ...zone.overview, '11-11-2026': { ...day, blockedRequests: 7 } };
  expect((await scans.run('2026-11-12T09:00:00Z')).top[0]).toBe(
    ':zzz: No notable change since Tue 10 Nov 09:00: *At least 7 uploads blocked* · 100 files scanned in 2 days to 11 Nov (7 %)',
  );
});

test('apps: status, latency and cost against the previous run', async () => {
  const app = {
    id: 'app0api00000001',
    averageLatency: 40,
    currentLatency: 41,
    totalVolumeSizeInGb: 30,
    monthlyCost: 3.57,
    status: 'active',
    latencyChart: {},
    volumes: {},
  };
  const idle = { ...app, id: 'app0idle0000003', status: 'active' };
  const apps = await createDigestScenario(
    { kinds: ['apps'].map(findDigestKind), targets: { zones: [], shieldZones: [], apps: [app.id, idle.id] } },
    { apps: [app, idle] },
  );
  const first = await apps.run('2026-11-03T09:00:00Z');
  expect(first.top).toMatchSnapshot('first, top');
  apps.data.apps[0] = {
    ...app,
    averageLatency: 90,
    currentLatency: 123.456,
    monthlyCost: 9,
    status: 'failing',
  };
  const second = await apps.run('2026-11-04T09:00:00Z');
  expect(second.top).toMatchSnapshot('second, top');
  expect(second.thread).toMatchSnapshot('second, thread');
});

test('several kinds in one digest: a number each, then what changed, in six lines', async () => {
  const all = await createDigestScenario(
    {
      kinds: ['zones', 'errors', 'scanning', 'apps'].map(findDigestKind),
      targets: { zones: ['1001', '1002'], shieldZones: ['503'], apps: [] },
    },
    {
      zones: [makeZone(1001, 'shop', { MagicContainersAppId: 'app0worker00002' }), makeZone(1002, 'docs')],
      originErrors: { entries: new Map(), count: 2 },
    },
  );
  expect((await all.run('2026-11-03T09:00:00Z')).top).toMatchSnapshot('top');
  const same = await all.run('2026-11-04T09:00:00Z');
  expect(same.top).toMatchSnapshot('same, top');
  all.data.zones = all.data.zones.map((one) => ({ ...one, Enabled: false, Suspended: true }));
  const told = await all.run('2026-11-05T09:00:00Z');
  expect(told.top).toMatchSnapshot('told, top');
});

test('the first change of each kind stands in the channel, however many another one has', async () => {
  const all = await createDigestScenario(
    {
      kinds: ['zones', 'errors', 'apps'].map(findDigestKind),
      targets: { zones: [], shieldZones: [], apps: ['app0worker00002'] },
    },
    {
      zones: [makeZone(1001, 'shop'), makeZone(1002, 'docs')],
      originErrors: { entries: new Map(), count: 0 },
    },
  );
  await all.run('2026-11-03T09:00:00Z');
  all.data.zones = [makeZone(1001, 'shop', { Enabled: false, Suspended: true }), makeZone(1003, 'blog')];
  const [app] = all.data.apps.filter(({ id }) => id === 'app0worker00002');
  if (app) app.monthlyCost = 90;
  logOriginErrors(all.data, '1001/2026-11-03', ['http_timeout', 40, 12]);
  const { top } = await all.run('2026-11-04T09:00:00Z');
  expect(top).toMatchSnapshot();
});

test('a list without any zone, which the CDN gave twice, tells which are gone', async () => {
  const digest = await createDigestScenario({}, { zones: [makeZone(1001, 'shop')] });
  await digest.run('2026-11-03T09:00:00Z');
  digest.data.zones = [];
  const { top } = await digest.run('2026-11-04T09:00:00Z');
  expect(top).toEqual(['*No zones*', ':heavy_minus_sign: Gone: shop']);
});

test('what the CDN does not report is no zero, no “fine” and no “no limit”', async () => {
  const unreported = { Enabled: null, MonthlyBandwidthLimit: null, MonthlyCharges: null };
  const digest = await createDigestScenario(
    {},
    {
      zones: [
        makeZone(1001, 'shop', {
          ...unreported,
          MonthlyBandwidthUsed: 4 * GB,
        } as unknown as Partial<PullZone>),
        makeZone(1002, 'docs', { MonthlyBandwidthUsed: 2 * GB, MonthlyCharges: 3 }),
        makeZone(1003, 'blog', { MonthlyBandwidthUsed: null } as unknown as Partial<PullZone>),
      ],
    },
  );
  const told = await digest.run('2026-11-03T09:00:00Z');
  expect([...told.top, ...told.thread]).toMatchSnapshot();
});

function nineErrors() {
  return {
    zones: [makeZone(1001, 'shop', { Enabled: false })],
    originErrors: {
      entries: new Map(),
      count: (_zone: unknown, day: string) => (day === '2026-11-03' ? 9 : 0),
    },
  };
}

test('above a number: of zones that need attention, errors, blocked uploads and failing apps together', async () => {
  const errors = {
    kinds: ['zones', 'errors'].map(findDigestKind),
    targets: { zones: ['1001'], shieldZones: [], apps: [] },
  } as const;
  const ten = await createDigestScenario({ ...errors, only: { above: 10 } }, nineErrors());
  expect((await ten.run('2026-11-03T09:00:00Z')).quiet).toBe(true);
  const nine = await createDigestScenario({ ...errors, only: { above: 9 } }, nineErrors());
  expect((await nine.run('2026-11-03T09:00:00Z')).quiet).toBe(false);
  // New or not.
  const still = await createDigestScenario({ ...errors, only: { above: 0 } }, nineErrors());
  const told = await still.runDaily('2026-11-04', [() => undefined, () => undefined]);
  expect(told.quiet).toBe(false);
  expect(told.top).toMatchSnapshot();
  expect(told.thread).toHaveLength(2);
});
