import { expect, test } from 'vitest';
import { createDigestScenario, makeZone } from '../../../../support/digests/scenario.ts';

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
    { kinds: ['scanning'], targets: { zones: [], shieldZones: ['501', '502'], apps: [] } },
    {
      shieldZones: [
        { id: 501, plan: 'advanced', overview },
        { id: 502, plan: 'basic' },
      ],
    },
  );
  const told = await scans.run('2026-11-10T09:00:00Z');
  expect(told.top).toMatchInlineSnapshot(`
    [
      "*40 uploads blocked* · 1,000 files scanned on 9 Nov (4 %)",
      ":no_entry: Shield zone 501: 40 blocked a day, 20 × as much as the same weekday and the day before, *unusual:* mostly 2",
      ":grey_question: Not read: upload scanning of shield zone 502 (reference REF23456), more in the thread",
    ]
  `);
  expect(told.thread).toMatchInlineSnapshot(`
    [
      "*Upload scanning*
    *40* blocked of 1,000 files scanned, 9 Nov · shield zone 501 (20 × as much as the same weekday and the day before, *unusual:* mostly 2)
    _By the CDN’s own days; today is not over and not counted._",
      "*What could not be read*
    • upload scanning of shield zone 502: The CDN said refused. Reference REF23456",
    ]
  `);
  expect(told.charts).toMatchInlineSnapshot(`
    [
      "Blocked uploads: 40 on the worst day (bar, Blocked uploads a day): Shield zone 501 27 Oct 2, 28 Oct 2, 29 Oct 2, 30 Oct 2, 31 Oct 2, 1 Nov 2, 2 Nov 2, 3 Nov 2, 4 Nov 2, 5 Nov 2, 6 Nov 2, 7 Nov 2, 8 Nov 2, 9 Nov 40",
    ]
  `);
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
    { kinds: ['apps'], targets: { zones: [], shieldZones: [], apps: [app.id, idle.id] } },
    { apps: [app, idle] },
  );
  const first = await apps.run('2026-11-03T09:00:00Z');
  expect(first.top).toMatchInlineSnapshot(`
    [
      "*2 apps* · $7.14 a month",
    ]
  `);
  apps.data.apps[0] = {
    ...app,
    averageLatency: 90,
    currentLatency: 123.456,
    monthlyCost: 9,
    status: 'failing',
  };
  const second = await apps.run('2026-11-04T09:00:00Z');
  expect(second.top).toMatchInlineSnapshot(`
    [
      "*2 apps* · $12.57 a month (+$5.43) · :red_circle: 1 failing",
      ":red_circle: App \`app0api00000001\` is failing, was active",
      ":snail: App \`app0api00000001\`: average latency 90, +125 % on the previous run",
      ":moneybag: App \`app0api00000001\`: $9.00 a month, +152 % on the previous run",
    ]
  `);
  expect(second.thread).toMatchInlineSnapshot(`
    [
      "*App usage*
    :red_circle: App \`app0api00000001\` is failing, was active
    :snail: App \`app0api00000001\`: average latency 90, +125 % on the previous run
    :moneybag: App \`app0api00000001\`: $9.00 a month, +152 % on the previous run
    *app0api00000001* · 123.46 · 90 · $9.00 · failing · 30 GB
    *app0idle0000003* · 41 · 40 · $3.57 · active · 30 GB
    _Latency as the CDN reports it: it names no unit._",
    ]
  `);
});

test('several kinds in one digest: a number each, then what changed, in six lines', async () => {
  const all = await createDigestScenario(
    {
      kinds: ['zones', 'errors', 'scanning', 'apps'],
      targets: { zones: ['1001', '1002'], shieldZones: ['503'], apps: [] },
    },
    {
      zones: [makeZone(1001, 'shop', { MagicContainersAppId: 'app0worker00002' }), makeZone(1002, 'docs')],
      originErrors: { entries: new Map(), count: 2 },
    },
  );
  expect((await all.run('2026-11-03T09:00:00Z')).top).toMatchInlineSnapshot(`
    [
      "*2 zones* · 0 B this month · $0.00 so far",
      "*8 origin errors* in 24 hours, in 2 of 2 zones",
      "*Upload scanning:* nothing reported",
      "*1 app* · $18.40 a month · latency 240.9",
    ]
  `);
  const same = await all.run('2026-11-04T09:00:00Z');
  expect(same.top).toMatchInlineSnapshot(`
    [
      "*2 zones* · 0 B this month · $0.00 so far",
      "*5 origin errors* since Tue 3 Nov 09:00, in 2 of 2 zones",
      "*Upload scanning:* nothing reported",
      "*1 app* · $18.40 a month · latency 240.9",
      ":new: \`dns_lookup\` 2 times in shop",
      ":new: \`http_request_failure\` 1 time in docs",
    ]
  `);
  all.data.zones = all.data.zones.map((one) => ({ ...one, Enabled: false, Suspended: true }));
  const told = await all.run('2026-11-05T09:00:00Z');
  expect(told.top).toMatchInlineSnapshot(`
    [
      "*2 zones* · 0 B this month · $0.00 so far · :warning: 2 need attention",
      "*5 origin errors* since Wed 4 Nov 09:00, in 2 of 2 zones",
      "*Upload scanning:* nothing reported",
      "*1 app* · $18.40 a month · latency 240.9",
      ":no_entry: *2* newly suspended: shop, docs",
      ":rotating_light: *2* newly disabled: shop, docs",
    ]
  `);
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
    kinds: ['zones', 'errors'],
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
  expect(told.top).toMatchInlineSnapshot(`
    [
      "*1 zone* · 0 B this month · $0.00 so far · :warning: 1 needs attention",
      "*No origin errors* since Wed 4 Nov 09:00",
    ]
  `);
  expect(told.thread).toHaveLength(2);
});
