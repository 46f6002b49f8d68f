import { expect, test } from 'vitest';
import { advance } from '../../../../src/commands/reports/alerts/write.ts';
import { dayMs, hourMs, minuteMs, toUtcDay } from '../../../../src/lib/time.ts';
import { describeUnknown, type IncidentFigures } from '../../../../src/views/reports/report.ts';
import { listEvidence, listParts, startLooks } from '../../../support/alerts/looks.ts';
import { prepareEngines } from '../../../support/engines.ts';

const { embedded } = await prepareEngines();
const names = ['shop', 'docs', 'blog'].map((Name) => ({ Name }));

type World = Awaited<ReturnType<typeof start>>;

async function start(zones: Parameters<typeof startLooks>[1] = names) {
  return startLooks(await embedded.emptyDatabase(), zones);
}

test('errors: all zones together above the threshold; those that carry it are named', async () => {
  const world = await start();
  const look = world.createLook('errors');
  world.fail(1001, 46);
  world.fail(1002, 4, { code: 'dns_lookup' });
  // Before the window.
  world.fail(1003, 80, { ago: 21 });
  expect(await look()).toMatchObject({ parts: [], value: 50 });
  world.later(2 * minuteMs);
  world.fail(1001, 1);
  const found = await look();
  expect(listParts(found)).toEqual(['shop: 47 errors in 10 minutes (mostly http_timeout)']);
  expect(listEvidence(found)).toEqual([
    '! 3 zones together: 51 errors in 10 minutes | more than 50 together',
    '! shop: 47 errors in 10 minutes (mostly http_timeout) | more than 50 together',
    'docs: 4 errors in 10 minutes (mostly dns_lookup) | more than 50 together',
    'blog: no errors in 10 minutes | more than 50 together',
  ]);
  expect(found.value).toBe(51);
});

test('errors: an incident adds up every error once, late ones included, until it is over', async () => {
  const world = await start([{ Name: 'shop' }]);
  const look = world.createLook('errors');
  const damping = { open: [1, 1], close: 3 } as const;
  const moves: unknown[] = [];
  let open: IncidentFigures | undefined;
  world.fail(1001, 60, { ago: 2 });
  for (const [many, waitMs] of [
    [0, 5 * minuteMs],
    [7, 4 * dayMs],
    [51, 3 * dayMs],
    [52, 4 * dayMs],
    [53, 0],
  ] as const) {
    if (many > 0) world.fail(1001, many, { ago: 8 });
    const { move, figures } = advance({ recent: [] }, open, await look(), {
      now: world.now(),
      damping,
      windowMs: 10 * minuteMs,
    });
    moves.push([move, figures?.total]);
    open = figures;
    world.later(waitMs);
  }
  // Counts are stored for eight days, an incident may be open for longer.
  expect(moves).toEqual([
    ['open', 60],
    ['update', 67],
    ['update', 118],
    ['update', 170],
    ['update', 223],
  ]);
});

test('errors: a log that fails hides no other, and is neither wrong nor fine; all failing throws', async () => {
  const world = await start();
  const look = world.createLook('errors', { targets: ['1001', '1002', '1009'] });
  world.fail(1001, 51);
  world.simulator.faults.add({ match: { host: 'origin-logging', path: /^\/1002\// }, status: 503, times: 9 });
  const found = await look();
  expect(listParts(found)).toEqual(['shop: 51 errors in 10 minutes (mostly http_timeout)']);
  expect(listEvidence(found)).toMatchSnapshot('a log fails');
  expect(found.unread).toEqual(['1002']);
  world.later(5 * minuteMs);
  world.simulator.faults.add({ match: { host: 'origin-logging' }, status: 503, times: 99 });
  await expect(look()).rejects.toMatchObject({ code: 'unavailable' });
});

test.each(['errors', 'errors-host'] as const)(
  '%s: beside enough errors those without a readable time are named',
  async (condition) => {
    const world = await start([{ Name: 'shop' }]);
    world.failUndated(1001, 240);
    world.fail(1001, 900);
    const { parts, evidence } = await world.createLook(condition, { threshold: 50 })();
    expect([parts.length, evidence.some(({ name }) => name === '240 errors')]).toEqual([1, true]);
  },
);

test.each<[string, 'errors' | 'errors-host' | 'errors-rise', (world: World) => void, string]>([
  ['few without a time', 'errors', (world) => world.failUndated(1001, 50), '50 errors not counted'],
  ['while it learns', 'errors-rise', (world) => world.failUndated(1001, 11), '11 origin errors'],
  ['one more than is fine', 'errors', (world) => world.failUndated(1001, 51), '51 origin errors without'],
  [
    'fewer than those of the morning',
    'errors',
    (world) => (world.fail(1001, 900, { ago: 300 }), world.failUndated(1001, 100)),
    '100 origin errors without',
  ],
  [
    'of one host',
    'errors-host',
    (world) => (world.fail(1001, 40), world.failUndated(1001, 11)),
    '11 origin errors',
  ],
  [
    'more than was given',
    'errors',
    ({ data }) => void (data.originErrors.hasMoreData = true),
    'shop not all checked',
  ],
  [
    'entries of another form',
    'errors',
    ({ data, now }) =>
      void data.originErrors.entries.set(`1001/${toUtcDay(now())}`, Array<never>(60).fill(5 as never)),
    '60 origin errors without',
  ],
])('%s (%s): nobody knows that all is well', async (_, condition, prepare, expected) => {
  const world = await start([{ Name: 'shop' }]);
  prepare(world);
  const look = world.createLook(condition, { threshold: 50 })();
  const said = await look.then(({ evidence }) => describeUnknown(evidence), String);
  expect(said).toContain(expected);
});

const cutLog = ({ data }: World) => void (data.originErrors.hasMoreData = true);
const unreadableZone = ({ data }: World) => void Object.assign(data.zones[0] ?? {}, { Id: null });

test.each([
  ['errors', 'the CDN cut the log', cutLog, 'update'],
  ['errors-host', 'the CDN cut the log', cutLog, 'update'],
  ['errors', 'the list has the zone in an unreadable form', unreadableZone, 'update'],
  ['errors', 'nothing is missing', () => undefined, 'close'],
] as const)('%s: an incident in which %s: %s', async (condition, _, happen, expected) => {
  const world = await start();
  const look = world.createLook(condition);
  const about = { damping: { open: [1, 1], close: 2 } } as const;
  world.fail(1001, 60, { ago: 9 });
  let { figures: open, recent } = advance({ recent: [] }, undefined, await look(), {
    ...about,
    now: world.now(),
  });
  happen(world);
  const moves: string[] = [];
  for (let check = 0; check < 2; check += 1) {
    world.later(20 * minuteMs);
    const step = advance({ recent }, open, await look(), { ...about, now: world.now() });
    ({ figures: open, recent } = step);
    moves.push(step.move);
  }
  expect(moves.at(-1)).toBe(expected);
});

test.each([
  ['errors without a time', (world: World) => world.failUndated(1001, 10)],
  ['a log that was cut', cutLog],
])('rise: with %s nobody knows that it is usual', async (_, happen) => {
  const world = await start([{ Name: 'shop' }]);
  const look = world.createLook('errors-rise', { window: 60, threshold: 150 });
  for (let day = 0; day < 4; day += 1) {
    world.fail(1001, 10);
    await look();
    world.later(dayMs);
  }
  world.fail(1001, 14);
  happen(world);
  expect(await look()).toMatchObject({ parts: [], unread: ['1001'] });
});

test('new codes: a code counts without a time', async () => {
  const world = await start([{ Name: 'shop' }]);
  const look = world.createLook('errors-new-code');
  await look();
  world.later(5 * minuteMs);
  world.failUndated(1001, 3);
  expect(listParts(await look())).toEqual(['shop: new code http_timeout']);
});

test('errors: of many zones the busiest are read, those that had errors before, and the others are named', async () => {
  const zones = Array.from({ length: 27 }, (_, nth) => ({
    Name: `z${nth}`,
    MonthlyBandwidthUsed: (nth + 1) * 1e9,
  }));
  const world = await start(zones);
  const look = world.createLook('errors');
  world.fail(1001, 60);
  const found = await look();
  expect(found.parts).toEqual([]);
  expect(world.requests(/^\/10\d\d\//)).toBe(50);
  expect(world.requests(/^\/100[12]\//)).toBe(0);
  expect(listEvidence(found)[1]).toBe(
    '2 of 27 zones: not checked: an alert covers 25 zones, those with recent errors first',
  );
  // Somebody watches the smallest zone alone.
  await world.createLook('errors', { targets: ['1001'] })();
  world.later(2 * minuteMs);
  expect((await look()).parts.map(({ id }) => id)).toEqual(['1001']);
});

test('hosts: each origin host by itself, of all zones that fetch from it', async () => {
  const origin = { OriginUrl: 'https://user:pass@Origin.example.com:8443/path' };
  const world = await start([
    { Name: 'shop', ...origin },
    { Name: 'docs', ...origin },
    { Name: 'blog', OriginUrl: 'http://other.example.com' },
    { Name: 'files', OriginUrl: '' },
  ]);
  world.fail(1001, 30);
  world.fail(1002, 21);
  world.fail(1003, 50);
  world.fail(1004, 99);
  const found = await world.createLook('errors-host')();
  expect(listParts(found)).toEqual([
    'origin.example.com: 51 errors in 10 minutes (mostly http_timeout) of 2 zones',
  ]);
  expect(found.value).toBe(51);
  expect(found.countSince?.(0, ['origin.example.com'])).toBe(51);
  const targets = ['Other.example.com', 'gone.example.com'];
  const chosen = await world.createLook('errors-host', { targets })();
  expect(listEvidence(chosen)).toEqual([
    'gone.example.com: no zone fetches from it',
    'other.example.com: 50 errors in 10 minutes (mostly http_timeout) | more than 50',
  ]);
  const gone = world.createLook('errors-host', { targets: ['gone.example.com'] });
  await expect(gone()).rejects.toThrow('No zone fetches from the hosts');
});

test('new codes: what a zone had when it was first looked at is known; each new code is told once', async () => {
  const world = await start();
  const look = world.createLook('errors-new-code');
  world.fail(1001, 5, { ago: 60 });
  expect(listEvidence(await look())).toContain('shop: learning: knows 1 code: http_timeout');
  world.later(5 * minuteMs);
  world.fail(1001, 3, { code: 'tls_handshake' });
  world.fail(1002, 1, { code: 'http_timeout' });
  const found = await look();
  expect(listParts(found).sort()).toEqual([
    'docs: new code http_timeout, 1 error when found',
    'shop: new code tls_handshake, 3 errors when found',
  ]);
  // Neither some minutes later nor on another day.
  for (const waitMs of [5 * minuteMs, dayMs]) {
    world.later(waitMs);
    world.fail(1001, 3, { code: 'tls_handshake' });
    expect((await look()).parts).toEqual([]);
  }
  // After a week without a look it learns anew.
  world.later(9 * dayMs);
  world.fail(1001, 3, { code: 'late' });
  expect((await look()).parts).toEqual([]);
});

test('new codes: an origin host stands for the zones that fetch from it', async () => {
  const world = await start([
    { Name: 'shop', OriginUrl: 'https://origin.example.com' },
    { Name: 'docs', OriginUrl: 'https://other.example.com' },
    { Name: 'blog', OriginUrl: 'https://Origin.example.com/blog' },
  ]);
  const look = world.createLook('errors-new-code', { targets: ['origin.example.com'] });
  await look();
  world.later(5 * minuteMs);
  for (const zone of [1001, 1002, 1003]) world.fail(zone, 2, { code: 'tls_handshake' });
  expect(listParts(await look()).sort()).toEqual([
    'blog: new code tls_handshake, 2 errors when found',
    'shop: new code tls_handshake, 2 errors when found',
  ]);
  world.simulator.faults.add({
    match: { path: /^\/pullzone/ },
    status: 503,
    times: Number.POSITIVE_INFINITY,
  });
  world.later(5 * minuteMs);
  await expect(look()).rejects.toMatchObject({ code: 'unavailable' });
});

test('rise: learns for three days, then compares with the same time of other days', async () => {
  const world = await start([{ Name: 'shop' }]);
  const look = world.createLook('errors-rise', { window: 60 });
  const told: string[] = [];
  for (let day = 0; day < 4; day += 1) {
    for (const ago of [90, 50, 10]) world.fail(1001, 20, { ago });
    told.push(...listEvidence(await look()));
    world.later(dayMs);
  }
  expect(told).toEqual([
    // The first look counts the day before, too.
    'shop: 40 errors in 1 hour; learning: 1 of 3 days',
    'shop: 40 errors in 1 hour; learning: 2 of 3 days',
    'shop: 40 errors in 1 hour (mostly http_timeout), usual: 40 | 120 or more: 300% of 40',
    'shop: 40 errors in 1 hour (mostly http_timeout), usual: 40 | 120 or more: 300% of 40',
  ]);
  world.fail(1001, 119);
  expect(await look()).toMatchObject({ parts: [], value: 297 });
  world.later(2 * minuteMs);
  world.fail(1001, 1);
  expect(listParts(await look())).toEqual(['shop: 120 errors in 1 hour (mostly http_timeout), usual: 40']);
});

test('rise: three errors in place of one are no incident', async () => {
  const world = await start([{ Name: 'shop' }]);
  const look = world.createLook('errors-rise', { window: 60 });
  for (let day = 0; day < 5; day += 1) {
    world.fail(1001, 1);
    await look();
    world.later(dayMs);
  }
  world.fail(1001, 29);
  expect((await look()).parts).toEqual([]);
  world.later(2 * minuteMs);
  world.fail(1001, 1);
  const found = await look();
  expect(listEvidence(found)[0]).toMatch(/^! shop: 30 errors .*usual: 1 \| 30 or more: 300% of 10$/u);
  world.later(2 * hourMs);
  expect(await look()).toMatchObject({ parts: [], value: 0 });
});
