import { ApiError } from '../../api/http/errors.ts';
import {
  countDay,
  createOriginErrorCounter,
  type OriginErrorCounts,
} from '../../api/origin-errors/counts.ts';
import { createFilter, type FilterKind, type Filters } from '../../api/origin-errors/filters.ts';
import type { OriginError, OriginErrors } from '../../api/origin-errors/origin-errors.ts';
import { createSeenIds } from '../../api/origin-errors/seen-ids.ts';
import { mapConcurrently, runConcurrently } from '../../lib/concurrency.ts';
import { hourMs, listDays, minuteMs, toUtcDay } from '../../lib/time.ts';
import type { Overview, ZoneErrors } from '../../views/origin-errors/overview.ts';
import {
  boundsOf,
  chooseParts,
  createPeriod,
  findBefore,
  type Period,
} from '../../views/origin-errors/period.ts';
import {
  encodeQuestion,
  type Question,
  type ZoneName,
  type ZoneQuestion,
} from '../../views/origin-errors/question.ts';
import { type Report, rankKinds } from '../../views/origin-errors/report.ts';
import { describeChange, nameChange } from '../../views/zones/setting-changes.ts';
import type { With } from '../define.ts';
import { loadAllZones } from '../zones/lookup.ts';
import { chooseZones } from './choose-zones.ts';
import { createPeriodTest } from './period.ts';

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

/** Counts the entries of a period and of its comparison in one pass over the logs. @throws ApiError if no day can be read */
async function countPeriods(
  originErrors: OriginErrors,
  zone: ZoneName,
  { filters, takenAt }: { readonly filters: Filters; readonly takenAt: Date },
  periods: readonly Period[],
  { atOnce, visit }: { readonly atOnce: number; readonly visit?: (entry: OriginError) => void },
): Promise<Counted[]> {
  const isWanted = createFilter(filters);
  const since = takenAt.getTime() - hourMs;
  const ids = createSeenIds();
  const days = [...new Set(periods.flatMap((period) => listDays(period.days)))];
  // An entry may be in two days' logs. Whole days are those of their logs, so the one before is counted by itself.
  const own = new Set(periods[0] && (periods[0].span ? days : listDays(periods[0].days)));
  const newCounters = () =>
    periods.map((period) => {
      const { start, length, count } = chooseParts(period);
      const counter = createOriginErrorCounter({ start, hours: count, hourLength: length, since });
      return { counter, isOfPeriod: createPeriodTest(period), all: 0, undated: 0 };
    });
  const settled = await runConcurrently(
    atOnce,
    days.map((day) => async () => {
      const counters = newCounters();
      const add = (entry: OriginError): void => {
        for (const [nth, one] of counters.entries()) {
          if (one.isOfPeriod(entry, day)) {
            one.all += 1;
            if (nth === 0) visit?.(entry);
            if (isWanted(entry)) one.counter.add(entry);
          } else if (entry.at === undefined && isWanted(entry)) one.undated += 1;
        }
      };
      const counter = { ...createOriginErrorCounter({ start: 0, hours: 0 }), add };
      const seen = own.has(day) ? ids : createSeenIds();
      return { ...(await countDay(originErrors, zone.id, day, seen, counter)), counters };
    }),
  );
  const read = new Map(days.map((day, nth) => [day, settled[nth]]));
  return periods.map((period, nth) => {
    const whole = newCounters()[nth] as ReturnType<typeof newCounters>[number];
    const found = { all: 0, undated: 0, skipped: 0, repeated: 0 };
    const incomplete: string[] = [];
    const failures: { day: string; reason: unknown }[] = [];
    for (const day of listDays(period.days)) {
      const one = read.get(day);
      if (one?.status !== 'fulfilled') {
        failures.push({ day, reason: one?.reason });
        continue;
      }
      const { counters, skipped, repeated, moreExist } = one.value;
      const part = counters[nth];
      if (part) whole.counter.merge(part.counter);
      found.all += part?.all ?? 0;
      found.undated += part?.undated ?? 0;
      found.skipped += skipped;
      found.repeated += repeated;
      if (moreExist) incomplete.push(day);
    }
    return { counts: whole.counter.result(), ...found, incomplete, failures };
  });
}

/** Whether the hour before a moment is a part of the period, and not all of it. */
function hasLastHour(period: Period, now: Date): boolean {
  const { from, to } = boundsOf(period);
  const at = now.getTime();
  return to > at - minuteMs && from < at - hourMs - minuteMs;
}

/** The cached report of a question. Call it before resolving the key. */
export function findCachedReport({ zone, ...question }: ZoneQuestion, context: With<'zoneCache'>) {
  const reports = context.zoneCache.forPerson(context.person).results<Report>('origin-errors');
  const key = encodeQuestion({ ...question, zone: { id: zone.id, name: '' } });
  return { value: reports.get(key), set: (report: Report) => reports.set(key, report) };
}

export type ReportServices = 'settingsHistory' | 'zoneCache';

/** Counts now and caches the report for the buttons. @throws ApiError if no day could be read */
export async function createReport(question: ZoneQuestion, context: With<ReportServices>): Promise<Report> {
  const cached = findCachedReport(question, context);
  const { zone, period, filters } = question;
  const { originErrors } = await context.cdn();
  const takenAt = context.now();
  const before = findBefore(period, takenAt);
  const values = createValues(filters);
  const periods = [
    period,
    ...(before ? [before.isWholeDay ? { days: createPeriod(before).days } : createPeriod(before)] : []),
  ];
  const [now, earlier] = await countPeriods(originErrors, zone, { filters, takenAt }, periods, {
    atOnce: logsAtOnce,
    visit: (entry) => values.add(entry),
  });
  if (!now) throw new Error('nothing was counted');
  const { failures, ...counted } = now;
  if (failures.length === period.days.count) throw failures[0]?.reason;
  noteErrors(zone, counted.counts.total, context);
  const lastHour = [takenAt, new Date(takenAt.getTime() - hourMs)].map(toUtcDay);
  const isUnread = failures.some(({ day }) => lastHour.includes(day));
  const report: Report = {
    ...question,
    ...counted,
    takenAt,
    values: values.found,
    undated: period.span ? counted.undated : 0,
    recent: hasLastHour(period, takenAt) && !isUnread ? counted.counts.recent : undefined,
    unread: failures.map(({ day, reason }) => ({ day, why: context.explain(reason) })),
    before: before && {
      name: before.name,
      ...(earlier && earlier.failures.length === 0
        ? {
            total: earlier.counts.total,
            codes: new Set(earlier.counts.codes.keys()),
            incomplete: earlier.incomplete.length > 0,
          }
        : {}),
    },
    origin: findOrigin(zone, context),
    change: await findChange(zone, counted.counts.first, context),
  };
  // An incomplete report is not cached, so that trying again reads again.
  if (report.unread.length === 0 && report.before?.total !== undefined) cached.set(report);
  return report;
}

/** The host that the zone fetches from, as far as the list of zones is known. */
function findOrigin({ id }: ZoneName, context: With<'zoneCache'>): string | undefined {
  const zone = context.zoneCache
    .forPerson(context.person)
    .get()
    ?.zones.find((one) => one.id === id);
  return URL.parse(zone?.originUrl ?? '')?.hostname || undefined;
}

/** A setting that changed so shortly before the first error is named beside it. */
const changeMs = 6 * hourMs;

/** The last recorded change of the zone's settings before its first error. */
async function findChange(
  { id }: ZoneName,
  firstError: number | undefined,
  { person, settingsHistory }: With<'settingsHistory'>,
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
function findNotes(context: With<'zoneCache'>) {
  const notes = context.zoneCache
    .forPerson(context.person)
    .results<Map<string, boolean>>('zones-with-errors');
  return {
    value: notes.get('') ?? new Map<string, boolean>(),
    set: (all: Map<string, boolean>) => notes.set('', all),
  };
}

function noteErrors({ id }: ZoneName, errors: number, context: With<'zoneCache'>): void {
  const notes = findNotes(context);
  notes.set(new Map([...[...notes.value].filter(([other]) => other !== id).slice(-50), [id, errors > 0]]));
}

/** Zones between two messages on the way. */
const zonesAtOnce = 8;
/** A message on the way is for reading that takes longer; Slack takes five in all. */
const messageMs = 2_000;
const maxMessages = 3;

/** The cached overview of a question. Call it before resolving the key. */
export function findCachedOverview(question: Question, context: With<'zoneCache'>) {
  const overviews = context.zoneCache.forPerson(context.person).results<Overview>('origin-errors-zones');
  const key = encodeQuestion(question);
  return { value: overviews.get(key), set: (overview: Overview) => overviews.set(key, overview) };
}

/**
 * Counts the errors of the zones that matter most. Yields what is known so far, now and then, and at last all of it. A zone
 * that cannot be read is named. Throws the read error if none can be, or if the key is refused.
 */
export async function* readOverview(
  { period, filters }: Question,
  context: With<'zoneCache'>,
): AsyncGenerator<Overview, void> {
  const question = { zone: undefined, period, filters };
  const cached = findCachedOverview(question, context);
  const { zones: all } = await loadAllZones(context);
  const notes = [...findNotes(context).value];
  const chosen = chooseZones(all, {
    failing: new Set(notes.flatMap(([id, hasErrors]) => (hasErrors ? [id] : []))),
    asked: new Set(notes.map(([id]) => id)),
  });
  const { originErrors } = await context.cdn();
  const takenAt = context.now();
  const zones: ZoneErrors[] = [];
  const unread: Overview['unread'][number][] = [];
  let failure: { readonly reason: unknown } | undefined;
  const readOrName = async ({ id, name }: ZoneName): Promise<void> => {
    try {
      const zone = { id, name };
      const [counted] = await countPeriods(originErrors, zone, { filters, takenAt }, [period], { atOnce: 1 });
      if (!counted) return;
      if (counted.failures.length > 0) throw counted.failures[0]?.reason;
      const { counts, all, undated, incomplete } = counted;
      const recent = hasLastHour(period, takenAt) ? counts.recent : undefined;
      const [mostly] = rankKinds(counts.groups);
      zones.push({
        zone,
        total: counts.total,
        all,
        recent,
        mostly,
        last: counts.last,
        hasMore: incomplete.length > 0,
        undated: period.span ? undated : 0,
      });
      if (counts.total > 0) noteErrors(zone, counts.total, context);
    } catch (error) {
      const isForAll = error instanceof ApiError && ['key_refused', 'cancelled'].includes(error.code);
      if (isForAll || context.signal.aborted) throw error;
      failure = { reason: error };
      unread.push({ zone: { id, name }, why: context.explain(error) });
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
  let saidAt = context.now().getTime();
  let said = 1;
  for (let at = 0; at < chosen.length; at += zonesAtOnce) {
    await mapConcurrently(logsAtOnce, chosen.slice(at, at + zonesAtOnce), readOrName);
    const now = context.now().getTime();
    const isLast = at + zonesAtOnce >= chosen.length;
    if (isLast || said >= maxMessages || now - saidAt < messageMs) continue;
    yield overview();
    saidAt = now;
    said += 1;
  }
  if (failure && zones.length === 0) throw failure.reason;
  const complete = overview();
  if (unread.length === 0) cached.set(complete);
  yield complete;
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
