import { expect, test } from 'vitest';
import type { CdnData } from '../../simulator/cdn/data.ts';
import { GB, story, zone } from './digest-story.ts';

/** Entries of one zone and day: a code, how many, from which hour (UTC) on. */
function logged(
  data: CdnData,
  key: string,
  ...kinds: readonly (readonly [code: string, count: number, hour: number])[]
): void {
  const [, day = ''] = key.split('/');
  data.originErrors.entries.set(
    key,
    kinds.flatMap(([code, count, hour], kind) =>
      Array.from({ length: count }, (_, index) => ({
        logId: `${key}-${kind}-${index}`,
        timestamp: Date.parse(`${day}T${String(hour).padStart(2, '0')}:00:00Z`) + index,
        log: JSON.stringify({ RequestUrl: '/cart/pay?card=1', Message: 'No answer', ErrorCode: code }),
        labels: { ErrorCode: code, StatusCode: '502', ServerZone: 'DE' },
      })),
    ),
  );
}

const twoZones = {
  zones: [zone(1001, 'shop'), zone(1002, 'docs')],
  originErrors: { entries: new Map(), count: 0 },
};

test('origin errors since the previous run: each entry in one digest, a new code first', async () => {
  const errors = await story(
    {
      kinds: ['errors'],
      targets: { zones: ['1001', '1002'], shieldZones: [], apps: [] },
      timeZone: 'Europe/Vienna',
    },
    { ...twoZones, originErrors: { entries: new Map(), count: 0 } },
  );
  logged(errors.data, '1001/2026-11-02', ['http_timeout', 30, 8]);
  logged(errors.data, '1001/2026-11-03', ['http_timeout', 12, 8]);
  const first = await errors.run('2026-11-03T09:00:00Z');
  // 30 of them are more than a day old.
  expect(first.top).toMatchInlineSnapshot(`
    [
      "*12 origin errors* in 24 hours, in 1 of 2 zones",
      "_The first run: the next one tells what changed._",
    ]
  `);
  logged(errors.data, '1001/2026-11-03', ['http_timeout', 12, 8], ['http_timeout', 5, 10]);
  logged(errors.data, '1001/2026-11-04', ['http_timeout', 8, 3], ['dns_lookup', 2, 4]);
  logged(errors.data, '1002/2026-11-04', ['dns_lookup', 1, 4]);
  const second = await errors.run('2026-11-04T09:00:10Z');
  expect(second.top).toMatchInlineSnapshot(`
    [
      "*16 origin errors* since Tue 3 Nov 10:00, in 2 of 2 zones",
      "16 a day: +33 % on the previous run",
      ":new: \`dns_lookup\` 3 times in shop, docs",
    ]
  `);
  expect(second.thread).toMatchInlineSnapshot(`
    [
      "*Origin errors*
    *Changed*
    :new: \`dns_lookup\` 3 times in shop, docs
    *By zone*
    *15* · shop (+25 % on the previous run)
    *1* · docs (up from nothing in the previous run)
    *By error*
    *13* · \`http_timeout\`
    *3* · \`dns_lookup\`
    *By address*
    *16* · \`/cart/…\`
    _\`/cdn errors &lt;zone&gt;\` shows samples._",
    ]
  `);
  expect(second.charts).toMatchInlineSnapshot(`
    [
      "Bar chart of 16 origin errors by hour, Tue 3 Nov 10:00 to Wed 4 Nov 10:00: most at Wed 4 Nov 04:00 (8).",
    ]
  `);
  const third = await errors.run('2026-11-05T09:00:00Z');
  expect(third.top).toMatchInlineSnapshot(`
    [
      "*No origin errors* since Wed 4 Nov 10:00",
      ":white_check_mark: *shop*: no errors any more",
    ]
  `);
  // After a weekend it tells of all of it, a day on average.
  logged(errors.data, '1002/2026-11-07', ['dns_lookup', 90, 4]);
  const monday = await errors.run('2026-11-09T09:00:00Z');
  expect(monday.top).toMatchInlineSnapshot(`
    [
      "*90 origin errors* since Thu 5 Nov 10:00, in 1 of 2 zones",
      ":new: \`dns_lookup\` 90 times in docs",
      ":boom: *docs*: 22.5 errors a day, up from nothing in the previous run",
    ]
  `);
});

test('of all zones the busiest are asked, and the digest says so', async () => {
  const zones = Array.from({ length: 40 }, (_, index) =>
    zone(2000 + index, `zone-${index}`, { MonthlyBandwidthUsed: index * GB }),
  );
  const errors = await story(
    { kinds: ['errors'] },
    { zones, originErrors: { entries: new Map(), count: 3 } },
  );
  const told = await errors.run('2026-11-03T09:00:00Z');
  expect(told.top).toMatchInlineSnapshot(`
    [
      "*129 origin errors* in 24 hours, in 25 of 25 zones (the busiest of 40)",
      "_The first run: the next one tells what changed._",
    ]
  `);
  const asked = errors.cdn.requests.filter(({ host }) => host === 'origin-logging');
  expect(new Set(asked.map(({ path }) => path.split('/')[1])).size).toBe(25);
  expect(asked.some(({ path }) => path.startsWith('/2039/'))).toBe(true);
});

test('a log that cannot be read is said with its reference, and costs the rest nothing', async () => {
  const errors = await story(
    { kinds: ['zones', 'errors'], targets: { zones: ['1001', '1002'], shieldZones: [], apps: [] } },
    twoZones,
  );
  errors.cdn.faults.add({ match: { path: /^\/1002\// }, status: 500, times: Infinity });
  const told = await errors.run('2026-11-03T09:00:00Z');
  expect(told.top).toMatchInlineSnapshot(`
    [
      "*2 zones* · 0 B this month · $0.00 so far",
      "*No origin errors* in 24 hours (1 of 2 logs read)",
      ":grey_question: Not read: origin errors of docs (reference REF23456), more in the thread",
      "_The first run: the next one tells what changed._",
    ]
  `);
  expect(told.thread.at(-1)).toMatchInlineSnapshot(`
    "*What could not be read*
    • origin errors of docs: The CDN said unavailable. Reference REF23456"
  `);
  // What could not be read is never kept quiet.
  expect(told.quiet).toBe(false);
});

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
  const scans = await story(
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
      ":no_entry: Shield zone 501: 40 blocked a day, 20 × as much as the same weekday, 20 × as much as the day before, *unusual:* mostly 2",
      ":grey_question: Not read: upload scanning of shield zone 502 (reference REF23456), more in the thread",
      "_The first run: the next one tells what changed._",
    ]
  `);
  expect(told.thread).toMatchInlineSnapshot(`
    [
      "*Upload scanning*
    *By shield zone*
    Shield zone 501: *40* blocked of 1,000 files scanned, 9 Nov (20 × as much as the same weekday, 20 × as much as the day before, *unusual:* mostly 2)
    _By the CDN’s own days; today is not over and not counted._",
      "*What could not be read*
    • upload scanning of shield zone 502: The CDN said refused. Reference REF23456",
    ]
  `);
  expect(told.charts).toMatchInlineSnapshot(`
    [
      "Bar charts of blocked uploads and files scanned by day, 14 Oct to 9 Nov: most blocked on 9 Nov (40).",
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
  const apps = await story(
    { kinds: ['apps'], targets: { zones: [], shieldZones: [], apps: [app.id, idle.id] } },
    { apps: [app, idle] },
  );
  const first = await apps.run('2026-11-03T09:00:00Z');
  expect(first.top).toMatchInlineSnapshot(`
    [
      "*2 apps* · $7.14 a month",
      "_The first run: the next one tells what changed._",
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
    *Changed*
    :red_circle: App \`app0api00000001\` is failing, was active
    :snail: App \`app0api00000001\`: average latency 90, +125 % on the previous run
    :moneybag: App \`app0api00000001\`: $9.00 a month, +152 % on the previous run
    *By app*
    \`app0api00000001\` failing · latency 123.46 · average 90 · $9.00 a month · volumes 30 GB
    \`app0idle0000003\` active · latency 41 · average 40 (the same as the previous run) · $3.57 a month · volumes 30 GB
    _Latency as the CDN reports it: it names no unit._",
    ]
  `);
});

test('several kinds in one digest: a number each, then what changed, in six lines', async () => {
  const all = await story(
    {
      kinds: ['zones', 'errors', 'scanning', 'apps'],
      targets: { zones: ['1001', '1002'], shieldZones: ['503'], apps: [] },
    },
    {
      zones: [zone(1001, 'shop', { MagicContainersAppId: 'app0worker00002' }), zone(1002, 'docs')],
      originErrors: { entries: new Map(), count: 2 },
    },
  );
  expect((await all.run('2026-11-03T09:00:00Z')).top).toMatchInlineSnapshot(`
    [
      "*2 zones* · 0 B this month · $0.00 so far",
      "*8 origin errors* in 24 hours, in 2 of 2 zones",
      "*Blocked uploads:* not reported · files scanned: not reported",
      "*1 app* · $18.40 a month · latency 240.9",
      "_The first run: the next one tells what changed._",
    ]
  `);
  const same = await all.run('2026-11-04T09:00:00Z');
  expect(same.top).toMatchInlineSnapshot(`
    [
      "*2 zones* · 0 B this month · $0.00 so far",
      "*5 origin errors* since Tue 3 Nov 09:00, in 2 of 2 zones",
      "*Blocked uploads:* not reported · files scanned: not reported",
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
      "*Blocked uploads:* not reported · files scanned: not reported",
      "*1 app* · $18.40 a month · latency 240.9",
      ":no_entry: Newly suspended: shop, docs",
      "and 2 more in the thread",
    ]
  `);
});

function nineErrors() {
  return {
    zones: [zone(1001, 'shop', { Enabled: false })],
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
  const ten = await story({ ...errors, only: { above: 10 } }, nineErrors());
  expect((await ten.run('2026-11-03T09:00:00Z')).quiet).toBe(true);
  const nine = await story({ ...errors, only: { above: 9 } }, nineErrors());
  expect((await nine.run('2026-11-03T09:00:00Z')).quiet).toBe(false);
  // New or not.
  const still = await story({ ...errors, only: { above: 0 } }, nineErrors());
  const told = await still.daily('2026-11-04', [() => undefined, () => undefined]);
  expect(told.quiet).toBe(false);
  expect(told.top).toMatchInlineSnapshot(`
    [
      "*1 zone* · 0 B this month · $0.00 so far · :warning: 1 needs attention",
      "*No origin errors* since Wed 4 Nov 09:00",
    ]
  `);
  expect(told.thread).toHaveLength(2);
});

test('a refused key is thrown, and so is a CDN of which nothing at all can be read', async () => {
  const digest = await story({ kinds: ['zones', 'errors'] }, twoZones);
  digest.cdn.faults.add({ match: { path: /^\/1002\// }, status: 401, times: Infinity });
  await expect(digest.run('2026-11-03T09:00:00Z')).rejects.toMatchObject({ code: 'key_refused' });
  const down = await story({ kinds: ['zones', 'apps'] });
  down.cdn.faults.add({ status: 503, times: Infinity });
  await expect(down.run('2026-11-03T09:00:00Z')).rejects.toMatchObject({ code: 'unavailable' });
});

test('logs for which no time is left are said to be missing', async () => {
  const digest = await story({ kinds: ['zones', 'errors'] }, twoZones, { patienceMs: 0 });
  const told = await digest.run('2026-11-03T09:00:00Z');
  expect(told.top).toMatchInlineSnapshot(`
    [
      "*2 zones* · 0 B this month · $0.00 so far",
      ":grey_question: Not read: 2 parts, more in the thread",
      "_The first run: the next one tells what changed._",
    ]
  `);
  expect(digest.cdn.requests.filter(({ host }) => host === 'origin-logging')).toEqual([]);
});

test('once it is stopped it asks for no further log, and says nothing half', async () => {
  const stop = new AbortController();
  const zones = Array.from({ length: 20 }, (_, index) => zone(2000 + index, `zone-${index}`));
  const originErrors = {
    entries: new Map(),
    count: () => {
      stop.abort();
      return 1;
    },
  };
  const digest = await story(
    { kinds: ['zones', 'errors'] },
    { zones, originErrors },
    { signal: stop.signal },
  );
  await expect(digest.run('2026-11-03T09:00:00Z')).rejects.toMatchObject({ code: 'cancelled' });
  const logs = digest.cdn.requests.filter(({ host }) => host === 'origin-logging');
  // The three that were being read at once, two days each.
  expect(logs.length).toBeLessThanOrEqual(6);
});
