import { z } from 'zod';
import type { ZoneSummary } from '../../../api/zones/summary.ts';
import { UserError } from '../../../errors.ts';
import { dayMs, minuteMs, startOfDay, toUtcDay } from '../../../lib/time.ts';
import { formatInteger, pluralize } from '../../../views/blocks/format.ts';
import { truncate } from '../../../views/blocks/text.ts';
import { chooseZones, mostLogs } from '../../origin-errors/choose-zones.ts';
import { type ErrorCounts, otherCodes, rememberedDays } from '../accounts/error-days.ts';
import type { AccountReads } from '../accounts/reads.ts';
import type { Evidence, LookInput, Observation, Part } from '../alerts/conditions/condition.ts';
import {
  createNoneThereError,
  defineCondition,
  describeUnread,
  explainFailures,
  type JudgeInput,
  listMissing,
  nameZone,
  type ReadParts,
  readEach,
  toNote,
} from './check.ts';
import { measureBaseline } from './figures.ts';

interface NamedZone {
  readonly id: string;
  readonly name: string;
  /** Of its origin, where it has one. */
  readonly host: string | undefined;
}

export interface ReadZone extends NamedZone {
  readonly counts: ErrorCounts;
}

/** The counted errors of some zones. */
interface ErrorFacts {
  readonly read: readonly ReadZone[];
  readonly failures: ReadParts<NamedZone, unknown>['failures'];
  /** Zones whose logs were to be read, and zones there are. */
  readonly asked: number;
  readonly of: number;
  /** About what was not read beside `failures`. */
  readonly notes: readonly Evidence[];
}

type ListedZone = Pick<ZoneSummary, 'id' | 'name' | 'originUrl' | 'bandwidthUsed'>;

interface ReadOptions {
  /** Zone ids or origin hosts; empty = all zones. */
  readonly targets: readonly string[];
  /** Counts are needed from here on, epoch ms. */
  readonly since?: number;
  /** @throws where no further log shall be requested. */
  readonly assertTime?: () => void;
}

/**
 * Counts the errors of the chosen zones, or of all: of those that matter most, where there are too many. A log that cannot be
 * read is among `failures`. @throws ApiError, BudgetSpent; UserError where no chosen zone is there.
 */
export async function readErrors(account: AccountReads, options: ReadOptions): Promise<ErrorFacts> {
  const { zones, notes } = await listZones(account, [...new Set(options.targets)]);
  return readLogs(account, zones, { ...options, notes });
}

/** Ids are enough to read logs: chosen zones are checked although their list cannot be read. */
async function listZones(
  account: AccountReads,
  ids: readonly string[],
): Promise<{ readonly zones: readonly ListedZone[]; readonly notes: Evidence[] }> {
  try {
    const { zones: all, skipped } = await account.pullZones.all();
    if (ids.length === 0) return { zones: all, notes: listMissing([], skipped) };
    const chosen = new Set(ids.map((id) => id.trim().toLowerCase()));
    const missing = new Set(chosen);
    const zones = all.filter((zone) => {
      const found = [zone.id, readHost(zone) ?? ''].filter((one) => chosen.has(one));
      for (const one of found) missing.delete(one);
      return found.length > 0;
    });
    if (zones.length === 0) throw createNoneThereError();
    return { zones, notes: listMissing(missing, skipped) };
  } catch (error) {
    const why = describeUnread(error);
    // Which zones an origin host has is not known without the list.
    const zones = ids.filter((id) => /^\d+$/u.test(id)).map((id) => ({ id, name: '' }));
    if (zones.length === 0 || why === undefined) throw error;
    return { zones, notes: [toNote('List of zones', why)] };
  }
}

async function readLogs(
  account: AccountReads,
  zones: readonly ListedZone[],
  { since, assertTime, notes }: Omit<ReadOptions, 'targets'> & { readonly notes: readonly Evidence[] },
): Promise<ErrorFacts> {
  const failing = zones.length > mostLogs ? await account.failingZones() : undefined;
  const chosen = chooseZones(zones, failing && { failing });
  const named = chosen.map((zone) => ({ id: zone.id, name: nameZone(zone), host: readHost(zone) }));
  const { read, failures } = await readEach(named, async ({ id }) => {
    assertTime?.();
    return account.errors(id, since);
  });
  const rest = zones.length - chosen.length;
  const limit = `not checked: an alert reads ${mostLogs} logs, those with errors lately first`;
  return {
    read: read.map(({ item, value: counts }) => ({ ...item, counts })),
    failures,
    asked: chosen.length,
    of: zones.length,
    notes: [
      ...(rest > 0 ? [toNote(`${formatInteger(rest)} of ${pluralize(zones.length, 'zone')}`, limit)] : []),
      ...notes,
    ],
  };
}

/** The host of a zone's origin, in lower case; undefined where it has none. */
export function readHost({ originUrl = '' }: Pick<ZoneSummary, 'originUrl'>): string | undefined {
  return URL.parse(originUrl)?.hostname.toLowerCase() || undefined;
}

/** For alerts: what could not be read as rows. @throws the failure where nothing could be read. */
function explainFacts({ read, failures, notes }: ErrorFacts) {
  const unread = explainFailures({ read: read.map((item) => ({ item, value: item })), failures });
  return {
    read,
    unread: unread.map(({ item }) => item),
    notes: [...unread.map(({ item, why }) => toNote(item.name, why)), ...notes],
  };
}

/**
 * The errors of zones in the minutes before now. `count`: `502 errors in 10 minutes`, with `at least` where not all are known;
 * `text` adds ` (mostly http_timeout)` where one code makes up half of them.
 */
function sumWindow(zones: readonly ReadZone[], now: Date, window: number, isPartial = false) {
  const from = now.getTime() - window * minuteMs;
  const sums = zones.map(({ counts }) => counts.sum(from));
  const codes = new Map<string, number>();
  for (const sum of sums) addCounts(codes, sum.codes);
  const total = sums.reduce((all, sum) => all + sum.total, 0);
  const least = isPartial || sums.some(({ partial }) => partial) ? 'at least ' : '';
  const count = `${least}${pluralize(total, 'error')} in ${formatWindow(window)}`;
  const [[code, most] = ['', 0]] = [...codes].toSorted((a, b) => b[1] - a[1]);
  const isMostly = code !== '' && most * 2 >= total;
  return { from, total, count, text: isMostly ? `${count} (mostly ${code.slice(0, 40)})` : count };
}

export function addCounts(sums: Map<string, number>, counts: Iterable<readonly [string, number]>): void {
  for (const [name, count] of counts) sums.set(name, (sums.get(name) ?? 0) + count);
}

/** `10 minutes`, `2 hours` */
function formatWindow(minutes: number): string {
  if (minutes % 60 !== 0) return pluralize(minutes, 'minute');
  return minutes === 60 ? 'an hour' : `${formatInteger(minutes / 60)} hours`;
}

/** The log of a part, whose id begins with its zone's. */
function showErrors(part: Part | undefined) {
  return { label: 'Show errors', command: part ? `errors ${part.id.split('/', 1)[0]}` : 'errors' };
}

/**
 * Entries without a readable time may be in the window or not: where they outnumber the others, an alert that does not fire
 * does not know that all is well.
 *
 * @throws UserError
 */
function assertDated(read: readonly ReadZone[], now: Date, isFiring: boolean): Evidence[] {
  const today = startOfDay(toUtcDay(now));
  const sums = read.map(({ counts }) => counts.sum(today));
  const undated = sums.reduce((sum, one) => sum + one.undated, 0);
  const dated = sums.reduce((sum, one) => sum + one.total, 0);
  if (undated === 0) return [];
  if (!isFiring && undated >= dated)
    throw new UserError(
      `The CDN reports ${pluralize(undated, 'origin error')} of today without a time that can be read, so nobody knows how many are recent.`,
      '`/cdn errors` shows them.',
    );
  return [toNote(pluralize(undated, 'error'), 'not counted: the CDN reports no time that can be read')];
}

/** What is counted from the first check that fired until some checks did not. */
export interface RunMemory {
  readonly run?: {
    /** Epoch ms. */
    readonly since: number;
    /** Errors by zone id that are counted already. */
    readonly counted: Readonly<Record<string, number>>;
    /** Checks since it fired. */
    readonly calm: number;
  };
}

const checksToClose = 3;

/**
 * Errors that came since the last check while an alert fires, from `from` on: those that arrive late included, none
 * twice.
 */
function addUp(
  zones: readonly ReadZone[],
  about: {
    readonly isWrong: boolean;
    readonly from: number;
    readonly now: Date;
    readonly memory: RunMemory | undefined;
  },
): { readonly count: number; readonly memory: RunMemory } {
  const { isWrong, from, now } = about;
  const before = about.memory?.run;
  if (!isWrong && !before) return { count: 0, memory: {} };
  const since = before?.since ?? from;
  const calm = isWrong ? 0 : (before?.calm ?? 0) + 1;
  const counted: Record<string, number> = { ...before?.counted };
  let count = 0;
  for (const { id, counts } of zones) {
    const known = counted[id] ?? 0;
    const { total } = counts.sum(since);
    count += Math.max(0, total - known);
    counted[id] = Math.max(known, total);
  }
  if (calm >= checksToClose) return { count, memory: {} };
  // Counts are kept for eight days.
  if (now.getTime() - since < 6 * dayMs) return { count, memory: { run: { since, counted, calm } } };
  const later = Object.fromEntries(zones.map(({ id, counts }) => [id, counts.sum(now.getTime()).total]));
  return { count, memory: { run: { since: now.getTime(), counted: later, calm } } };
}

const initial = { threshold: 50, window: 10 } as const;
/** A zone with less than this share of all errors, and no more than the threshold, is not named. */
const leastShare = 0.1;

const withoutTarget = `Empty = up to ${mostLogs} zones: those with errors lately, then the busiest.`;

/** What the conditions of zones' logs share. */
const ofLogs = {
  withoutTarget,
  read: ({ account, subject }: Pick<LookInput<unknown>, 'account' | 'subject'>) =>
    readErrors(account, subject),
  next: showErrors,
} as const;

/** What the conditions share that count errors in a window, which alone damps: an error counts in it for several checks. */
const inWindow = {
  withoutTarget,
  window: { initial: initial.window },
  damping: { open: [1, 1], close: checksToClose },
  formatValue: (errors: number) => pluralize(errors, 'error'),
} as const;
const thresholdInWindow = { label: 'More than', initial: initial.threshold, least: 0, most: 1_000_000 };

/** Errors of the origins of zones, of all that are checked together. */
export const originErrors = defineCondition({
  ...ofLogs,
  ...inWindow,
  name: 'errors',
  label: 'Origin errors',
  words: /^(?!.*(?:host|code|rise|usual)).*\berrors?\b/iu,
  target: 'zones',
  threshold: {
    ...thresholdInWindow,
    unit: 'errors',
    hint: `Of all chosen zones together. ${withoutTarget}`,
  },
  describe: ({ threshold = initial.threshold, window = initial.window }) =>
    `more than ${pluralize(threshold, 'origin error')} in ${formatWindow(window)}`,
  judge(facts: ErrorFacts, { subject, now, memory }: JudgeInput<RunMemory>): Observation<RunMemory> {
    const { threshold = initial.threshold, window = initial.window } = subject;
    const { read, unread, notes } = explainFacts(facts);
    const zones = read
      .map((zone) => ({ ...zone, ...sumWindow([zone], now, window) }))
      .toSorted((a, b) => b.total - a.total);
    const together = sumWindow(read, now, window, unread.length > 0);
    const { total, from } = together;
    const isWrong = total > threshold;
    const undated = assertDated(read, now, isWrong);
    const wrongIf = `more than ${formatInteger(threshold)}${zones.length > 1 ? ' together' : ''}`;
    const rows = zones.map(({ id, name, text, total: value }) => ({
      part: { id, name, text, value },
      isWrong: isWrong && value > 0 && (value > threshold || value >= total * leastShare),
    }));
    const all = { name: `${pluralize(zones.length, 'zone')} together`, is: together.count, wrongIf, isWrong };
    return {
      parts: rows.flatMap(({ part, isWrong }) => (isWrong ? [part] : [])),
      value: total,
      ...addUp(read, { isWrong, from, now, memory }),
      unread: unread.map(({ id }) => id),
      evidence: [
        ...(zones.length > 1 ? [all] : []),
        ...undated,
        ...notes.slice(0, 10),
        ...rows.map(({ part: { name, text: is }, isWrong }) => ({ name, is, wrongIf, isWrong })),
      ].slice(0, 30),
    };
  },
  unit: 'Errors',
});

/** Errors of one origin host, of all zones that fetch from it; each host is judged by itself. */
export const hostErrors = defineCondition({
  ...inWindow,
  name: 'errors-host',
  label: 'Errors of an origin host',
  words: /^(?!.*certificate).*\bhosts?\b/iu,
  target: 'hosts',
  threshold: {
    ...thresholdInWindow,
    unit: 'errors of one host',
    hint: `Of all zones with that origin. ${withoutTarget}`,
  },
  describe: ({ threshold = initial.threshold, window = initial.window }) =>
    `more than ${pluralize(threshold, 'error')} of an origin host in ${formatWindow(window)}`,
  async read({ account, subject }: LookInput<RunMemory>): Promise<ErrorFacts> {
    const wanted = new Set(subject.targets.map((host) => host.trim().toLowerCase()));
    const { zones: all, skipped } = await account.pullZones.all();
    const zones = all.filter((zone) => {
      const host = readHost(zone);
      return host !== undefined && (wanted.size === 0 || wanted.has(host));
    });
    if (zones.length === 0)
      throw new UserError('No zone fetches from the hosts of this alert.', 'Edit the alert.');
    const absent = [...wanted].filter((host) => !zones.some((zone) => readHost(zone) === host));
    const notes = absent.map((host) => toNote(truncate(host, 60), 'no zone fetches from it'));
    return readLogs(account, zones, { notes: [...listMissing([], skipped), ...notes] });
  },
  judge(facts: ErrorFacts, { subject, now, memory }: JudgeInput<RunMemory>): Observation<RunMemory> {
    const { threshold = initial.threshold, window = initial.window } = subject;
    const { read, unread, notes } = explainFacts(facts);
    const hosts = [...Map.groupBy(read, ({ host = '' }) => host)]
      .map(([host, zones]) => {
        const isPartial = unread.some((zone) => zone.host === host);
        const { text, total, from } = sumWindow(zones, now, window, isPartial);
        const of = zones.length > 1 ? ` of ${pluralize(zones.length, 'zone')}` : '';
        const part = { id: host, name: truncate(host, 60), text: `${text}${of}`, value: total };
        return { part, zones, total, from, isWrong: total > threshold };
      })
      .toSorted((a, b) => b.total - a.total);
    const wrong = hosts.filter(({ isWrong }) => isWrong);
    const isWrong = wrong.length > 0;
    const undated = assertDated(read, now, isWrong);
    const ofRun = new Set([
      ...Object.keys(memory?.run?.counted ?? {}),
      ...wrong.flatMap(({ zones }) => zones.map(({ id }) => id)),
    ]);
    const counted = read.filter(({ id }) => ofRun.has(id));
    const wrongIf = `more than ${formatInteger(threshold)}`;
    return {
      parts: wrong.map(({ part }) => part),
      value: hosts[0]?.total,
      ...addUp(counted, { isWrong, from: hosts[0]?.from ?? now.getTime(), now, memory }),
      unread: unread.flatMap(({ host }) => host ?? []),
      evidence: [
        ...undated,
        ...notes.slice(0, 10),
        ...hosts.map(({ part: { name, text: is }, isWrong }) => ({ name, is, wrongIf, isWrong })),
      ].slice(0, 30),
    };
  },
  unit: 'Errors of the worst host',
  next: (part) => ({ label: 'Show errors', command: part ? `zones origin:${part.id}` : 'errors' }),
});

/** When the log of each zone was read last, epoch ms by zone id: what was noticed later is new. */
export const codeMemory = z.object({ zones: z.record(z.string(), z.number()) });
export type CodeMemory = z.infer<typeof codeMemory>;

/** Zones that are remembered, those read last. */
const mostRemembered = 100;

/**
 * The codes of each zone that were noticed since it was read last, and had not been there for 28 days. A zone that is read
 * for the first time has none.
 */
export function findNewCodes(read: readonly ReadZone[], before: CodeMemory | undefined) {
  const found = read.map((zone) => {
    const last = before?.zones[zone.id];
    const codes = [...zone.counts.noticed].flatMap(([code, noticed]) =>
      last !== undefined && noticed > last && code !== '' && code !== otherCodes ? [code] : [],
    );
    return { zone, codes, isLearning: last === undefined };
  });
  const asOf = read.map(({ id, counts }): [string, number] => [id, counts.asOf.getTime()]);
  const newest = Math.max(0, ...asOf.map(([, at]) => at));
  const remembered = Object.entries(before?.zones ?? {}).filter(
    ([, at]) => at > newest - rememberedDays * dayMs,
  );
  const all = [...new Map([...remembered, ...asOf])].toSorted((a, b) => b[1] - a[1]);
  return { found, memory: { zones: Object.fromEntries(all.slice(0, mostRemembered)) } };
}

/** A code that a zone did not have for four weeks: often the first sign of another kind of failure. */
export const newCodes = defineCondition({
  ...ofLogs,
  name: 'errors-new-code',
  label: 'New code of origin errors',
  words: /\bcodes?\b/iu,
  target: 'origins',
  damping: { open: [1, 1], close: 2 },
  isEvent: true,
  describe: () => 'an error code that a zone did not have for 28 days',
  judge(facts: ErrorFacts, { memory }: JudgeInput<CodeMemory>): Observation<CodeMemory> {
    const { read, notes } = explainFacts(facts);
    // That of an earlier version begins anew.
    const { found, memory: next } = findNewCodes(read, codeMemory.safeParse(memory).data);
    const parts = found.flatMap(({ zone, codes }) => codes.map((code) => describeNewCode(zone, code)));
    return {
      parts,
      count: parts.length,
      memory: next,
      evidence: [
        ...parts.map(({ name, text: is }) => ({ name, is, wrongIf: 'a new code', isWrong: true })),
        ...notes.slice(0, 10),
        ...found.map(({ zone, isLearning }) =>
          toNote(zone.name, `${isLearning ? 'learning: ' : ''}knows ${listCodes(zone)}`),
        ),
      ].slice(0, 30),
    };
  },
});

function describeNewCode({ id, name, counts }: ReadZone, code: string): Part {
  const errors = counts.sum(counts.since).codes.get(code) ?? 0;
  const text = `new code ${truncate(code, 60)}, ${pluralize(errors, 'error')} so far`;
  return { id: `${id}/${code}`, name, text, value: errors };
}

function listCodes({ counts }: ReadZone): string {
  const codes = [...counts.noticed.keys()].filter((code) => code !== '' && code !== otherCodes);
  const names = codes.slice(0, 5).map((code) => truncate(code, 30));
  if (codes.length === 0) return 'no code';
  const more = codes.length > 5 ? ` and ${codes.length - 5} more` : '';
  return `${pluralize(codes.length, 'code')}: ${names.join(', ')}${more}`;
}

const rise = { threshold: 300, window: 30, days: 7 } as const;
/** With fewer days nothing is usual. */
const leastDays = 3;
/** Errors in a window that count as usual at least, so that three in place of one are no incident. */
const leastUsual = 10;

/** Many more errors of a zone than at this time of other days. */
export const risingErrors = defineCondition({
  ...ofLogs,
  name: 'errors-rise',
  label: 'More origin errors than usual',
  words: /\brises?\b|\busual\b|\bspikes?\b|baseline/iu,
  target: 'origins',
  threshold: {
    label: 'At least',
    unit: '% of what is usual',
    initial: rise.threshold,
    least: 150,
    most: 10_000,
    hint: 'Usual is the median of the last 7 days at the same time, and 10 errors at least. It learns for 3 days.',
  },
  window: { initial: rise.window },
  damping: { open: [2, 3], close: 3 },
  describe: ({ threshold = rise.threshold, window = rise.window }) =>
    `${formatInteger(threshold)} % of the usual origin errors in ${formatWindow(window)}`,
  judge(facts: ErrorFacts, { subject, now }: JudgeInput): Observation {
    const { read, unread, notes } = explainFacts(facts);
    const { threshold = rise.threshold, window = rise.window } = subject;
    const judged = read
      .map((zone) => judgeRise(zone, { now, window, threshold }))
      .toSorted((a, b) => b.share - a.share);
    const known = judged.filter(({ isLearning }) => !isLearning);
    const undated = assertDated(
      read,
      now,
      known.some(({ evidence }) => evidence.isWrong),
    );
    return {
      parts: known.flatMap(({ part, evidence }) => (evidence.isWrong ? [part] : [])),
      value: known[0]?.share,
      unread: unread.map(({ id }) => id),
      evidence: [
        ...known.slice(0, 10).map(({ evidence }) => evidence),
        ...undated,
        ...notes.slice(0, 5),
        ...judged.flatMap(({ isLearning, evidence }) => (isLearning ? [evidence] : [])),
        ...known.slice(10).map(({ evidence }) => evidence),
      ].slice(0, 30),
    };
  },
  formatValue: (share) => `${formatInteger(share)} % of usual`,
  unit: '% of usual',
});

interface JudgedRise {
  readonly part: Part;
  readonly evidence: Evidence;
  /** Per cent of what is usual. */
  readonly share: number;
  readonly isLearning: boolean;
}

function judgeRise(
  zone: ReadZone,
  about: { readonly now: Date; readonly window: number; readonly threshold: number },
): JudgedRise {
  const { id, name, counts } = zone;
  const { now, window, threshold } = about;
  const { total, count, text: errors } = sumWindow([zone], now, window);
  const past = listUsual(counts, now, window);
  const { usual: middle, range } = measureBaseline(past, leastUsual);
  const usual = Math.max(leastUsual, middle);
  const share = Math.floor((total / usual) * 100);
  const text = `${errors}, usual: ${formatInteger(Math.round(middle))}`;
  const part = { id, name, text, value: total };
  if (past.length < leastDays) {
    const evidence = toNote(name, `${count}; learning: ${past.length} of ${leastDays} days`);
    return { part, evidence, share, isLearning: true };
  }
  // Where the days differ much from each other, so much is needed to differ from all of them.
  const byShare = Math.ceil((usual * threshold) / 100);
  const least = Math.max(byShare, Math.floor(middle + range) + 1);
  const why = `${formatInteger(threshold)} % of ${formatInteger(Math.round(usual))}`;
  const wrongIf = `${formatInteger(least)} or more: ${least === byShare ? why : 'earlier days differ much'}`;
  return { part, evidence: { name, is: text, wrongIf, isWrong: total >= least }, share, isLearning: false };
}

/** Errors in a window at the same time of earlier days, of those days that are known whole. */
function listUsual({ sum }: ErrorCounts, now: Date, window: number): number[] {
  return Array.from({ length: rise.days }, (_, nth) => {
    const end = now.getTime() - (nth + 1) * dayMs;
    return sum(end - window * minuteMs, end);
  }).flatMap(({ total, partial }) => (partial ? [] : [total]));
}
