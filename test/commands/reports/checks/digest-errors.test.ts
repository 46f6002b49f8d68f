import { expect, onTestFinished, test, vi } from 'vitest';
import { findDigestKind } from '../../../../src/commands/reports/checks/list.ts';
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

test('a silent run learns the codes of a further zone, so that a new one there is told', async () => {
  const digest = await createDigestScenario(
    { kinds: ['errors'].map(findDigestKind), only: 'new' },
    { zones: [makeZone(1001, 'shop')], originErrors: { entries: new Map(), count: 0 } },
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
    { kinds: ['errors'].map(findDigestKind) },
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
    {
      kinds: ['zones', 'errors'].map(findDigestKind),
      targets: { zones: ['1001', '1002'], shieldZones: [], apps: [] },
    },
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
  const digest = await createDigestScenario({ kinds: ['zones', 'errors'].map(findDigestKind) }, twoZones);
  digest.cdn.faults.add({ match: { path: /^\/1002\// }, status: 401, times: Infinity });
  await expect(digest.run('2026-11-03T09:00:00Z')).rejects.toMatchObject({ code: 'key_refused' });
  const down = await createDigestScenario({ kinds: ['zones', 'apps'].map(findDigestKind) });
  down.cdn.faults.add({ status: 503, times: Infinity });
  await expect(down.run('2026-11-03T09:00:00Z')).rejects.toMatchObject({ code: 'unavailable' });
});

test('logs for which no time is left are said to be missing', async () => {
  const digest = await createDigestScenario({ kinds: ['errors'].map(findDigestKind) }, twoZones);
  const clock = vi.spyOn(performance, 'now').mockReturnValueOnce(0).mockReturnValue(90_000);
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
  expect(top).toMatchSnapshot();
});
