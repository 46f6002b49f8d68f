import { countDay, createOriginErrorCounter } from '../../api/origin-errors/counts.ts';
import { createFilter, type FilterKind, type Filters } from '../../api/origin-errors/filters.ts';
import type { OriginError } from '../../api/origin-errors/origin-errors.ts';
import { createSeenIds } from '../../api/origin-errors/seen-ids.ts';
import { runConcurrently } from '../../lib/concurrency.ts';
import { hourMs, listDays, toUtcDay } from '../../lib/time.ts';
import type { Failure } from '../../views/blocks/failure.ts';
import { chooseParts, createPeriod, findBefore } from '../../views/origin-errors/period.ts';
import { encodeQuestion, type ZoneQuestion } from '../../views/origin-errors/question.ts';
import type { Report } from '../../views/origin-errors/report.ts';
import type { Context, With } from '../define.ts';
import { type FileRow, toFileRow } from './file.ts';
import { createPeriodTest, hasLastHour } from './place-entries.ts';

/** `rows`: every entry as a file shows it, if there are few enough to keep. */
export interface CountedReport extends Report {
  readonly rows: readonly FileRow[] | undefined;
}

/** Days read at once; each is one answer of up to hundreds of megabytes. */
const concurrentDays = 3;

/** The cached report of a question. Call it before resolving the key. */
export function findCachedReport({ zone, ...question }: ZoneQuestion, context: With<'zoneCache'>) {
  const reports = context.zoneCache.forPerson(context.person).results<CountedReport>('origin-errors');
  const key = encodeQuestion({ ...question, zone: { id: zone.id, name: '' } });
  return { value: reports.get(key), set: (report: CountedReport) => reports.set(key, report) };
}

/** Counts now and caches the report for the buttons. Rethrows the read error if no day could be read. */
export async function createReport(
  question: ZoneQuestion,
  context: With<'zoneCache'>,
): Promise<CountedReport> {
  const cached = findCachedReport(question, context);
  const report = await countErrors(question, context);
  // An incomplete report is not cached, so that trying again reads again.
  if (report.unread.length === 0 && report.before) cached.set(report);
  return report;
}

// About half a megabyte; a larger report is read again for its file.
const maxRows = 2_000;

async function countErrors(question: ZoneQuestion, context: Context): Promise<CountedReport> {
  const { zone, period, filters } = question;
  const { originErrors } = await context.cdn();
  const takenAt = context.now();
  const since = takenAt.getTime() - hourMs;
  const isWanted = createFilter(filters);
  const isOfPeriod = createPeriodTest(period);
  const timeBefore = createPeriod(findBefore(period));
  // Whole days are those of their logs, whatever the entries say.
  const isOfTimeBefore = createPeriodTest(period.span ? timeBefore : { days: timeBefore.days });
  const wanted = listDays(period.days);
  const daysBefore = listDays(timeBefore.days);
  const ids = createSeenIds();
  let rows: FileRow[] | undefined = [];
  const values = createValues(filters);
  const newCounter = () => {
    const { start, length, count } = chooseParts(period);
    return createOriginErrorCounter({ start, hours: count, hourLength: length, since });
  };

  const readDay = async (day: string) => {
    const counter = newCounter();
    const earlier = newCounter();
    let all = 0;
    let undated = 0;
    const add = (entry: OriginError): void => {
      const isNow = isOfPeriod(entry, day);
      if (isNow) {
        all += 1;
        values.add(entry);
      } else if (entry.at === undefined && wanted.includes(day)) undated += 1;
      if (!isWanted(entry)) return;
      if (isNow) {
        counter.add(entry);
        // Also collects the rows of the file, up to a bound.
        if (rows && rows.push(toFileRow(entry)) > maxRows) rows = undefined;
      } else if (isOfTimeBefore(entry, day)) earlier.add(entry);
    };
    // An entry may be in two days' logs. Of whole days the one before is counted by itself.
    const seen = period.span || wanted.includes(day) ? ids : createSeenIds();
    const read = await countDay(originErrors, zone.id, day, seen, { ...counter, add });
    return { ...read, counter, earlier, all, undated };
  };

  // The time before comes last, because it matters least.
  const days = [...new Set([...wanted, ...daysBefore])];
  const settled = await runConcurrently(
    concurrentDays,
    days.map((day) => () => readDay(day)),
  );
  const results = new Map(days.map((day, index) => [day, settled[index]]));
  const readOf = (day: string) => {
    const result = results.get(day);
    return result?.status === 'fulfilled' ? result.value : undefined;
  };

  const whole = newCounter();
  const earlier = newCounter();
  const unread: { day: string; why: Failure }[] = [];
  const failures = wanted.flatMap((day) => {
    const result = results.get(day);
    return result?.status === 'rejected' ? [{ day, reason: result.reason as unknown }] : [];
  });
  if (failures.length === wanted.length) throw failures[0]?.reason;
  for (const { day, reason } of failures) unread.push({ day, why: context.explain(reason) });
  const sums = { all: 0, undated: 0, skipped: 0, repeated: 0 };
  for (const day of wanted) {
    const read = readOf(day);
    if (!read) continue;
    whole.merge(read.counter);
    for (const name of ['all', 'undated', 'skipped', 'repeated'] as const) sums[name] += read[name];
  }
  for (const day of days) {
    const read = readOf(day);
    if (read) earlier.merge(read.earlier);
  }
  const counts = whole.result();
  const before = earlier.result();
  const isLastHourRead =
    hasLastHour(period, takenAt) && [takenAt.getTime(), since].every((at) => readOf(toUtcDay(new Date(at))));
  const isIncomplete = (day: string): boolean => readOf(day)?.moreExist === true;
  return {
    ...question,
    takenAt,
    counts,
    values: values.found,
    // Just after midnight (UTC) a part of the last hour is in the day before.
    recent: isLastHourRead ? counts.recent + before.recent : undefined,
    rows: unread.length === 0 ? rows : undefined,
    ...sums,
    undated: period.span ? sums.undated : 0,
    incomplete: wanted.filter(isIncomplete),
    unread,
    before: daysBefore.every(readOf)
      ? {
          day: daysBefore.at(-1) ?? '',
          total: before.total,
          codes: new Set(before.codes.keys()),
          incomplete: daysBefore.some(isIncomplete),
        }
      : undefined,
  };
}

const maxValues = 12;

/** Collects values of the kinds that are filtered by: those to type where nothing matches. */
function createValues(filters: Filters) {
  const found: Partial<Record<FilterKind, Set<string>>> = {};
  for (const kind of ['code', 'status', 'in'] as const) if (filters[kind]) found[kind] = new Set();
  const add = (kind: FilterKind, value: string | number | undefined): void => {
    const known = found[kind];
    if (known && value !== undefined && known.size < maxValues) known.add(String(value));
  };
  return {
    found,
    add({ errorCode, statusCode, serverZone }: OriginError): void {
      add('code', errorCode);
      add('status', statusCode);
      add('in', serverZone);
    },
  };
}
