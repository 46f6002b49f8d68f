import { createSeenIds, type ReadDay, readDay, type SeenIds } from '../../api/origin-errors/count-day.ts';
import {
  createOriginErrorCounter,
  type OriginErrorCounter,
  type OriginErrorCounts,
} from '../../api/origin-errors/counts.ts';
import { createConcurrencyLimit } from '../../lib/concurrency-limit.ts';
import { type DayRange, listDays, shiftDay, startOfDay } from '../../lib/time.ts';
import type { Failure } from '../../views/blocks/failure.ts';
import { defineCacheSlot } from '../cache/result-cache.ts';
import type { Context } from '../define.ts';
import { type FileRow, toFileRow } from './file.ts';

/** The origin errors of one zone on some days, counted. */
export interface Report {
  readonly zone: ZoneName;
  readonly days: DayRange;
  readonly takenAt: Date;
  readonly counts: OriginErrorCounts;
  /** Entries that came twice, and are counted once. */
  readonly repeated: number;
  /** Entries that are none. */
  readonly skipped: number;
  /** Days of which the CDN holds more than it gave. */
  readonly incomplete: readonly string[];
  readonly unread: readonly { readonly day: string; readonly why: Failure }[];
  /** Every entry as a file shows it, where there are few enough to keep. */
  readonly rows: readonly FileRow[] | undefined;
  /** The day before the first, to compare with; undefined where it could not be read. */
  readonly before: Before | undefined;
}

export interface ZoneName {
  readonly id: string;
  readonly name: string;
}

interface Before {
  readonly day: string;
  readonly total: number;
  /** `''` stands for entries without a code. */
  readonly codes: ReadonlySet<string>;
  readonly incomplete: boolean;
}

/** Days read at once: each is one answer of up to hundreds of megabytes. */
const daysAtOnce = 3;

const reports = defineCacheSlot<Report>('origin-errors');

/** What is counted already and fresh, else counted now. */
export async function loadReport(zone: ZoneName, days: DayRange, context: Context): Promise<Report> {
  return countEntries(zone, days, context) ?? createReport(zone, days, context);
}

/** What is counted already and fresh, without asking anybody. */
export function countEntries(
  zone: Pick<ZoneName, 'id'>,
  days: DayRange,
  context: Context,
): Report | undefined {
  const shelf = context.zoneCache.of(context.person).shelf(reports);
  return shelf.peek(`${zone.id} ${days.first} ${days.count}`);
}

/** Counts afresh, and keeps what it counted for the buttons. Throws what reading threw where no day could be read. */
export async function createReport(zone: ZoneName, days: DayRange, context: Context): Promise<Report> {
  const shelf = context.zoneCache.of(context.person).shelf(reports);
  const report = await count(zone, days, context);
  // A report with a hole is not what somebody wants to see again who tries again.
  if (report.unread.length === 0 && report.before)
    shelf.keep(`${zone.id} ${days.first} ${days.count}`, report);
  return report;
}

async function count(zone: ZoneName, days: DayRange, context: Context): Promise<Report> {
  const { originErrors } = await context.cdn();
  const takenAt = context.now();
  const wanted = listDays(days);
  const dayBefore = shiftDay(days.first, -1);
  const ids = createSeenIds();
  const newCounter = () =>
    createOriginErrorCounter({ start: startOfDay(days.first), hours: days.count * 24 });
  const kept = createKept();
  const read = (day: string, ids: SeenIds) =>
    readDay(originErrors, zone.id, day, ids, day === dayBefore ? newCounter() : kept.beside(newCounter()));
  const [before, ...results] = await createConcurrencyLimit(daysAtOnce, [
    // Last, since it matters least.
    ...wanted.map((day) => () => read(day, ids)),
    () => read(dayBefore, createSeenIds()),
  ]).then((all) => [all.at(-1), ...all.slice(0, -1)]);

  const whole = newCounter();
  const unread: { day: string; why: Failure }[] = [];
  const incomplete: string[] = [];
  let skipped = 0;
  let repeated = 0;
  for (const [index, result] of results.entries()) {
    const day = wanted[index] ?? '';
    if (result?.status === 'rejected') {
      if (results.every((other) => other?.status === 'rejected')) throw result.reason;
      unread.push({ day, why: context.explain(result.reason) });
    } else if (result) {
      whole.merge(result.value.counter);
      skipped += result.value.skipped;
      repeated += result.value.repeated;
      if (result.value.moreExist) incomplete.push(day);
    }
  }
  return {
    zone,
    days,
    takenAt,
    counts: whole.result(),
    rows: unread.length === 0 ? kept.rows() : undefined,
    repeated,
    skipped,
    incomplete,
    unread,
    before: before?.status === 'fulfilled' ? comparable(dayBefore, before.value) : undefined,
  };
}

// About half a megabyte; what is more is read again when somebody wants it as a file.
const mostKept = 2_000;

/** Keeps what is counted, as a file shows it, as long as that is little. */
function createKept() {
  let rows: FileRow[] | undefined = [];
  return {
    rows: () => rows,
    beside: (counter: OriginErrorCounter): OriginErrorCounter => ({
      ...counter,
      add(entry) {
        counter.add(entry);
        if (rows && rows.push(toFileRow(entry)) > mostKept) rows = undefined;
      },
    }),
  };
}

function comparable(day: string, { counter, moreExist }: ReadDay): Before {
  const { total, codes } = counter.result();
  return { day, total, codes: new Set(codes.keys()), incomplete: moreExist };
}
