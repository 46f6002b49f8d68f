import { setImmediate as turn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { countDays, type ErrorDay } from '../../../../src/commands/reports/accounts/error-days.ts';
import { findDigestKind } from '../../../../src/commands/reports/checks/list.ts';
import { dayMs, startOfDay, toUtcDay } from '../../../../src/lib/time.ts';
import { createDigestScenario, GB, logOriginErrors, makeZone } from '../../../support/digests/scenario.ts';

const twoZones = {
  zones: [makeZone(1001, 'shop'), makeZone(1002, 'docs')],
  originErrors: { entries: new Map(), count: 0 },
};

test('origin errors since the previous run: each entry in one digest, a new code first', async () => {
  const errors = await createDigestScenario(
    {
      kinds: ['errors'].map(findDigestKind),
      targets: { zones: ['1001', '1002'], shieldZones: [], apps: [] },
      timeZone: 'Europe/Vienna',
    },
    { ...twoZones, originErrors: { entries: new Map(), count: 0 } },
  );
  logOriginErrors(errors.data, '1001/2026-11-02', ['http_timeout', 30, 8]);
  logOriginErrors(errors.data, '1001/2026-11-03', ['http_timeout', 12, 8]);
  const first = await errors.run('2026-11-03T09:00:00Z');
  // 30 of them are more than a day old.
  expect(first.top).toMatchInlineSnapshot(`
    [
      "*12 origin errors* in 24 hours, in 1 of 2 zones",
    ]
  `);
  logOriginErrors(errors.data, '1001/2026-11-03', ['http_timeout', 12, 8], ['http_timeout', 5, 10]);
  logOriginErrors(errors.data, '1001/2026-11-04', ['http_timeout', 8, 3], ['dns_lookup', 2, 4]);
  logOriginErrors(errors.data, '1002/2026-11-04', ['dns_lookup', 1, 4]);
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
    :new: \`dns_lookup\` 3 times in shop, docs
    By error: \`http_timeout\` 13, \`dns_lookup\` 3
    *shop* · 15 · http_timeout
    *docs* · 1 · dns_lookup
    _\`/cdn errors &lt;zone&gt;\` shows samples._",
    ]
  `);
  expect(second.charts).toMatchInlineSnapshot(`
    [
      "16 origin errors (bar, Errors each 4 hours, Europe/Vienna): Errors Tue 10:00 5, 14:00 0, 18:00 0, 22:00 0, Wed 02:00 11, 06:00 0, 10:00–now 0",
    ]
  `);
  const third = await errors.run('2026-11-05T09:00:00Z');
  expect(third.top).toMatchInlineSnapshot(`
    [
      "*No origin errors* since Wed 4 Nov 10:00",
      ":white_check_mark: *shop*: no more errors",
    ]
  `);
  // After a weekend it tells of all of it, a day on average.
  logOriginErrors(errors.data, '1002/2026-11-07', ['dns_lookup', 90, 4]);
  const monday = await errors.run('2026-11-09T09:00:00Z');
  expect(monday.top).toMatchInlineSnapshot(`
    [
      "*90 origin errors* since Thu 5 Nov 10:00, in 1 of 2 zones",
      ":boom: *docs*: 22.5 errors a day, up from nothing in the previous run",
    ]
  `);
});

test('of all zones the busiest are asked, and the digest says so', async () => {
  const zones = Array.from({ length: 40 }, (_, index) =>
    makeZone(2000 + index, `zone-${index}`, { MonthlyBandwidthUsed: index * GB }),
  );
  const errors = await createDigestScenario(
    { kinds: ['errors'].map(findDigestKind) },
    { zones, originErrors: { entries: new Map(), count: 3 } },
  );
  const told = await errors.run('2026-11-03T09:00:00Z');
  expect(told.top).toMatchInlineSnapshot(`
    [
      "*129 origin errors* in 24 hours, in 25 of 25 zones · 15 of 40 zones not checked",
    ]
  `);
  const asked = errors.cdn.requests.filter(({ host }) => host === 'origin-logging');
  expect(new Set(asked.map(({ path }) => path.split('/')[1])).size).toBe(25);
  expect(asked.some(({ path }) => path.startsWith('/2039/'))).toBe(true);
});

test('a log that cannot be read is said with its reference, and costs the rest nothing', async () => {
  const errors = await createDigestScenario(
    {
      kinds: ['zones', 'errors'].map(findDigestKind),
      targets: { zones: ['1001', '1002'], shieldZones: [], apps: [] },
    },
    twoZones,
  );
  errors.cdn.faults.add({ match: { path: /^\/1002\// }, status: 500, times: Infinity });
  const told = await errors.run('2026-11-03T09:00:00Z');
  expect(told.top).toMatchInlineSnapshot(`
    [
      "*2 zones* · 0 B this month · $0.00 so far",
      "*No origin errors* in 24 hours (1 of 2 logs read)",
      ":grey_question: Not read: origin errors of docs (reference REF23456), more in the thread",
    ]
  `);
  expect(told.thread.at(-1)).toMatchInlineSnapshot(`
    "*What could not be read*
    • origin errors of docs: The CDN said unavailable. Reference REF23456"
  `);
  // What could not be read is never kept quiet.
  expect(told.quiet).toBe(false);
});

test('a refused key is thrown, and so is a CDN of which nothing at all can be read', async () => {
  const digest = await createDigestScenario({ kinds: ['zones', 'errors'].map(findDigestKind) }, twoZones);
  digest.cdn.faults.add({ match: { path: /^\/1002\// }, status: 401, times: Infinity });
  await expect(digest.run('2026-11-03T09:00:00Z')).rejects.toMatchObject({ code: 'key_refused' });
  const down = await createDigestScenario({ kinds: ['zones', 'apps'].map(findDigestKind) });
  down.cdn.faults.add({ status: 503, times: Infinity });
  await expect(down.run('2026-11-03T09:00:00Z')).rejects.toMatchObject({ code: 'unavailable' });
});

test('logs for which no time is left are said to be missing', async () => {
  const digest = await createDigestScenario({ kinds: ['zones', 'errors'].map(findDigestKind) }, twoZones, {
    patienceMs: 0,
  });
  const told = await digest.run('2026-11-03T09:00:00Z');
  expect(told.top).toMatchInlineSnapshot(`
    [
      "*2 zones* · 0 B this month · $0.00 so far",
      ":grey_question: Not read: 2 parts, more in the thread",
    ]
  `);
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
    { kinds: ['zones', 'errors'].map(findDigestKind) },
    { zones, originErrors },
    { signal: stop.signal },
  );
  await expect(digest.run('2026-11-03T09:00:00Z')).rejects.toMatchObject({ code: 'cancelled' });
  const logs = digest.cdn.requests.filter(({ host }) => host === 'origin-logging');
  // The three that were being read at once, two days each.
  expect(logs.length).toBeLessThanOrEqual(6);
});

test('errors at a time that cannot be read are never none', async () => {
  const errors = await createDigestScenario(
    { kinds: ['errors'].map(findDigestKind) },
    { zones: [makeZone(1001, 'shop')], originErrors: { entries: new Map(), count: 0 } },
  );
  logOriginErrors(errors.data, '1001/2026-11-03', ['dns_lookup', 8, 4]);
  for (const entry of errors.data.originErrors.entries.get('1001/2026-11-03') ?? [])
    Object.assign(entry, { timestamp: 'a while ago' });
  const { top } = await errors.run('2026-11-03T09:00:00Z');
  expect(top).toMatchInlineSnapshot(`
    [
      "*8 origin errors at an unknown time* in 24 hours",
    ]
  `);
});

const emptyLog = { forEach: async () => ({ entries: 0, skipped: 0, moreExist: false }) };

test('other work gets its turn while a week of many errors is summed up', async () => {
  const now = new Date('2026-11-20T10:00:00Z');
  const known = Array.from({ length: 8 }, (_, nth): ErrorDay => {
    const start = startOfDay(toUtcDay(now)) - nth * dayMs;
    const buckets = Array.from({ length: 288 }, (_, bucket) => [start / 300_000 + bucket, 3] as const);
    const codes = Object.fromEntries(Array.from({ length: 20 }, (_, code) => [`code-${code}`, buckets]));
    const day = toUtcDay(new Date(start));
    return { day, readAt: now.getTime(), noticed: {}, codes, undated: 0, hasMore: false };
  });
  const { counts } = await countDays(emptyLog, '1', { known, at: now });
  const zones = Array.from({ length: 25 }, (_, nth) => ({ id: String(nth + 1), name: `zone-${nth}` }));
  let turns = 0;
  const others = { wanted: true };
  const working = (async () => {
    for (; others.wanted; turns += 1) await turn();
  })();
  await findDigestKind('errors').collect({
    account: { pullZones: { all: async () => ({ zones, skipped: 0 }) }, errors: async () => counts },
    now,
    targets: { zones: [], shieldZones: [], apps: [] },
    past: [{ at: now.getTime() - 7 * dayMs, figures: { scope: '', zones: [] } }],
    baseline: undefined,
    patienceMs: 60_000,
  } as never);
  others.wanted = false;
  await working;
  expect(turns).toBeGreaterThan(2);
});
