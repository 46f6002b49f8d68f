import { ApiError } from '../../api/http/errors.ts';
import {
  createOriginErrorCounter,
  createSeenIds,
  type OriginErrorCounts,
} from '../../api/origin-errors/counts.ts';
import { createFilter, type FilterKind, type Filters } from '../../api/origin-errors/filters.ts';
import type { OriginError, OriginErrors } from '../../api/origin-errors/origin-errors.ts';
import { mapConcurrently, runConcurrently } from '../../lib/concurrency.ts';
import { hourMs, listDays, minuteMs, toUtcDay } from '../../lib/time.ts';
import type { Overview, ZoneErrors } from '../../views/origin-errors/overview.ts';
import { chooseParts, daysOf, findBefore, type Period } from '../../views/origin-errors/period.ts';
import {
  type Question,
  writeQuestion,
  type ZoneName,
  type ZoneQuestion,
} from '../../views/origin-errors/question.ts';
import { findStart, type Report, rankKinds } from '../../views/origin-errors/report.ts';
import { describeChange, nameChange } from '../../views/zones/setting-changes.ts';
import type { Context } from '../define.ts';
import { loadAllZones } from '../zones/lookup.ts';
import { findChannelZone } from './channel-zone.ts';
import { chooseZones } from './choose-zones.ts';

/** Logs read at once; the log of a day is up to hundreds of megabytes. */
const logsAtOnce = 4;

interface Counted {
  readonly counts: OriginErrorCounts;
  /** Entries of the period, also those that the filters leave out. */
  readonly all: number;
  /** Entries without a readable time in logs of which the period is a part. */
  readonly undated: number;
  readonly skipped: number;
  readonly repeated: number;
  readonly incomplete: readonly string[];
  readonly failures: readonly { readonly day: string; readonly reason: unknown }[];
}

/** A test of the entries of a day's log. One without a time is of its day, and of no part of it. */
export function createPeriodTest(period: Period): (entry: OriginError, day: string) => boolean {
  const { from, to, isWholeDays } = period;
  const all = new Set(listDays(daysOf(period)));
  return ({ at }, day) => (isWholeDays ? all.has(day) : at !== undefined && at >= from && at < to);
}

interface CountOptions extends Pick<Question, 'filters'> {
  readonly takenAt: Date;
  readonly atOnce: number;
  /** Called with each entry of the first period. */
  readonly visit?: (entry: OriginError) => void;
}

/** Counts the entries of a period and of its comparison in one pass over the logs. */
async function countPeriods(
  originErrors: OriginErrors,
  zone: ZoneName,
  [period, ...others]: readonly [Period, ...Period[]],
  { filters, takenAt, atOnce, visit }: CountOptions,
): Promise<[Counted, ...Counted[]]> {
  const isWanted = createFilter(filters);
  const since = takenAt.getTime() - hourMs;
  const ids = createSeenIds();
  const days = [...new Set([period, ...others].flatMap((one) => listDays(daysOf(one))))];
  // An entry may be in two days' logs. Whole days are those of their logs, so the one before is counted by itself.
  const own = new Set(period.isWholeDays ? listDays(daysOf(period)) : days);
  const createPart = (one: Period) => {
    const { start, length, count } = chooseParts(one);
    const counter = createOriginErrorCounter({ start, hours: count, hourLength: length, since });
    return { counter, isOfPeriod: createPeriodTest(one), all: 0, undated: 0 };
  };
  // Counted by day, so that nothing is left of a day that breaks off.
  const countDay = async (day: string) => {
    const parts = [period, ...others].map(createPart);
    const seen = own.has(day) ? ids : createSeenIds();
    let repeated = 0;
    const read = await originErrors.forEach(zone.id, day, (entry) => {
      if (entry.id !== '' && !seen.isNew(entry.id)) {
        repeated += 1;
        return;
      }
      for (const [nth, part] of parts.entries()) {
        if (part.isOfPeriod(entry, day)) {
          part.all += 1;
          if (nth === 0) visit?.(entry);
          if (isWanted(entry)) part.counter.add(entry);
        } else if (entry.at === undefined && isWanted(entry)) part.undated += 1;
      }
    });
    return { ...read, repeated, parts };
  };
  const settled = await runConcurrently(
    atOnce,
    days.map((day) => () => countDay(day)),
  );
  const sumUp = (one: Period, nth: number): Counted => {
    const whole = createPart(one);
    const sums = { all: 0, undated: 0, skipped: 0, repeated: 0 };
    const incomplete: string[] = [];
    const failures: { day: string; reason: unknown }[] = [];
    for (const day of listDays(daysOf(one))) {
      const read = settled[days.indexOf(day)];
      if (read?.status !== 'fulfilled') {
        failures.push({ day, reason: read?.reason });
        continue;
      }
      const part = read.value.parts[nth];
      if (part) whole.counter.merge(part.counter);
      sums.all += part?.all ?? 0;
      sums.undated += part?.undated ?? 0;
      sums.skipped += read.value.skipped;
      sums.repeated += read.value.repeated;
      if (read.value.moreExist) incomplete.push(day);
    }
    // Whole days have every entry of their logs.
    const undated = one.isWholeDays ? 0 : sums.undated;
    return { counts: whole.counter.result(), ...sums, undated, incomplete, failures };
  };
  return [sumUp(period, 0), ...others.map((one, nth) => sumUp(one, nth + 1))];
}

/** Whether the hour before a moment is a part of the period, and not all of it. */
function hasLastHour({ from, to }: Period, now: Date): boolean {
  const at = now.getTime();
  return to > at - minuteMs && from < at - hourMs - minuteMs;
}

/** The cached report of a question. Call it before resolving the key. */
export function findCachedReport(question: ZoneQuestion, context: Context) {
  return findCached<Report>('origin-errors', question, context);
}

/** The cached overview of a question. Call it before resolving the key. */
export function findCachedOverview(question: Question, context: Context) {
  return findCached<Overview>('origin-errors-zones', question, context);
}

function findCached<T extends object>(kind: string, question: Question, { zoneCache, person }: Context) {
  const results = zoneCache.forPerson(person).results<T>(kind);
  const key = writeQuestion(question, { fixed: false });
  return { value: results.get(key), set: (result: T) => results.set(key, result) };
}

/** Counts now and caches the report for the buttons. @throws ApiError if no day could be read */
export async function createReport(question: ZoneQuestion, context: Context): Promise<Report> {
  const cached = findCachedReport(question, context);
  const { zone, period, filters } = question;
  const { originErrors } = await context.cdn();
  const takenAt = context.now();
  const before = findBefore(period, takenAt);
  const values = createValues(filters);
  const [{ failures, ...counted }, earlier] = await countPeriods(
    originErrors,
    zone,
    before ? [period, before] : [period],
    { filters, takenAt, atOnce: logsAtOnce, visit: (entry) => values.add(entry) },
  );
  if (failures.length === daysOf(period).count) throw failures[0]?.reason;
  const lastHour = [takenAt, new Date(takenAt.getTime() - hourMs)].map(toUtcDay);
  const isUnread = failures.some(({ day }) => lastHour.includes(day));
  const recent = hasLastHour(period, takenAt) && !isUnread ? counted.counts.recent : undefined;
  noteErrors(zone, counted.counts.total, context, Object.keys(filters).length === 0 ? recent : undefined);
  const isCompared = earlier !== undefined && earlier.failures.length === 0;
  const report: Report = {
    zone,
    period,
    filters,
    ...counted,
    takenAt,
    values: values.found,
    recent,
    unread: failures.map(({ day, reason }) => ({ day, why: context.explain(reason) })),
    before: before && {
      name: before.name,
      ...(isCompared && {
        total: earlier.counts.total,
        codes: new Set(earlier.counts.codes.keys()),
        incomplete: earlier.incomplete.length > 0,
      }),
    },
    origin: URL.parse(zone.originUrl ?? '')?.hostname || undefined,
    change: await findChange(zone, findStart(counted.counts), context),
  };
  // An incomplete report is not cached, so that trying again reads again.
  if (report.unread.length === 0 && (isCompared || !before)) cached.set(report);
  return report;
}

/** A setting that changed so shortly before the first error is named with it. */
const changeMs = 6 * hourMs;

/** The last recorded change of the zone's settings before its first error. */
async function findChange(
  { id }: ZoneName,
  firstError: number | undefined,
  { person, settingsHistory }: Context,
): Promise<Report['change']> {
  if (firstError === undefined) return undefined;
  const from = new Date(firstError - changeMs);
  const { changes } = await settingsHistory.list(person, { from, zones: [id], most: 20 });
  const last = changes.find(({ at }) => at.getTime() <= firstError);
  return last && { at: last.at.getTime(), text: `${nameChange(last)} ${describeChange(last)}` };
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

/** Zones that were asked about lately, and whether they had errors: they are read first where there are too many. */
function findNotes({ zoneCache, person }: Context) {
  const notes = zoneCache.forPerson(person).results<Map<string, Noted>>('zones-with-errors');
  return {
    value: notes.get('') ?? new Map<string, Noted>(),
    set: (all: Map<string, Noted>) => notes.set('', all),
  };
}

interface Noted {
  readonly hasErrors: boolean;
  /** In the hour before a reading, where that was read. */
  readonly recent?: { readonly errors: number; readonly at: Date } | undefined;
}

/** The errors of the last hour by zone, as this person's own answers showed them within the last ten minutes. */
export function findNotedErrors(context: Context): Map<string, number> {
  const since = context.now().getTime() - 10 * minuteMs;
  return new Map(
    [...findNotes(context).value].flatMap(([id, { recent }]) =>
      recent && recent.at.getTime() > since ? [[id, recent.errors] as const] : [],
    ),
  );
}

/** Without `errors` the zone was opened elsewhere. */
export function noteErrors(
  { id }: ZoneName,
  errors: number | undefined,
  context: Context,
  recent?: number,
): void {
  const notes = findNotes(context);
  const others = [...notes.value].filter(([other]) => other !== id).slice(-50);
  const before = notes.value.get(id);
  const hasErrors = errors === undefined ? (before?.hasErrors ?? false) : errors > 0;
  const read = recent === undefined ? before?.recent : { errors: recent, at: context.now() };
  notes.set(new Map([...others, [id, { hasErrors, recent: read }]]));
}

/** Zones between two messages on the way. */
const zonesAtOnce = 8;
/** A message on the way is for reading that takes longer; Slack takes five in all. */
const messageMs = 2_000;
const maxMessages = 3;

/**
 * Counts the errors of the zones that matter most. Yields what is known so far, now and then, and at last all of it. A zone
 * that cannot be read is named. Throws the read error if none can be, or if the key is refused.
 */
export async function* readOverview(
  { period, filters }: Question,
  context: Context,
): AsyncGenerator<Overview, void> {
  const question = { zone: undefined, period, filters };
  const cached = findCachedOverview(question, context);
  const { zones: all } = await loadAllZones(context);
  const notes = [...findNotes(context).value];
  const failedBefore = new Set(notes.flatMap(([id, { hasErrors }]) => (hasErrors ? [id] : [])));
  const own = await findChannelZone(context);
  const chosen = chooseZones(all, {
    channels: new Set(own && [own.id]),
    failing: failedBefore,
    asked: new Set(notes.map(([id]) => id)),
  });
  const { originErrors } = await context.cdn();
  const takenAt = context.now();
  const zones: ZoneErrors[] = [];
  const unread: Overview['unread'][number][] = [];
  let failure: { readonly reason: unknown } | undefined;
  const readOrName = async ({ id, name }: ZoneName): Promise<void> => {
    const zone = { id, name };
    try {
      const options = { filters, takenAt, atOnce: 1 };
      const [{ counts, all, undated, ...counted }] = await countPeriods(
        originErrors,
        zone,
        [period],
        options,
      );
      if (counted.failures.length > 0) throw counted.failures[0]?.reason;
      const recent = hasLastHour(period, takenAt) ? counts.recent : undefined;
      zones.push({
        zone,
        total: counts.total,
        all,
        recent,
        mostly: rankKinds(counts.groups)[0],
        last: counts.last,
        hasMore: counted.incomplete.length > 0,
        undated,
      });
      if (counts.total > 0 || failedBefore.has(id))
        noteErrors(zone, counts.total, context, Object.keys(filters).length === 0 ? recent : undefined);
    } catch (error) {
      const isForAll = error instanceof ApiError && ['key_refused', 'cancelled'].includes(error.code);
      if (isForAll || context.signal.aborted) throw error;
      failure = { reason: error };
      unread.push({ zone, why: context.explain(error) });
    }
  };
  const overview = (): Overview => ({
    ...question,
    takenAt,
    zones: zones.toSorted(compareUrgency),
    unread: [...unread],
    asked: chosen.length,
    of: all.length,
  });
  yield overview();
  let shownAt = context.now().getTime();
  let messages = 1;
  for (let at = 0; at < chosen.length; at += zonesAtOnce) {
    await mapConcurrently(logsAtOnce, chosen.slice(at, at + zonesAtOnce), readOrName);
    const now = context.now().getTime();
    const isLast = at + zonesAtOnce >= chosen.length;
    if (isLast || messages >= maxMessages || now - shownAt < messageMs) continue;
    yield overview();
    shownAt = now;
    messages += 1;
  }
  if (failure && zones.length === 0) throw failure.reason;
  if (unread.length === 0) cached.set(overview());
  yield overview();
}

export function isComplete({ zones, unread, asked }: Overview): boolean {
  return zones.length + unread.length === asked;
}

/** What fails now comes first. */
function compareUrgency(one: ZoneErrors, other: ZoneErrors): number {
  return (
    (other.recent ?? 0) - (one.recent ?? 0) ||
    other.total - one.total ||
    (one.zone.name < other.zone.name ? -1 : 1)
  );
}
