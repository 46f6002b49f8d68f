import { ApiError } from '../../api/http/errors.ts';
import { createOriginErrorCounter, createSeenIds } from '../../api/origin-errors/counts.ts';
import { createFilter } from '../../api/origin-errors/filters.ts';
import type { OriginError, OriginErrors } from '../../api/origin-errors/origin-errors.ts';
import { tenantId } from '../../auth/identity.ts';
import type { ChannelZone } from '../../auth/names.ts';
import { mapConcurrently, runConcurrently } from '../../lib/concurrency.ts';
import { type CsvColumn, writeCsv, writeCsvHeader } from '../../lib/csv.ts';
import { writeTempFile } from '../../lib/temp-file.ts';
import { hourMs, listDays, minuteMs, toUtcDay } from '../../lib/time.ts';
import { daysOf, type Period } from '../../views/blocks/period.ts';
import { findStart, type Report } from '../../views/origin-errors/origin-errors.ts';
import type { Overview, ZoneErrors } from '../../views/origin-errors/overview.ts';
import {
  chooseParts,
  findBefore,
  hasLastHour,
  isFiltered,
  type Question,
  writeQuestion,
  type ZoneName,
  type ZoneQuestion,
} from '../../views/origin-errors/question.ts';
import type { SharedFile } from '../../views/share.ts';
import { describeChange, nameChange } from '../../views/zones/settings.ts';
import type { Context } from '../define.ts';
import { loadAllZones } from '../zones/lookup.ts';
import { chooseZones, listNoted, mostLogs, readOriginHost } from './choose-zones.ts';

const logsAtOnce = 4;

type Counted = Awaited<ReturnType<typeof countPeriods>>[number];

/** A test of the entries of a day's log. One without a time is of its day, and of no part of it. */
function createPeriodTest(period: Period): (entry: OriginError, day: string) => boolean {
  const { from, to, isWholeDays } = period;
  const all = new Set(listDays(daysOf(period)));
  return ({ at }, day) => (isWholeDays ? all.has(day) : at !== undefined && at >= from && at < to);
}

/** One pass over the logs, each entry once. `all`: before the filters; `undated`: without a readable time. */
async function countPeriods(
  originErrors: OriginErrors,
  zone: ZoneName,
  periods: readonly Period[],
  {
    filters,
    takenAt,
    atOnce,
  }: Pick<Question, 'filters'> & { readonly takenAt: Date; readonly atOnce: number },
) {
  const isWanted = createFilter(filters);
  const since = takenAt.getTime() - hourMs;
  const wanted = periods.map((period) => {
    const { start, length, count } = chooseParts(period);
    return {
      days: listDays(daysOf(period)),
      isWholeDays: period.isWholeDays,
      isOfPeriod: createPeriodTest(period),
      ids: createSeenIds(),
      createCounter: () => createOriginErrorCounter({ start, hours: count, hourLength: length, since }),
    };
  });
  const days = [...new Set(wanted.flatMap((period) => period.days))];
  // Counted by day, so that nothing is left of a day that breaks off.
  const countDay = async (day: string) => {
    const parts = wanted.map(({ createCounter }) => ({ counter: createCounter(), all: 0, undated: 0 }));
    const read = await originErrors.forEach(zone.id, day, (entry) => {
      for (const [nth, { isOfPeriod, ids }] of wanted.entries()) {
        const part = parts[nth];
        const isOfIt = isOfPeriod(entry, day);
        if (!part || (!isOfIt && entry.at !== undefined)) continue;
        if (entry.id !== '' && !ids.isNew(entry.id)) continue;
        if (isOfIt) part.all += 1;
        if (!isWanted(entry)) continue;
        if (isOfIt) part.counter.add(entry);
        if (entry.at === undefined) part.undated += 1;
      }
    });
    return { ...read, parts };
  };
  const settled = await runConcurrently(
    atOnce,
    days.map((day) => () => countDay(day)),
  );
  return wanted.map(({ days: own, isWholeDays, createCounter }, nth) => {
    const whole = createCounter();
    const sums = { all: 0, undated: 0, skipped: 0 };
    const incomplete: string[] = [];
    const unsure: string[] = [];
    const failures: { day: string; reason: unknown }[] = [];
    for (const day of own) {
      const read = settled[days.indexOf(day)];
      if (read?.status !== 'fulfilled') {
        failures.push({ day, reason: read?.reason });
        continue;
      }
      const part = read.value.parts[nth];
      if (part) whole.merge(part.counter);
      sums.all += part?.all ?? 0;
      sums.undated += part?.undated ?? 0;
      sums.skipped += read.value.skipped;
      if (read.value.moreExist) incomplete.push(day);
      if (read.value.moreExist || read.value.skipped > 0 || part?.undated) unsure.push(day);
    }
    const undated = isWholeDays ? 0 : sums.undated;
    return { counts: whole.result(), ...sums, undated, incomplete, unsure, failures };
  });
}

/** Entries of the last hour, where that is a part of the period; none only where no other entry may be of it. */
function readRecent(
  period: Period,
  { counts, failures, unsure }: Counted,
  takenAt: Date,
): number | undefined {
  if (!hasLastHour(period, takenAt)) return undefined;
  const days = new Set([takenAt, new Date(takenAt.getTime() - hourMs)].map(toUtcDay));
  const isUnknown = counts.recent === 0 && unsure.some((day) => days.has(day));
  return isUnknown || failures.some(({ day }) => days.has(day)) ? undefined : counts.recent;
}

export function findCachedReport(question: ZoneQuestion, context: Context) {
  return findCached<Report>('origin-errors', question, context);
}

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
  const periods = before ? [period, before] : [period];
  const options = { filters, takenAt, atOnce: logsAtOnce };
  const [counted, earlier] = await countPeriods(originErrors, zone, periods, options);
  if (!counted || counted.failures.length === daysOf(period).count) throw counted?.failures[0]?.reason;
  const { failures, counts } = counted;
  const recent = readRecent(period, counted, takenAt);
  noteErrors(zone, { total: counts.total, recent: isFiltered(filters) ? undefined : recent }, context);
  const compared = earlier?.failures.length === 0 ? earlier : undefined;
  const report: Report = {
    ...question,
    ...counted,
    takenAt,
    recent,
    unread: failures.map(({ day, reason }) => ({ day, why: context.explain(reason) })),
    before: before && {
      name: before.name,
      ...(compared && {
        total: compared.counts.total,
        codes: new Set(compared.counts.codes.keys()),
        incomplete: compared.incomplete.length > 0,
      }),
    },
    origin: readOriginHost(zone),
    change: await findChange(zone, findStart(counts), context),
  };
  // An incomplete report is not cached, so that trying again reads again.
  if (failures.length === 0 && (compared || !before)) cached.set(report);
  return report;
}

const changeMs = 6 * hourMs;

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

function findNotes({ zoneCache, person }: Context) {
  return zoneCache.forPerson(person).noted;
}

async function findReadErrors({ accounts, authorizer, person }: Context): Promise<Iterable<string>> {
  const linked = await authorizer.linked();
  return linked ? (await accounts.recentErrors({ person, fingerprint: linked.fingerprint })).keys() : [];
}

/** The errors of the last hour by zone, as this person's own answers showed them within the last ten minutes. */
export function findNotedErrors(context: Context): Map<string, number> {
  const since = context.now().getTime() - 10 * minuteMs;
  return new Map(
    [...findNotes(context).get()].flatMap(([id, { recent }]) =>
      recent && recent.at.getTime() > since ? [[id, recent.errors] as const] : [],
    ),
  );
}

/** Without errors the zone was opened elsewhere. */
export function noteErrors(
  { id }: ZoneName,
  { total, recent }: { readonly total?: number; readonly recent?: number | undefined },
  context: Context,
): void {
  const notes = findNotes(context);
  const all = new Map(notes.get());
  const before = all.get(id);
  all.delete(id);
  all.set(id, {
    hasErrors: total === undefined ? (before?.hasErrors ?? false) : total > 0,
    recent: recent === undefined ? before?.recent : { errors: recent, at: context.now() },
  });
  notes.set(new Map([...all].slice(-50)));
}

/** Yields first which are to be read, then all that was. Throws the read error if none can be, or if the key is refused. */
export async function* readOverview(
  { period, filters }: Question,
  context: Context,
): AsyncGenerator<Overview, void> {
  const question = { zone: undefined, period, filters };
  const cached = findCachedOverview(question, context);
  const { zones: all, skipped } = await loadAllZones(context);
  const own = await findChannelZone(context);
  const known = listNoted(findNotes(context).get());
  // Alerts and digests may have found errors in others.
  const read = all.length > mostLogs ? await findReadErrors(context) : [];
  const failing = new Set([...known.failing, ...read]);
  const chosen = chooseZones(all, { ...known, failing, channels: new Set(own && [own.id]) });
  const { originErrors } = await context.cdn();
  const takenAt = context.now();
  const about = { ...question, takenAt, asked: chosen.length, of: all.length + skipped };
  yield { ...about, zones: [], unread: [] };
  const zones: ZoneErrors[] = [];
  const unread: Overview['unread'][number][] = [];
  let failure: unknown;
  await mapConcurrently(logsAtOnce, chosen, async ({ id, name }) => {
    const zone = { id, name };
    try {
      const options = { filters, takenAt, atOnce: 1 };
      const [counted] = await countPeriods(originErrors, zone, [period], options);
      if (!counted || counted.failures.length > 0) throw counted?.failures[0]?.reason;
      const { counts, incomplete } = counted;
      const recent = readRecent(period, counted, takenAt);
      const {
        total,
        last,
        kinds: [mostly],
      } = counts;
      zones.push({
        zone,
        total,
        all: counted.all,
        recent,
        mostly,
        last,
        hasMore: incomplete.length > 0,
        undated: counted.undated + counted.skipped,
      });
      if (total > 0 || failing.has(id))
        noteErrors(zone, { total, recent: isFiltered(filters) ? undefined : recent }, context);
    } catch (error) {
      const isForAll = error instanceof ApiError && ['key_refused', 'cancelled'].includes(error.code);
      if (isForAll || context.signal.aborted) throw error;
      failure = error;
      unread.push({ zone, why: context.explain(error) });
    }
  });
  if (unread.length > 0 && zones.length === 0) throw failure;
  const byUrgency = zones.toSorted(
    (a, b) => (b.recent ?? 0) - (a.recent ?? 0) || b.total - a.total || (a.zone.name < b.zone.name ? -1 : 1),
  );
  const overview = { ...about, zones: byUrgency, unread };
  if (unread.length === 0) cached.set(overview);
  yield overview;
}

export async function findChannelZone({
  names,
  person,
  channelId,
}: Context): Promise<ChannelZone | undefined> {
  return isChannel(channelId) ? names.channelZone(tenantId(person), channelId) : undefined;
}

export function isChannel(channelId: string | undefined): channelId is string {
  return channelId !== undefined && /^[CG]/u.test(channelId);
}

const linesAtOnce = 200;

/** Each once, in the CDN's order, up to `until`. Rethrows read errors: half a file would pass for a whole one. */
export async function writeEntries(
  { zone, period, filters }: ZoneQuestion,
  kind: SharedFile,
  until: number | undefined,
  context: Context,
) {
  const { originErrors } = await context.cdn();
  const isOfPeriod = createPeriodTest(period);
  const isWanted = createFilter(filters);
  const ids = createSeenIds();
  return writeTempFile(context.tempDirectory, async (writeText) => {
    if (kind === 'csv') await writeText(writeCsvHeader(columns));
    const incomplete: string[] = [];
    const held: OriginError[] = [];
    let entries = 0;
    let skipped = 0;
    const flush = (): Promise<void> => {
      const rows = held.splice(0).map(toFileRow);
      entries += rows.length;
      const written = writeText(
        kind === 'csv' ? writeCsv(columns, rows) : rows.map((row) => `${JSON.stringify(row)}\n`).join(''),
      );
      // The next await reports a full disk; if reading failed meanwhile, none follows.
      written.catch(() => undefined);
      return written;
    };
    for (const day of listDays(daysOf(period))) {
      const read = await originErrors.forEach(zone.id, day, (entry) => {
        if (!isWanted(entry)) return;
        if (entry.at === undefined && !period.isWholeDays) skipped += 1;
        if (!isOfPeriod(entry, day)) return;
        if (until !== undefined && (entry.at ?? 0) > until) return;
        if (entry.id !== '' && !ids.isNew(entry.id)) return;
        held.push(entry);
        return held.length < linesAtOnce ? undefined : flush();
      });
      await flush();
      skipped += read.skipped;
      if (read.moreExist) incomplete.push(day);
    }
    return entries > 0 ? { entries, skipped, incomplete } : undefined;
  });
}

function toFileRow(entry: OriginError) {
  const { at, errorCode, statusCode, serverZone, id } = entry;
  const { requestUrl, message } = entry.details() ?? {};
  const time = at === undefined ? undefined : new Date(at).toISOString();
  return { time, errorCode, statusCode, serverZone, url: requestUrl, message, logId: id };
}

type FileRow = ReturnType<typeof toFileRow>;

const columns = (
  [
    'time',
    'errorCode',
    'statusCode',
    'serverZone',
    'url',
    'message',
    'logId',
  ] as const satisfies (keyof FileRow)[]
).map((name): CsvColumn<FileRow> => ({ name, cell: (row) => row[name] }));
