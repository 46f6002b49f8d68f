import { expect, onTestFinished, test, vi } from 'vitest';
import type { CdnData } from '../../../../simulator/cdn/model.ts';
import type { PullZone } from '../../../../simulator/cdn/zone-fields.ts';
import type { DigestKindName } from '../../../../src/commands/reports/checks/list.ts';
import {
  bandwidthPerRun,
  createDigestScenario,
  GB,
  logOriginErrors,
  makeZone,
} from '../../../support/digests/scenario.ts';

/** Runs daily at 09:00 from a day on, with so many GB used at each; tells the last. */
const daily = async (from: string, ...amounts: readonly number[]) =>
  (await createDigestScenario()).runDaily(from, bandwidthPerRun(...amounts));

/** The same at these moments. */
async function at(...runs: readonly (readonly [at: string, gigabytes: number])[]) {
  const digest = await createDigestScenario();
  let told: Awaited<ReturnType<typeof digest.run>> | undefined;
  for (const [moment, amount] of runs) {
    bandwidthPerRun(amount)[0]?.(digest.data);
    told = await digest.run(moment);
  }
  return told;
}

// From Monday 2 November on: 40 GB on a workday, 10 GB on the others.
const weekends = Array.from({ length: 14 }, (_, run) => {
  const days = Array.from({ length: run + 1 }, (_, day) =>
    day % 7 === 6 || (day > 0 && day % 7 === 0) ? 10 : 40,
  );
  return days.reduce((sum, day) => sum + day, 0);
});
const midnight = [
  ['2026-11-29T00:01:00Z', 1120],
  ['2026-11-30T00:01:00Z', 1160],
] as const;
const first = ['2026-12-01T00:01:00Z', 0.5] as const;

test.each([
  [
    'a flat series',
    () => daily('2026-11-03', 120, 160, 200, 240),
    'Thu 5 Nov 09:00: *2 zones* · 240 GB this month · $2.40 so far (+$0.40)',
  ],
  [
    'a weekend that is quiet every week',
    () => daily('2026-11-02', ...weekends),
    'Sat 14 Nov 09:00: *2 zones* · 470 GB this month · $4.70 so far (+$0.10)',
  ],
  [
    'a month that begins: nothing fell',
    () => daily('2026-11-29', 1160, 1200, 15),
    'Mon 30 Nov 09:00: *2 zones* · 15 GB this month · $0.15 so far',
  ],
  [
    'the first minute of a month: no rate of a minute, no forecast',
    () => at(...midnight, first),
    'Mon 30 Nov 00:01: *2 zones* · 500 MB this month · $0.01 so far',
  ],
  [
    'a CDN that needs a moment to begin the month',
    () => at(...midnight, ['2026-12-01T00:01:00Z', 1201]),
    'Mon 30 Nov 00:01: *2 zones* · 1.2 TB this month · $12.01 so far',
  ],
  [
    'the day after, which counts from midnight',
    () => at(...midnight, first, ['2026-12-02T00:01:00Z', 150]),
    'Tue 1 Dec 00:01: *2 zones* · 150 GB this month · $1.50 so far (+$1.49)',
  ],
  [
    'days without a run: what was used in them is told by the day',
    () =>
      at(
        ['2026-11-02T09:00:00Z', 100],
        ['2026-11-03T09:00:00Z', 140],
        ['2026-11-04T09:00:00Z', 180],
        ['2026-11-09T09:00:00Z', 380],
      ),
    'Wed 4 Nov 09:00: *2 zones* · 380 GB this month · $3.80 so far (+$2.00)',
  ],
  [
    'no zones, and nothing to divide by',
    async () => (await createDigestScenario()).runDaily('2026-11-03', [() => undefined, () => undefined]),
    'Tue 3 Nov 09:00: *No zones*',
  ],
])('%s is no change: one line', async (_, run, line) => {
  const told = await run();
  expect(told?.top).toEqual([`:zzz: No notable change since ${line}`]);
  expect(told?.thread).toEqual([]);
});

test('a first run says what there is, and that there is nothing to compare with', async () => {
  const told = await daily('2026-11-03', 120);
  expect(told.top).toEqual(['*2 zones* · 120 GB this month · $1.20 so far']);
  expect(told.thread).toMatchSnapshot();
});

test('a spike is told against the previous run, with its trend', async () => {
  const told = await daily('2026-11-03', 120, 160, 200, 240, 281, 320, 360, 480);
  expect(told.top).toMatchSnapshot('told, top');
  expect(told.thread).toMatchSnapshot('told, thread');
  expect(told.charts).toMatchSnapshot('told, charts');
});

test('only if something changed: the first run speaks, then silence until something does', async () => {
  const digest = await createDigestScenario({ only: 'changed' });
  expect((await digest.runDaily('2026-11-03', bandwidthPerRun(100))).quiet).toBe(false);
  expect((await digest.runDaily('2026-11-04', bandwidthPerRun(140))).quiet).toBe(true);
  digest.data.zones.push(makeZone(1003, 'new'));
  expect((await digest.run('2026-11-04T12:00:00Z')).quiet).toBe(false);
  expect((await digest.runDaily('2026-11-05', bandwidthPerRun(180))).top).toMatchSnapshot();
});

test('only what is new: a number less, and silence where there is none', async () => {
  const digest = await createDigestScenario({ only: 'new' });
  expect((await digest.runDaily('2026-11-03', bandwidthPerRun(100))).quiet).toBe(false);
  expect((await digest.runDaily('2026-11-04', bandwidthPerRun(140))).quiet).toBe(true);
  digest.data.zones.push(makeZone(1003, 'new'));
  expect((await digest.run('2026-11-04T12:00:00Z')).top).toMatchSnapshot();
});

test('run again a minute later, nothing changed, and the next run still counts a whole day', async () => {
  const digest = await createDigestScenario();
  await digest.runDaily('2026-11-03', bandwidthPerRun(100, 140));
  expect((await digest.run('2026-11-04T09:01:00Z')).top).toEqual([
    ':zzz: No notable change since Wed 4 Nov 09:00: *2 zones* · 140 GB this month · $1.40 so far',
  ]);
  expect((await digest.runDaily('2026-11-05', bandwidthPerRun(280))).top).toMatchSnapshot();
});

test('the same weekday counts where it is known, else the previous run', async () => {
  const week = await daily('2026-11-02', 40, 80, 120, 160, 200, 240, 280, 320, 420);
  expect(week.top).toMatchSnapshot('week, top');
  const weekly = await at(
    ['2026-11-02T09:00:00Z', 100],
    ['2026-11-09T09:00:00Z', 200],
    ['2026-11-16T09:00:00Z', 400],
  );
  expect(weekly?.top).toMatchSnapshot('top');
});

const twoZones = { zones: [makeZone(1001, 'shop'), makeZone(1002, 'docs')] };

test('origin errors since the previous run: each entry in one digest, a new code first', async () => {
  const errors = await createDigestScenario(
    { kinds: ['errors'], targets: { zones: ['1001', '1002'] }, timeZone: 'Europe/Vienna' },
    twoZones,
  );
  logOriginErrors(errors.data, '1001/2026-11-02', ['http_timeout', 30, 8]);
  logOriginErrors(errors.data, '1001/2026-11-03', ['http_timeout', 12, 8]);
  const first = await errors.run('2026-11-03T09:00:00Z');
  // 30 of them are more than a day old.
  expect(first.top).toMatchSnapshot('first, top');
  logOriginErrors(errors.data, '1001/2026-11-03', ['http_timeout', 12, 8], ['http_timeout', 5, 10]);
  logOriginErrors(errors.data, '1001/2026-11-04', ['http_timeout', 8, 3], ['dns_lookup', 2, 4]);
  logOriginErrors(errors.data, '1002/2026-11-04', ['dns_lookup', 1, 4]);
  const second = await errors.run('2026-11-04T09:00:10Z');
  expect(second.top).toMatchSnapshot('second, top');
  expect(second.thread).toMatchSnapshot('second, thread');
  expect(second.charts).toMatchSnapshot('second, charts');
  const third = await errors.run('2026-11-05T09:00:00Z');
  expect(third.top).toMatchSnapshot('third, top');
  // After a weekend it tells of all of it, a day on average.
  logOriginErrors(errors.data, '1002/2026-11-07', ['dns_lookup', 90, 4]);
  const monday = await errors.run('2026-11-09T09:00:00Z');
  expect(monday.top).toMatchSnapshot('monday, top');
});

test.each([
  ['whole', false, 1],
  ['cut', true, 0],
])(
  'a log without errors that is %s: only the former tells that there are no more',
  async (_, isCut, told) => {
    const digest = await createDigestScenario({ kinds: ['errors'] }, twoZones);
    await digest.run('2026-11-03T09:00:00Z');
    logOriginErrors(digest.data, '1001/2026-11-04', ['http_timeout', 90, 4]);
    await digest.run('2026-11-04T09:00:00Z');
    digest.data.originErrors.hasMoreData = isCut;
    const { top } = await digest.run('2026-11-05T09:00:00Z');
    expect(top.join(' ').split(':white_check_mark:')).toHaveLength(told + 1);
  },
);

type Data = Awaited<ReturnType<typeof createDigestScenario>>['data'];

/** Changes the first of two zones. */
const change = (members: object) => (data: Data) => void Object.assign(data.zones[0] ?? {}, members);
const loseLog = ({ originErrors }: Data): void => {
  for (const entries of originErrors.entries.values()) entries.splice(0, 99, 'a line' as never);
};

test.each([
  ['zones', 'the charges of a zone', change({ MonthlyCharges: null })],
  ['zones', 'the bandwidth of a zone', change({ MonthlyBandwidthUsed: null })],
  ['zones', 'a zone in a form that can be read', change({ Id: null })],
  ['errors', 'the log of a zone that can be read', change({ Id: null })],
  ['errors', 'entries that can be read', loseLog],
] as const)('%s: where one run lacks %s, neither that nor the next tells a change', async (kind, _, lose) => {
  const digest = await createDigestScenario({ kinds: [kind] });
  for (const day of ['03', '04', '05', '06']) {
    digest.data.zones = [1001, 1002].map((id) =>
      makeZone(id, `z${id}`, { MonthlyBandwidthUsed: 900 * GB, MonthlyCharges: 40 }),
    );
    for (const at of ['02', '03', '04', '05', '06'])
      logOriginErrors(digest.data, `1001/2026-11-${at}`, ['http_timeout', 90, 10]);
    if (day === '05') lose(digest.data);
    const { top } = await digest.run(`2026-11-${day}T09:00:00Z`);
    expect(top.join('\n')).not.toMatch(/[+−]\$|[+−]\d+%|times|× as/u);
  }
});

test.each(['zones', 'errors', 'apps'] as const)(
  'a list in which no zone can be read is no account without %s',
  async (kind) => {
    const digest = await createDigestScenario({ kinds: [kind] }, { zones: [makeZone(1001, 'shop')] });
    digest.cdn.faults.add({ match: { path: /pullzone/ }, times: 9, overwrite: { Id: null } });
    const { top } = await digest.run('2026-11-03T09:00:00Z');
    expect(top.join('\n')).toContain(':grey_question:');
  },
);

test('a silent run learns the codes of a further zone, so that a new one there is told', async () => {
  const digest = await createDigestScenario(
    { kinds: ['errors'], only: 'new' },
    { zones: [makeZone(1001, 'shop')] },
  );
  await digest.run('2026-11-03T09:00:00Z');
  digest.data.zones.push(makeZone(1002, 'docs'));
  expect((await digest.run('2026-11-04T09:00:00Z')).quiet).toBe(true);
  logOriginErrors(digest.data, '1002/2026-11-05', ['dns_lookup', 2, 4]);
  const told = await digest.run('2026-11-05T09:00:00Z');
  expect([told.quiet, told.top.join(' ')]).toEqual([false, expect.stringContaining('dns_lookup')]);
});

test('of all zones the busiest are asked, and the digest says so', async () => {
  const zones = Array.from({ length: 40 }, (_, index) =>
    makeZone(2000 + index, `zone-${index}`, { MonthlyBandwidthUsed: index * GB }),
  );
  const unreadable = Object.assign(makeZone(3000, 'no-id'), { Id: 'none' });
  const errors = await createDigestScenario(
    { kinds: ['errors'] },
    { zones: [...zones, unreadable], originErrors: { entries: new Map(), count: 3 } },
  );
  const told = await errors.run('2026-11-03T09:00:00Z');
  expect(told.top).toMatchSnapshot();
  const asked = errors.cdn.requests.filter(({ host }) => host === 'origin-logging');
  expect(new Set(asked.map(({ path }) => path.split('/')[1])).size).toBe(25);
  expect(asked.some(({ path }) => path.startsWith('/2039/'))).toBe(true);
});

test('a log that cannot be read is said with its reference, and costs the rest nothing', async () => {
  const errors = await createDigestScenario(
    { kinds: ['zones', 'errors'], targets: { zones: ['1001', '1002'] } },
    twoZones,
  );
  errors.cdn.faults.add({ match: { path: /^\/1002\// }, status: 500, times: Infinity });
  const told = await errors.run('2026-11-03T09:00:00Z');
  expect(told.top).toMatchSnapshot('told, top');
  expect(told.thread.at(-1)).toMatchSnapshot('thread');
  // What could not be read is never kept quiet.
  expect(told.quiet).toBe(false);
});

test('a refused key is thrown, and so is a CDN of which nothing at all can be read', async () => {
  const digest = await createDigestScenario({ kinds: ['zones', 'errors'] }, twoZones);
  digest.cdn.faults.add({ match: { path: /^\/1002\// }, status: 401, times: Infinity });
  await expect(digest.run('2026-11-03T09:00:00Z')).rejects.toMatchObject({ code: 'key_refused' });
  const down = await createDigestScenario({ kinds: ['zones', 'apps'] });
  down.cdn.faults.add({ status: 503, times: Infinity });
  await expect(down.run('2026-11-03T09:00:00Z')).rejects.toMatchObject({ code: 'unavailable' });
});

test('logs for which no time is left are said to be missing', async () => {
  const digest = await createDigestScenario({ kinds: ['errors'] }, twoZones);
  // The first look at the clock was long ago: a clock that runs ahead would stay in modules that other tests use.
  const longAgo = performance.now() - 90_000;
  const clock = vi.spyOn(performance, 'now').mockReturnValueOnce(longAgo);
  onTestFinished(() => clock.mockRestore());
  const told = await digest.run('2026-11-03T09:00:00Z');
  expect(told.top).toMatchSnapshot();
  expect(digest.cdn.requests.filter(({ host }) => host === 'origin-logging')).toEqual([]);
});

test('once it is stopped it asks for no further log, and says nothing half', async () => {
  const stop = new AbortController();
  const zones = Array.from({ length: 20 }, (_, index) => makeZone(2000 + index, `zone-${index}`));
  const originErrors = {
    entries: new Map(),
    count: () => {
      stop.abort();
      return 1;
    },
  };
  const digest = await createDigestScenario(
    { kinds: ['zones', 'errors'] },
    { zones, originErrors },
    { signal: stop.signal },
  );
  await expect(digest.run('2026-11-03T09:00:00Z')).rejects.toMatchObject({ code: 'cancelled' });
  const logs = digest.cdn.requests.filter(({ host }) => host === 'origin-logging');
  // The three that were being read at once, two days each.
  expect(logs.length).toBeLessThanOrEqual(6);
});

test('errors at a time that cannot be read are never none', async () => {
  const errors = await createDigestScenario({ kinds: ['errors'] }, { zones: [makeZone(1001, 'shop')] });
  logOriginErrors(errors.data, '1001/2026-11-03', ['dns_lookup', 8, 4]);
  for (const entry of errors.data.originErrors.entries.get('1001/2026-11-03') ?? [])
    Object.assign(entry, { timestamp: 'a while ago' });
  const { top } = await errors.run('2026-11-03T09:00:00Z');
  expect(top).toMatchSnapshot();
});

test('errors of the last minutes are counted', async () => {
  const errors = await createDigestScenario({ kinds: ['errors'] }, { zones: [makeZone(1001, 'shop')] });
  logOriginErrors(errors.data, '1001/2026-11-03', ['dns_lookup', 8, 9]);
  const { top } = await errors.run('2026-11-03T09:04:00Z');
  expect(top).toMatchSnapshot();
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
  const scans = await createDigestScenario(
    { kinds: ['scanning'], targets: { shieldZones: ['501', '502'] } },
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
    { kinds: ['scanning'], targets: { shieldZones: ['501'] } },
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
    ':zzz: No notable change since Tue 10 Nov 09:00: *At least 7 uploads blocked* · 100 files scanned in 2 days to 11 Nov (7%)',
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
    { kinds: ['apps'], targets: { apps: [app.id, idle.id] } },
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
      kinds: ['zones', 'errors', 'scanning', 'apps'],
      targets: { zones: ['1001', '1002'], shieldZones: ['503'] },
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
    { kinds: ['zones', 'errors', 'apps'], targets: { apps: ['app0worker00002'] } },
    twoZones,
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

test.each<[string, DigestKindName[], (data: CdnData) => void]>([
  [
    'other zones altogether',
    ['zones', 'errors'],
    (data) => Object.assign(data.zones[0] as object, { Id: 7 }),
  ],
  [
    'a zone without its figures',
    ['zones'],
    (data) => Object.assign(data.zones[0] as object, { Enabled: null }),
  ],
  ['an app without its state', ['apps'], (data) => Reflect.deleteProperty(data.apps[0] as object, 'status')],
  [
    'an app without its cost',
    ['apps'],
    (data) => Object.assign(data.apps[0] as object, { monthlyCost: null }),
  ],
  [
    'no days of scanning',
    ['scanning'],
    (data) => Object.assign(data.shieldZones[0] as object, { overview: null }),
  ],
  [
    'a log that was not given whole',
    ['errors'],
    (data) => Object.assign(data.originErrors, { hasMoreData: true }),
  ],
])('%s: a digest does not say that nothing changed', async (_, kinds, change) => {
  const overview = { '01-11-2026': { loggedRequests: 9, blockedRequests: 1, filesScanned: 9 } };
  const app = { averageLatency: 4, currentLatency: 4, totalVolumeSizeInGb: 1, monthlyCost: 3, volumes: {} };
  const targets = { apps: ['app1'], shieldZones: ['501'] };
  const digest = await createDigestScenario(
    { kinds, targets, only: 'changed' },
    {
      zones: [makeZone(1001, 'shop')],
      apps: [{ id: 'app1', status: 'active in two of three regions & more', ...app }],
      shieldZones: [{ id: 501, plan: 'advanced', overview }],
    },
  );
  const runs = [await digest.run('2026-11-02T09:00:00Z'), await digest.run('2026-11-02T10:00:00Z')];
  change(digest.data);
  runs.push(await digest.run('2026-11-02T11:00:00Z'));
  expect(runs.map(({ quiet }) => quiet)).toEqual([false, true, false]);
});

test('above a number: of zones that need attention, errors, blocked uploads and failing apps together', async () => {
  const errors = { kinds: ['zones', 'errors'], targets: { zones: ['1001'] } } as const;
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
