import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import type { OriginError, OriginErrors } from '../../../../../src/api/origin-errors/origin-errors.ts';
import { countNew } from '../../../../../src/commands/reports/accounts/error-counts.ts';
import {
  createPosition,
  type StoredPosition,
  slackMs,
} from '../../../../../src/commands/reports/accounts/errors/position.ts';
import {
  createTally,
  otherCodes,
  type StoredTally,
} from '../../../../../src/commands/reports/accounts/errors/tally.ts';
import { dayMs, hourMs, minuteMs, toUtcDay } from '../../../../../src/lib/time.ts';

const start = Date.parse('2026-11-20T10:00:00Z');
const begin: StoredPosition = { boundary: start - dayMs, newest: start - dayMs, recent: [] };

function makeEntry(at: number, id: string, path = '/a', errorCode = 'dns_lookup'): OriginError {
  return { id, at, errorCode, statusCode: 502, path: () => path, details: () => undefined };
}

/** A position that is stored and read back, as between two looks. */
function look(stored: StoredPosition, now: number, log: readonly OriginError[]) {
  const position = createPosition(stored, now);
  const fresh = log.filter((entry) => position.isNew(entry));
  return { fresh, stored: JSON.parse(JSON.stringify(position.advance())) as StoredPosition };
}

const minute = (most: number) => fc.integer({ min: 0, max: most * minuteMs });

test('entries that arrive within the slack count once, in any order and with any number of looks', () => {
  const arriving = fc.record({
    // Clocks of servers may be a little ahead.
    at: minute(120),
    after: fc.integer({ min: -4 * minuteMs, max: slackMs }),
    hasId: fc.boolean(),
  });
  fc.assert(
    fc.property(
      fc.array(arriving, { maxLength: 60 }),
      fc.array(minute(130), { maxLength: 12 }),
      fc.infiniteStream(fc.integer()),
      (entries, looks, order) => {
        const log = entries.map(({ at, after, hasId }, index) => ({
          arrives: start + at + after,
          entry: makeEntry(start + at, hasId ? `id-${index}` : '', `/${index}`),
        }));
        let stored = begin;
        const counted: string[] = [];
        for (const now of [...looks, 300 * minuteMs].map((ms) => start + ms).sort((a, b) => a - b)) {
          const there = log
            .filter(({ arrives }) => arrives <= now)
            .map(({ entry }) => ({ entry, rank: order.next().value }))
            .sort((a, b) => a.rank - b.rank)
            .map(({ entry }) => entry);
          // The same entry twice in one file, too.
          const found = look(stored, now, [...there, ...there.slice(0, 3)]);
          counted.push(...found.fresh.map((entry) => entry.path() ?? ''));
          stored = found.stored;
        }
        expect(new Set(counted)).toEqual(new Set(log.map(({ entry }) => entry.path())));
        expect(counted).toHaveLength(log.length);
      },
    ),
  );
});

test('around midnight every entry of both days counts once, whenever somebody looks', async () => {
  const midnight = Date.parse('2026-11-21T00:00:00Z');
  const arriving = fc.record({ at: minute(120), after: fc.integer({ min: 0, max: slackMs }) });
  await fc.assert(
    fc.asyncProperty(
      fc.array(arriving, { maxLength: 30 }),
      fc.array(minute(150), { maxLength: 12 }),
      async (entries, looks) => {
        const log = entries.map(({ at, after }, index) => {
          const entry = makeEntry(midnight + at - hourMs, `id-${index}`);
          return { entry, arrives: midnight + at - hourMs + after };
        });
        let known: Parameters<typeof countNew>[2];
        let total = 0;
        for (const ms of [...looks, 150 * minuteMs].toSorted((a, b) => a - b)) {
          const now = new Date(midnight + ms - hourMs);
          const originErrors: OriginErrors = {
            async forEach(_, day, visit) {
              for (const { entry, arrives } of log)
                if (arrives <= now.getTime() && toUtcDay(new Date(entry.at ?? 0)) === day) await visit(entry);
              return { entries: 0, skipped: 0, moreExist: false };
            },
          };
          const { counts, result } = await countNew(originErrors, '1001', known, now);
          total = result.sum(result.since).total;
          if (counts) known = { ...(JSON.parse(JSON.stringify(counts)) as typeof counts), lookedAt: now };
          else if (known) known = { ...known, lookedAt: now };
        }
        expect(total).toBe(log.length);
      },
    ),
  );
});

test('a time far ahead waits, and does not hide what is now; an entry without a time is left out', () => {
  const { at: _, ...timeless } = makeEntry(0, 'timeless');
  const ahead = makeEntry(start + hourMs, 'ahead');
  const first = look(begin, start, [ahead, timeless, makeEntry(start, 'one')]);
  expect(first.fresh.map(({ id }) => id)).toEqual(['one']);
  const log = [ahead, timeless, makeEntry(start, 'one'), makeEntry(start - 10 * minuteMs, 'late')];
  const second = look(first.stored, start + minuteMs, log);
  expect(second.fresh.map(({ id }) => id)).toEqual(['late']);
  const third = look(second.stored, start + hourMs, log);
  expect(third.fresh.map(({ id }) => id)).toEqual(['ahead']);
});

test('a burst of ids costs slack, not room', () => {
  const burst = Array.from({ length: 100_000 }, (_, index) =>
    makeEntry(start - Math.floor(index / 10_000) * minuteMs, `id-${index}`),
  );
  const first = look(begin, start, burst);
  expect(first.fresh).toHaveLength(100_000);
  expect(JSON.stringify(first.stored).length).toBeLessThan(400_000);
  expect(look(first.stored, start + minuteMs, burst).fresh).toEqual([]);
  const late = [makeEntry(start - 14 * minuteMs, 'too late'), makeEntry(start - minuteMs, 'late')];
  expect(look(first.stored, start + minuteMs, late).fresh.map(({ id }) => id)).toEqual(['late']);
});

test('counts go by five minutes, after two days by hours, and after eight they go', () => {
  let stored: StoredTally | undefined;
  const sums: number[] = [];
  for (const day of [0, 3, 7, 9]) {
    const tally = createTally(stored, start + day * dayMs);
    if (day === 0) for (let n = 0; n < 12; n += 1) tally.add('a', start - n * 5 * minuteMs);
    stored = JSON.parse(JSON.stringify(tally.toStored())) as StoredTally;
    sums.push(stored.codes[0]?.[3].length ?? -1);
  }
  expect(sums).toEqual([24, 4, 4, 0]);
});

test('more codes than forty are counted together', () => {
  const tally = createTally(undefined, start);
  for (let n = 0; n < 50; n += 1) tally.add(`code-${n}`, start + n);
  expect(tally.codes.size).toBe(41);
  expect(tally.codes.get(otherCodes)).toMatchObject({ first: start + 40, last: start + 49 });
});
