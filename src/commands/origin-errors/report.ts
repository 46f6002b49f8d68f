import {
  type CountedDay,
  countDay,
  createOriginErrorCounter,
  type OriginErrorCounter,
} from '../../api/origin-errors/counts.ts';
import { createSeenIds, type SeenIds } from '../../api/origin-errors/seen-ids.ts';
import { runConcurrently } from '../../lib/concurrency.ts';
import { type DayRange, listDays, shiftDay, startOfDay } from '../../lib/time.ts';
import type { Failure } from '../../views/blocks/failure.ts';
import type { DayBefore, Report, ZoneName } from '../../views/origin-errors/report.ts';
import type { Context, With } from '../context.ts';
import { type FileRow, toFileRow } from './file.ts';

/** `rows`: every entry as a file shows it, if there are few enough to keep. */
export interface CountedReport extends Report {
  readonly rows: readonly FileRow[] | undefined;
}

/** Days read at once; each is one answer of up to hundreds of megabytes. */
const concurrentDays = 3;

/** Cached reports by their zone and days. Call it before resolving the key. */
function cachedReports({ zoneCache, person }: With<'zoneCache'>, zone: Pick<ZoneName, 'id'>, days: DayRange) {
  const reports = zoneCache.forPerson(person).results<CountedReport>('origin-errors');
  const key = `${zone.id} ${days.first} ${days.count}`;
  return { get: () => reports.get(key), set: (report: CountedReport) => reports.set(key, report) };
}

/** The cached report, if any. */
export function getCachedReport(
  zone: Pick<ZoneName, 'id'>,
  days: DayRange,
  context: With<'zoneCache'>,
): CountedReport | undefined {
  return cachedReports(context, zone, days).get();
}

/** Counts now and caches the report for the buttons. Rethrows the read error if no day could be read. */
export async function createReport(
  zone: ZoneName,
  days: DayRange,
  context: With<'zoneCache'>,
): Promise<CountedReport> {
  const cached = cachedReports(context, zone, days);
  const report = await countDays(zone, days, context);
  // An incomplete report is not cached, so that trying again reads again.
  if (report.unread.length === 0 && report.before) cached.set(report);
  return report;
}

async function countDays(zone: ZoneName, days: DayRange, context: Context): Promise<CountedReport> {
  const { originErrors } = await context.cdn();
  const takenAt = context.now();
  const wanted = listDays(days);
  const dayBefore = shiftDay(days.first, -1);
  const ids = createSeenIds();
  const newCounter = () =>
    createOriginErrorCounter({ start: startOfDay(days.first), hours: days.count * 24 });
  const kept = createRowCollector();
  const read = (day: string, ids: SeenIds) =>
    countDay(originErrors, zone.id, day, ids, day === dayBefore ? newCounter() : kept.beside(newCounter()));
  const [before, ...results] = await runConcurrently(concurrentDays, [
    // Last, because it matters least.
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
    before: before?.status === 'fulfilled' ? toDayBefore(dayBefore, before.value) : undefined,
  };
}

// About half a megabyte; a larger report is read again for its file.
const maxRows = 2_000;

/** Collects the rows of the file while entries are counted, up to a bound. */
function createRowCollector() {
  let rows: FileRow[] | undefined = [];
  return {
    rows: () => rows,
    beside: (counter: OriginErrorCounter): OriginErrorCounter => ({
      ...counter,
      add(entry) {
        counter.add(entry);
        if (rows && rows.push(toFileRow(entry)) > maxRows) rows = undefined;
      },
    }),
  };
}

function toDayBefore(day: string, { counter, moreExist }: CountedDay): DayBefore {
  const { total, codes } = counter.result();
  return { day, total, codes: new Set(codes.keys()), incomplete: moreExist };
}
