import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { OriginErrorEntry } from '../../../../simulator/cdn/model.ts';
import type { OriginError, OriginErrors } from '../../../../src/api/origin-errors/origin-errors.ts';
import { deleteOldRows } from '../../../../src/app/jobs.ts';
import { personKey } from '../../../../src/auth/identity.ts';
import {
  BudgetSpent,
  countDay,
  type ErrorDay,
  listDaysToRead,
  rememberedDays,
  requestsPerHour,
  settleMs,
} from '../../../../src/commands/reports/accounts.ts';
import { createZoneCache } from '../../../../src/commands/zones/zone-cache.ts';
import { dayMs, hourMs, minuteMs, toUtcDay } from '../../../../src/lib/time.ts';
import type { Database } from '../../../../src/store/database.ts';
import { prepareEngines } from '../../../support/engines.ts';
import { alice, never, startAccounts } from './account-harness.ts';

const { embedded, both } = await prepareEngines();
const bob = { ...alice, userId: 'U0BOB0000' };

test('at the same time and within a minute are one request, for each account', async () => {
  const world = await startAccounts(await embedded.emptyDatabase());
  await world.link(bob);
  const [one, other, bobs] = await Promise.all([
    world.accounts.open(alice, never),
    world.accounts.open(alice, never),
    world.accounts.open(bob, never),
  ]);
  const [appId = ''] = world.simulator.data.apps.map(({ id }) => id);
  const lists = await Promise.all([one, other, one].map(({ pullZones }) => pullZones.all()));
  await Promise.all([one, other].map(({ apps }) => apps.summary(appId)));
  expect(lists.map(({ zones }) => zones.length)).toEqual([12, 12, 12]);
  expect([world.requests(/pullzone/), world.requests(/summary/)]).toEqual([1, 1]);
  await bobs.pullZones.all();
  expect(world.requests(/pullzone/)).toBe(2);
  world.later(59_000);
  await other.pullZones.all();
  expect(world.requests(/pullzone/)).toBe(2);
  world.later(2_000);
  await other.pullZones.all();
  expect(world.requests(/pullzone/)).toBe(3);
});

test('known zones are those with errors since yesterday, also at unreadable times, and those that the person saw', async () => {
  const world = await startAccounts(await embedded.emptyDatabase());
  const { originErrors } = world.simulator.data;
  originErrors.count = 0;
  const labels = { ErrorCode: 'dns_lookup', StatusCode: '502', ServerZone: 'DE' };
  const moments = { 1001: Date.parse('2026-11-20T09:00:00Z'), 1002: Number.NaN };
  for (const [id, timestamp] of Object.entries(moments))
    originErrors.entries.set(`${id}/2026-11-20`, [{ logId: id, timestamp, log: '{}', labels }]);
  const account = await world.accounts.open(alice, never);
  for (const id of ['1001', '1002', '1003']) await account.errors(id);
  const seen = new Map(['1004', '1005'].map((id) => [id, { hasErrors: id === '1004' }]));
  world.zoneLists.noted.set(personKey(alice), seen);
  const { failing, asked } = await account.knownZones();
  expect([failing, asked]).toEqual([new Set(['1001', '1002', '1004']), new Set(['1004', '1005'])]);
});

test('certificates are read with their ends alone', async () => {
  const world = await startAccounts(await embedded.emptyDatabase());
  const { pullZones } = await world.accounts.open(alice, never);
  const [certificates] = await Promise.all([pullZones.certificates(), pullZones.certificates()]);
  expect(world.requests(/pullzone/)).toBe(1);
  expect(certificates.length).toBeGreaterThan(8);
  for (const { hostname, endsAt } of certificates) {
    expect(hostname).toMatch(/\.example\.(?:com|org)$/u);
    expect(endsAt?.getTime()).toBeGreaterThan(world.now().getTime());
  }
  expect(JSON.stringify(certificates)).not.toMatch(/CANARY|BEGIN/u);
});

test('a replaced key and an end of access never see earlier reads', async () => {
  const world = await startAccounts(await embedded.emptyDatabase());
  const read = async () => (await world.accounts.open(alice, never)).pullZones.all();
  await read();
  await world.link();
  await read();
  expect(world.requests(/pullzone/)).toBe(2);
  await world.accounts.drop({ person: alice, tenant: 'T0ACME000' });
  await read();
  await world.accounts.drop({ person: undefined, tenant: 'T0ACME000' });
  await read();
  expect(world.requests(/pullzone/)).toBe(4);
});

test('a list that a job read answers commands at once', async () => {
  const world = await startAccounts(await embedded.emptyDatabase());
  await (await world.accounts.open(alice, never)).pullZones.all();
  const zoneCache = createZoneCache({ now: world.now, lists: world.zoneLists });
  const mine = zoneCache.forPerson(alice);
  expect(mine.get()?.zones).toHaveLength(12);
  // A list that a command read may be of another key.
  mine.set({ zones: [], skipped: 0, account: 'of another key' });
  expect((await (await world.accounts.open(alice, never)).pullZones.all()).zones).toHaveLength(12);
  // One for each of the two keys.
  expect(world.zoneLists.size()).toBe(2);
});

test('a person without a key gets the sentence that leads to connecting one', async () => {
  const world = await startAccounts(await embedded.emptyDatabase());
  await expect(world.accounts.open(bob, never)).rejects.toMatchObject({ offer: 'connect' });
});

describe.each(both)('on $name', ({ skip, emptyDatabase }) => {
  test.skipIf(skip)(
    'the hourly budget counts the requests of all processes, refuses more, and begins again',
    async () => {
      const database = await emptyDatabase();
      const { db } = database;
      const world = await startAccounts(database);
      const second = world.another();
      for (const accounts of [world.accounts, second]) {
        await (await accounts.open(alice, never)).pullZones.all();
      }
      const resetsAt = new Date('2026-11-20T11:00:00Z');
      expect(await db.selectFrom('read_budgets').select('requests').execute()).toEqual([{ requests: 2 }]);

      await db.updateTable('read_budgets').set({ requests: requestsPerHour }).execute();
      const late = await second.open(alice, never);
      const spent = await late.apps.summary('app').catch((error: unknown) => error);
      expect(spent).toBeInstanceOf(BudgetSpent);
      expect(spent).toMatchObject({ resetsAt });
      expect((await late.pullZones.all()).zones).toHaveLength(12);
      expect(world.requests(/summary/)).toBe(0);

      world.later(hourMs);
      await late.pullZones.all();
      const counted = await db.selectFrom('read_budgets').select('requests').orderBy('hour').execute();
      expect(counted.at(-1)).toEqual({ requests: 1 });
      world.later(dayMs + hourMs);
      await deleteOldRows(db, world.now());
      expect(await db.selectFrom('read_budgets').selectAll().execute()).toEqual([]);
    },
  );
});

const zone = '1001';

/** A zone's log, to which a test adds while the clock runs. */
async function startLog(database: Database) {
  const world = await startAccounts(database);
  const { originErrors } = world.simulator.data;
  originErrors.count = 0;
  let entries = 0;
  const add = (iso: string, code = 'dns_lookup', many = 1): void => {
    for (let n = 0; n < many; n += 1) {
      entries += 1;
      const key = `${zone}/${iso.slice(0, 10)}`;
      const log = JSON.stringify({ RequestUrl: '/api/orders/17', ErrorCode: code, StatusCode: 502 });
      const labels = { ErrorCode: code, StatusCode: '502', ServerZone: 'DE' };
      const entry: OriginErrorEntry = { logId: `id-${entries}`, timestamp: Date.parse(iso), log, labels };
      originErrors.entries.set(key, [entry, ...(originErrors.entries.get(key) ?? [])]);
    }
  };
  const look = async (accounts = world.accounts) => (await accounts.open(alice, never)).errors(zone);
  const days = () =>
    world.simulator.requests.splice(0).flatMap(({ host, path }) => {
      return host === 'origin-logging' ? [path.slice(6, 11)] : [];
    });
  return { ...world, add, look, days };
}

test('counts of a zone begin with two days, then read today alone and count what came', async () => {
  const log = await startLog(await embedded.emptyDatabase());
  log.add('2026-11-19T09:00:00Z', 'http_timeout', 3);
  log.add('2026-11-20T09:58:00Z', 'dns_lookup', 2);
  const first = await log.look();
  expect(log.days()).toEqual(['11-19', '11-20']);
  const from = Date.parse('2026-11-20T00:00:00Z');
  expect(first.since).toBe(from - dayMs);
  expect(first.sum(first.since)).toEqual({
    total: 5,
    codes: new Map([
      ['http_timeout', 3],
      ['dns_lookup', 2],
    ]),
    hasMore: false,
    partial: false,
    undated: 0,
  });
  expect(first.sum(first.since - 1).partial).toBe(true);

  log.later(5 * minuteMs);
  log.add('2026-11-20T09:57:00Z');
  log.add('2026-11-20T10:04:00Z', 'error', 4);
  const second = await log.look();
  expect(log.days()).toEqual(['11-20']);
  expect(second.sum(from).total).toBe(7);
  // What the first reading found was there for nobody knows how long.
  expect([...second.noticed]).toEqual([
    ['http_timeout', 0],
    ['dns_lookup', 0],
    ['error', log.now().getTime()],
  ]);
  expect(await log.look(log.another())).toMatchObject({ since: second.since });
  expect((await log.look(log.another())).sum(from).total).toBe(7);
});

test.each([
  ['until it has settled yesterday once more', '20T23:58', '21T00:10', ['20', '21']],
  ['then once, for what came late', '21T00:10', '21T00:20', ['20', '21']],
  ['afterwards today alone', '21T00:20', '21T00:36', ['21']],
  ['what was missed', '21T00:36', '23T08:00', ['21', '22', '23']],
])('a reading reads %s', (_, before, now, expected) => {
  const known = ['20', '21'].map((day) => ({
    day: `2026-11-${day}`,
    readAt: Date.parse(`2026-11-${before}Z`),
  }));
  const days = listDaysToRead({ known: known as ErrorDay[], at: new Date(`2026-11-${now}Z`) });
  expect(days.map(({ day }) => day.slice(-2))).toEqual(expected);
});

describe.each(both)('on $name', ({ skip, emptyDatabase }) => {
  test.skipIf(skip)(
    'counts of two processes at once count once, and so does one whose file breaks off',
    async () => {
      const log = await startLog(await emptyDatabase());
      const processes = [log.another(), log.another(), log.another()];
      const from = Date.parse('2026-11-20T00:00:00Z');
      let expected = 0;
      for (let round = 0; round < 4; round += 1) {
        log.later(2 * minuteMs);
        log.add(log.now().toISOString(), 'dns_lookup', 50);
        expected += 50;
        const counts = await Promise.all(processes.map((accounts) => log.look(accounts)));
        expect(counts.map((one) => one.sum(from).total)).toEqual(processes.map(() => expected));
        log.later(2 * minuteMs);
        log.simulator.faults.add({ match: { host: 'origin-logging' }, drop: 'mid-body' });
        await expect(log.look()).rejects.toMatchObject({ code: 'cut' });
      }
    },
  );
});

test('counts say “at least” where the CDN holds more', async () => {
  const log = await startLog(await embedded.emptyDatabase());
  log.add('2026-11-20T09:58:00Z');
  await log.look();
  log.later(5 * minuteMs);
  log.simulator.data.originErrors.hasMoreData = true;
  const counts = await log.look();
  const from = Date.parse('2026-11-20T00:00:00Z');
  expect(counts.sum(from)).toMatchObject({ total: 1, partial: true });
  expect(counts.sum(from - dayMs, from).partial).toBe(false);
});

test('counts begin again with another key, after a week, and after access ended', async () => {
  const database = await embedded.emptyDatabase();
  const { db } = database;
  const log = await startLog(database);
  const rows = async () => (await db.selectFrom('error_days').select('day').execute()).length;
  log.add('2026-11-19T09:00:00Z');
  log.moveTo('2026-11-20T12:00:00Z');
  const total = async () => {
    const counts = await log.look();
    return counts.sum(counts.since).total;
  };
  await total();
  log.moveTo('2026-11-22T12:00:00Z');
  expect(await total()).toBe(1);
  await db.updateTable('error_days').set({ fingerprint: 'another' }).execute();
  log.later(hourMs);
  expect(await total()).toBe(0);
  log.later((rememberedDays + 1) * dayMs);
  await deleteOldRows(db, log.now());
  await total();
  expect(await rows()).toBe(2);
  await log.accounts.drop({ person: { ...alice, userId: 'U0BOB0000' }, tenant: alice.teamId });
  expect(await rows()).toBe(2);
  await log.accounts.drop({ person: alice, tenant: alice.teamId });
  expect(await rows()).toBe(0);
});

test('counts reach back as far as somebody asks, and read each of those days once', async () => {
  const log = await startLog(await embedded.emptyDatabase());
  log.add('2026-11-15T09:00:00Z', 'old');
  await log.look();
  log.days();
  const since = Date.parse('2026-11-14T10:00:00Z');
  const read = async () => (await log.accounts.open(alice, never)).errors(zone, since);
  log.later(5 * minuteMs);
  const counts = await read();
  expect(log.days()).toEqual(['11-14', '11-15', '11-16', '11-17', '11-18', '11-20']);
  expect(counts.sum(since)).toMatchObject({ total: 1, partial: false });
  // An old code that is found by reaching back is not a new one.
  expect(counts.noticed.get('old')).toBe(0);
  log.later(5 * minuteMs);
  await read();
  expect(log.days()).toEqual(['11-20']);
});

const start = Date.parse('2026-11-20T00:00:00Z');
const entry = (id: string, at: number | undefined, errorCode = 'a'): OriginError => ({
  id,
  at,
  errorCode,
  statusCode: undefined,
  serverZone: undefined,
  path: () => '/a',
  details: () => undefined,
});
const logOf = (entries: readonly OriginError[]): OriginErrors => ({
  async forEach(_, __, visit) {
    for (const one of entries) await visit(one);
    return { entries: entries.length, skipped: 0, moreExist: false };
  },
});
const countLog = (entries: readonly OriginError[], about: { before?: ErrorDay; at?: number } = {}) =>
  countDay(logOf(entries), zone, '2026-11-20', {
    before: about.before,
    at: new Date(about.at ?? start + dayMs / 2),
    isNew: about.before !== undefined,
  });
const sumOf = ({ codes }: ErrorDay) =>
  Object.values(codes)
    .flat()
    .reduce((sum, [, count]) => sum + count, 0);

describe('one download of a day', () => {
  test('counts an entry once, on its own day, and names those without a time', async () => {
    const day = await countLog([
      entry('1', start),
      entry('1', start),
      entry('2', start + dayMs),
      entry('3', start - 1),
      entry('4', undefined),
      entry('5', start + dayMs - 1),
    ]);
    expect([sumOf(day), day.undated]).toEqual([2, 1]);
  });

  test('keeps what was there where the log is empty now, as a part', async () => {
    const before = await countLog([entry('1', start)]);
    const day = await countLog([], { before });
    expect([sumOf(day), day.hasMore]).toEqual([1, true]);
    const none = await countLog([], { before: await countLog([]) });
    expect(none.hasMore).toBe(false);
  });

  test('counts codes beyond forty as no code', async () => {
    const day = await countLog(Array.from({ length: 50 }, (_, nth) => entry(`${nth}`, start, `code-${nth}`)));
    expect(Object.keys(day.codes)).toHaveLength(41);
    expect(day.codes['']?.[0]?.[1]).toBe(10);
  });
});

test('every entry that arrived counts once, whenever somebody reads, and no sum falls', async () => {
  const arriving = fc.record({
    at: fc.integer({ min: 0, max: 6 * hourMs }),
    after: fc.integer({ min: 0, max: settleMs }),
  });
  const moments = fc.array(fc.integer({ min: 0, max: 8 * hourMs }), { minLength: 1, maxLength: 12 });
  const begin = start + 22 * hourMs;
  await fc.assert(
    fc.asyncProperty(fc.array(arriving, { maxLength: 40 }), moments, async (entries, readings) => {
      const log = entries.map(({ at, after }, nth) => ({
        entry: entry(`${nth}`, begin + at),
        arrives: begin + at + after,
      }));
      const days = new Map<string, ErrorDay>();
      let before = 0;
      for (const ms of [...readings, 8 * hourMs].toSorted((a, b) => a - b)) {
        const at = new Date(begin + ms);
        const there = log.filter(({ arrives }) => arrives <= at.getTime()).map((one) => one.entry);
        for (const { day, isNew } of listDaysToRead({ known: [...days.values()], at })) {
          const ofDay = there.filter((one) => toUtcDay(new Date(one.at ?? 0)) === day);
          days.set(
            day,
            await countDay(logOf([...ofDay, ...ofDay.slice(0, 5)]), zone, day, {
              before: days.get(day),
              at,
              isNew,
            }),
          );
        }
        const total = [...days.values()].reduce((sum, day) => sum + sumOf(day), 0);
        expect(total).toBe(there.length);
        expect(total).toBeGreaterThanOrEqual(before);
        before = total;
      }
    }),
  );
});
