import {
  type CountedDay,
  countDay,
  createOriginErrorCounter,
  type OriginErrorCounter,
} from '../../api/origin-errors/counts.ts';
import { createSeenIds } from '../../api/origin-errors/seen-ids.ts';
import { runConcurrently } from '../../lib/concurrency.ts';
import { type DayRange, hourMs, listDays, shiftDay, startOfDay, toUtcDay } from '../../lib/time.ts';
import type { Failure } from '../../views/blocks/failure.ts';
import type { DayBefore, Report, ZoneName } from '../../views/origin-errors/report.ts';
import type { Context, With } from '../define.ts';
import { type FileRow, toFileRow } from './file.ts';

/** `rows`: every entry as a file shows it, if there are few enough to keep. */
export interface CountedReport extends Report {
  readonly rows: readonly FileRow[] | undefined;
}

/** Days read at once; each is one answer of up to hundreds of megabytes. */
const concurrentDays = 3;

/** The cached report of a zone and days. Call it before resolving the key. */
export function findCachedReport(zone: { readonly id: string }, days: DayRange, context: With<'zoneCache'>) {
  const reports = context.zoneCache.forPerson(context.person).results<CountedReport>('origin-errors');
  const key = `${zone.id} ${days.first} ${days.count}`;
  return { value: reports.get(key), set: (report: CountedReport) => reports.set(key, report) };
}

/** Counts now and caches the report for the buttons. Rethrows the read error if no day could be read. */
export async function createReport(
  zone: ZoneName,
  days: DayRange,
  context: With<'zoneCache'>,
): Promise<CountedReport> {
  const cached = findCachedReport(zone, days, context);
  const report = await countDays(zone, days, context);
  // An incomplete report is not cached, so that trying again reads again.
  if (report.unread.length === 0 && report.before) cached.set(report);
  return report;
}

// About half a megabyte; a larger report is read again for its file.
const maxRows = 2_000;

async function countDays(zone: ZoneName, days: DayRange, context: Context): Promise<CountedReport> {
  const { originErrors } = await context.cdn();
  const takenAt = context.now();
  const wanted = listDays(days);
  const dayBefore = shiftDay(days.first, -1);
  const ids = createSeenIds();
  let rows: FileRow[] | undefined = [];
  const since = takenAt.getTime() - hourMs;
  const newCounter = () =>
    createOriginErrorCounter({ start: startOfDay(days.first), hours: days.count * 24, since });
  /** Also collects the rows of the file, up to a bound. */
  const newRowCounter = (): OriginErrorCounter => {
    const counter = newCounter();
    const add: OriginErrorCounter['add'] = (entry) => {
      counter.add(entry);
      if (rows && rows.push(toFileRow(entry)) > maxRows) rows = undefined;
    };
    return { ...counter, add };
  };
  const results = await runConcurrently(concurrentDays, [
    ...wanted.map((day) => () => countDay(originErrors, zone.id, day, ids, newRowCounter())),
    // Last, because it matters least.
    () => countDay(originErrors, zone.id, dayBefore, createSeenIds(), newCounter()),
  ]);
  const before = results.pop();

  const whole = newCounter();
  const unread: { day: string; why: Failure }[] = [];
  const incomplete: string[] = [];
  let skipped = 0;
  let repeated = 0;
  for (const [index, result] of results.entries()) {
    const day = wanted[index] ?? '';
    if (result.status === 'rejected') {
      if (results.every(({ status }) => status === 'rejected')) throw result.reason;
      unread.push({ day, why: context.explain(result.reason) });
      continue;
    }
    whole.merge(result.value.counter);
    skipped += result.value.skipped;
    repeated += result.value.repeated;
    if (result.value.moreExist) incomplete.push(day);
  }
  const counts = whole.result();
  const earlier = before?.status === 'fulfilled' ? before.value : undefined;
  const hasDay = (day: string): boolean =>
    results[wanted.indexOf(day)]?.status === 'fulfilled' || (day === dayBefore && earlier !== undefined);
  const hasLastHour =
    wanted.includes(toUtcDay(takenAt)) &&
    [takenAt.getTime(), since].every((at) => hasDay(toUtcDay(new Date(at))));
  // Just after midnight (UTC) a part of the last hour is in the day before.
  const recent = counts.recent + (earlier?.counter.result().recent ?? 0);
  return {
    zone,
    days,
    takenAt,
    counts,
    recent: hasLastHour ? recent : undefined,
    rows: unread.length === 0 ? rows : undefined,
    repeated,
    skipped,
    incomplete,
    unread,
    before: earlier && toDayBefore(dayBefore, earlier),
  };
}

function toDayBefore(day: string, { counter, moreExist }: CountedDay): DayBefore {
  const { total, codes } = counter.result();
  return { day, total, codes: new Set(codes.keys()), incomplete: moreExist };
}
