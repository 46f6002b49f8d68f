import { ApiError } from '../../../api/http/errors.ts';
import type { ZoneSummary } from '../../../api/zones/summary.ts';
import { UserError } from '../../../errors.ts';
import { mapConcurrently } from '../../../lib/concurrency.ts';
import { dayMs } from '../../../lib/time.ts';
import { formatCount } from '../../../views/blocks/format.ts';
import { truncate } from '../../../views/blocks/text.ts';
import type { Comparison, Named, Point, Section } from '../../../views/reports/digests/post.ts';
import type {
  AlertCondition,
  AlertSubject,
  ConditionSettings,
  Evidence,
  Part,
  Targets,
  Topic,
} from '../../../views/reports/report.ts';
import type { ZoneList } from '../../zones/zone-cache.ts';
import { type AccountReads, BudgetSpent } from '../accounts.ts';

export interface CheckInput<Memory = undefined> extends ConditionSettings {
  readonly account: AccountReads;
  readonly now: Date;
  readonly called?: AlertSubject['called'];
  /** The last check that succeeded; undefined in the first. */
  readonly lookedAt: Date | undefined;
  readonly memory: Memory | undefined;
}

/**
 * One thing that an alert can fire on. A new one is an object in its subject's check and a line in `list.ts`: its form
 * fields, how it is checked, and its words. `Memory` is what it keeps from check to check, stored as JSON.
 */
export interface Condition<Name extends string, Memory = undefined> extends AlertCondition {
  readonly name: Name;
  /** Words behind `/cdn alert new` that choose it, unless those of a later condition are there, too. */
  readonly words: RegExp;
  readonly check: (input: CheckInput<Memory>) => Promise<Observation<Memory>>;
}

export interface Observation<Memory = undefined> {
  /** What fires now, the worst first. */
  readonly parts: readonly Part[];
  /** What the chart draws and “worst” compares. */
  readonly value?: number | undefined;
  /** What an incident adds up, from a moment (epoch ms) on. `fired`: names of the parts that fired in it. */
  readonly countSince?: ((from: number, fired: readonly string[]) => number) | undefined;
  /** The figures behind the decision, the nearest to the threshold first; at most thirty. */
  readonly evidence: readonly Evidence[];
  readonly memory?: Memory | undefined;
  /** Ids of parts that could not be judged now: one of an open incident stays in it. */
  readonly unread?: readonly string[] | undefined;
  /** Whether a part may be of a zone that the list lacked or that was not chosen: it is unread, too. */
  readonly isUnlisted?: ((id: string) => boolean) | undefined;
  /** Whether the zone of a part is gone: it did not recover. */
  readonly isGone?: ((id: string) => boolean) | undefined;
}

export const defineCondition = <Name extends string, Memory = undefined>(
  condition: Condition<Name, Memory>,
): typeof condition => condition;

export interface Judged extends Omit<Evidence, 'isWrong'> {
  readonly id: string;
  /** The part’s text, where that is more than `is`. */
  readonly text?: string | undefined;
  /** Undefined: the CDN did not report it, so that it neither fires nor is fine. */
  readonly isWrong: boolean | undefined;
  readonly value?: number | undefined;
}

export const mostEvidence = 30;
const mostNotes = 10;

/** What follows from figures, the worst first. `notes`: what people have to know as well, such as what was not read. */
export function observe<Memory = undefined>(
  judged: readonly Judged[],
  {
    notes = [],
    unread = [],
    ...found
  }: Partial<Omit<Observation<Memory>, 'parts' | 'evidence'>> & { readonly notes?: readonly Evidence[] },
): Observation<Memory> {
  const wrong = judged.filter(({ isWrong }) => isWrong);
  const unknown = judged.filter(({ isWrong }) => isWrong === undefined);
  const fine = judged.filter(({ isWrong }) => isWrong === false);
  const noted = notes.slice(0, mostNotes);
  const toRow = ({ name, is, wrongIf, isWrong }: Judged): Evidence => ({
    name,
    is,
    wrongIf,
    isWrong: isWrong ?? false,
    isUnknown: isWrong === undefined || undefined,
  });
  return {
    ...found,
    parts: wrong.map(({ id, name, is, text = is, value }) => ({ id, name, text, value })),
    unread: [...new Set([...unread, ...unknown.map(({ id }) => id)])],
    evidence: [
      ...[...wrong, ...unknown].slice(0, mostEvidence - noted.length).map(toRow),
      ...noted,
      ...fine.map(toRow),
    ].slice(0, mostEvidence),
  };
}

export function moreThan(
  unit: string,
  initial: number,
  { least = 1, hint }: { readonly least?: number; readonly hint?: string } = {},
) {
  return { label: 'More than', unit, initial, least, most: 1_000_000, ...(hint && { hint }) };
}

/** One subject of digests. `Figures` are what later runs compare with, `Baseline` what the last post told: stored as JSON. */
export interface DigestKind<Name extends string, Figures = never, Baseline = never> extends Topic {
  readonly name: Name;
  readonly words: RegExp;
  readonly collect: (input: CollectInput<Figures, Baseline>) => Promise<CollectResult<Figures, Baseline>>;
  /** The baseline after a silent run, if it is not what people were told before. */
  readonly keepUnreported?: (told: Baseline, found: Baseline) => Baseline;
}

export interface CollectInput<Figures, Baseline = never> {
  readonly account: AccountReads;
  readonly now: Date;
  readonly targets: Targets;
  readonly called?: AlertSubject['called'];
  readonly timeZone: string;
  /** Figures of this kind in earlier runs, newest first, at most 60. */
  readonly past: readonly Past<Figures>[];
  readonly baseline: Baseline | undefined;
}

export interface CollectResult<Figures, Baseline = never> {
  /** Absent where nothing could be read. */
  readonly section?: Section;
  readonly figures?: Figures;
  readonly baseline?: Baseline;
  readonly failures?: readonly ReadFailure[];
}

export type ReadFailure = { readonly what?: string; readonly reason: unknown };

export function compareEach<Value, Figures>(
  found: ReadParts<string, Value>,
  compare: (id: string, value: Value) => Figures,
) {
  const failures = found.failures.map(({ item: what, reason }) => ({ what, reason }));
  const isNone = found.read.length === 0 && failures.length > 0;
  return {
    compared: isNone ? undefined : found.read.map(({ item, value }) => compare(item, value)),
    failures,
  };
}

/** Requests at the same time of one check: the log of a day is up to hundreds of megabytes. */
const readsAtOnce = 4;

export interface ReadParts<Item, Value> {
  readonly read: readonly { readonly item: Item; readonly value: Value }[];
  readonly failures: readonly { readonly item: Item; readonly reason: unknown }[];
}

/** Reads each, a few at once; one that fails does not hide the others. */
export async function readEach<Item, Value>(
  items: readonly Item[],
  read: (item: Item) => Promise<Value>,
): Promise<ReadParts<Item, Value>> {
  const settled = await mapConcurrently(readsAtOnce, items, (item) =>
    read(item).then(
      (value) => ({ item, value }),
      (reason: unknown) => ({ item, reason }),
    ),
  );
  return {
    read: settled.filter((one) => 'value' in one),
    failures: settled.filter((one) => 'reason' in one),
  };
}

/**
 * The parts that could not be read, as rows.
 * @throws the failure where all failed, and a refused key or an error of the bot at once.
 */
export function explainFailures<Item>(
  { read, failures }: Pick<ReadParts<Item, unknown>, 'failures'> & { readonly read: readonly unknown[] },
  name: (item: Item) => string,
): Evidence[] {
  return failures.map(({ item, reason }) => {
    const why = describeUnread(reason);
    if (why === undefined || read.length === 0) throw reason;
    return toNote(name(item), why);
  });
}

/** @throws the failure where none could be read, and `refuse` where the CDN reports nothing to judge. */
export function judgeEach<Value>(
  facts: ReadParts<string, Value>,
  name: (id: string) => string,
  how: {
    readonly refuse: (first: Pick<Judged, 'name' | 'is'>) => UserError;
    readonly judge: (value: Value) => Omit<Judged, 'id' | 'name'>;
    readonly notes?: readonly Evidence[];
    readonly isUnlisted?: Observation['isUnlisted'];
  },
): Observation {
  const notes = [...(how.notes ?? []), ...explainFailures(facts, name)];
  const judged = facts.read
    .map(({ item, value }) => ({ id: item, name: name(item), ...how.judge(value) }))
    .toSorted((a, b) => (b.value ?? -1) - (a.value ?? -1));
  const [first] = judged;
  if (first && judged.every(({ isWrong }) => isWrong === undefined)) throw how.refuse(first);
  const unread = facts.failures.map(({ item }) => item);
  return observe(judged, { value: first?.value, unread, notes, isUnlisted: how.isUnlisted });
}

/** Why one of several could not be read; undefined for a failure that concerns all. */
function describeUnread(error: unknown): string | undefined {
  if (error instanceof BudgetSpent) return 'not checked: no requests left this hour';
  if (!(error instanceof ApiError) || error.code === 'key_refused') return undefined;
  if (error.code === 'cancelled') return 'not checked: the check took too long';
  if (error.code === 'not_found') return 'missing, or the key cannot see it';
  return error.code === 'refused' ? 'not checked: the CDN refused' : 'not checked: the CDN did not answer';
}

/** Rows of chosen zones and origin hosts that the key does not see, and of zones that could not be read. */
export function listMissing(missing: Iterable<string>, skipped = 0): Evidence[] {
  return [
    ...[...missing].map((id) =>
      /^\d+$/u.test(id)
        ? toNote(`zone ${id}`, 'not in the account')
        : toNote(truncate(id, 60), 'no zone fetches from it'),
    ),
    ...(skipped > 0 ? [toNote(formatCount(skipped, 'zone'), 'not readable in the CDN’s list')] : []),
  ];
}

/** The id of a part begins with its zone's. */
export function createIsGone({ zones, skipped }: Pick<ZoneList, 'zones' | 'skipped'>) {
  return (part: string) => skipped === 0 && !zones.some(({ id }) => id === part.split('/', 1)[0]);
}

/** An empty list may be a fault of the CDN, and what cannot be read is not none: neither says that all is well. @throws UserError */
export function assertListed<List extends { readonly zones: readonly unknown[]; readonly skipped: number }>(
  list: List,
): List {
  if (list.zones.length > 0) return list;
  if (list.skipped > 0) throw createNoneThereError(list.skipped);
  throw new UserError('The CDN lists no zones at all.', 'Check its control panel; `/cdn zones` asks again.');
}

/** `skipped`: zones in the list that could not be read. */
export function createNoneThereError(skipped = 0): UserError {
  if (skipped > 0)
    return new UserError(
      `Nothing could be checked: ${formatCount(skipped, 'zone')} in the CDN’s list cannot be read.`,
      'Look in its control panel; `/cdn zones` asks again.',
    );
  return new UserError(
    'None of this alert’s zones is still in the account.',
    'Edit the alert to choose others.',
  );
}

/** A row about what could not be judged. */
export function toNote(name: string, is: string): Evidence {
  return { name, is, isWrong: false, isUnknown: true };
}

/** A row that only explains. */
export function toFact(name: string, is: string): Evidence {
  return { name, is, isWrong: false };
}

export function nameZone({ name, id }: Pick<ZoneSummary, 'name' | 'id'>): string {
  return name === '' ? `zone ${id}` : truncate(name, 60);
}

/** The command that shows the zone of a part, whose id begins with the zone's. */
export function showZone(part: Part | undefined, otherwise: string) {
  if (!part) return { label: 'Show zones', command: otherwise };
  return { label: 'Show zone', command: `zone ${part.id.split('/', 1)[0]}` };
}

/** Of runs closer together than this (after “Run now”) the newest counts. */
export const apartMs = dayMs / 4;

export type Past<T> = { readonly at: number; readonly figures: T };

const mostPoints = 8;

/** The figures of earlier runs for one part. `pick` returns undefined where a run reported something else. */
export function findEarlier<F, T>(
  { past, now }: { readonly past: readonly Past<F>[]; readonly now: Date },
  pick: (figures: F, at: number) => T | undefined,
) {
  const all = past.flatMap(({ figures, at }): Past<T>[] => {
    const picked = at > now.getTime() ? undefined : pick(figures, at);
    return picked === undefined ? [] : [{ at, figures: picked }];
  });
  const series: Past<T>[] = [];
  for (const one of all) if ((series.at(-1)?.at ?? now.getTime()) - one.at >= apartMs) series.push(one);
  const distance = ({ at }: Past<T>): number => Math.abs(at - (now.getTime() - 7 * dayMs));
  // The run of the same weekday, a week before: clocks may have changed, and runs be late.
  const [week] = all.toSorted((a, b) => distance(a) - distance(b));
  const [previous] = all;
  const [base] = series;
  // For a weekly digest the previous run is that one: it is reported once.
  const weekBefore = week && distance(week) <= dayMs / 2 && week.at !== base?.at ? week : undefined;
  return {
    previous,
    /** When `previous` was made, as ISO text. */
    since: previous && new Date(previous.at).toISOString(),
    /** The newest that is some hours old: rates a day are counted from it. */
    base,
    /** Compares a number with the same weekday of the week before, else with the previous run. */
    compare(latest: number, read: (figures: T) => Comparison | undefined): Comparison {
      const onWeekday = weekBefore && read(weekBefore.figures)?.now;
      return { now: latest, ...chooseBefore(onWeekday, base && read(base.figures)?.now) };
    },
    /** A number in this and the runs before. */
    trend(latest: Comparison | undefined, read: (figures: T) => Comparison | undefined): Point[] {
      const earlier = series.map(({ at, figures }) => ({ at, compared: read(figures) }));
      return [{ at: now.getTime(), compared: latest }, ...earlier]
        .flatMap(({ at, compared }): Point[] => (compared ? [[at, compared.now]] : []))
        .slice(0, mostPoints)
        .toReversed();
    },
  };
}

export function chooseBefore(weekBefore: number | undefined, before: number | undefined) {
  return weekBefore === undefined ? { before } : { before: weekBefore, isWeekday: true };
}

/** Whether a number changed enough to break a silence: by a quarter, and by more than noise. */
export function hasMoved(compared: Comparison | undefined, floor: number): boolean {
  if (compared?.before === undefined) return false;
  const by = Math.abs(compared.now - compared.before);
  return by > floor && by > Math.abs(compared.before) * 0.25;
}

/** Smaller differences are noise: bytes, dollars, errors and blocked uploads a day; latency as reported. */
export const noise = { bytes: 1e9, dollars: 1, errors: 10, blocked: 5, latency: 0 } as const;

/** Undefined where none is reported: that is no zero. The sum of no parts is. */
export function sumReported(numbers: readonly (number | undefined)[]): number | undefined {
  const known = numbers.filter((one) => one !== undefined);
  return known.length === 0 && numbers.length > 0 ? undefined : known.reduce((sum, one) => sum + one, 0);
}

export const maxNamed = 10;
const longestName = 60;

export function toNamed({ id, name }: Named): Named {
  return { id, name: flattenName(name) };
}

export function flattenName(text: string): string {
  const flat = text.replaceAll(/[\p{C}\p{Z}"\\]+/gu, ' ').trim();
  return flat.length > longestName ? flat.slice(0, longestName).replace(/[\uD800-\uDBFF]$/u, '') : flat;
}
