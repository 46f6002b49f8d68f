import { ApiError } from '../../../api/http/errors.ts';
import type { ZoneSummary } from '../../../api/zones/summary.ts';
import { UserError } from '../../../errors.ts';
import { mapConcurrently } from '../../../lib/concurrency.ts';
import { formatCount } from '../../../views/blocks/format.ts';
import { truncate } from '../../../views/blocks/text.ts';
import type { Section } from '../../../views/reports/digests/post.ts';
import type {
  AlertCondition,
  ConditionSettings,
  Evidence,
  Part,
  Targets,
  Topic,
} from '../../../views/reports/report.ts';
import type { AccountReads } from '../accounts/reads.ts';
import { BudgetSpent } from '../accounts/reads.ts';
import type { Past } from './figures.ts';

/** What a check reads: the account, for the targets that were chosen. */
interface ReadInput {
  readonly account: AccountReads;
  readonly now: Date;
}

/**
 * One thing that an alert can fire on. A new one is an object in its subject's check and a line in `list.ts`: its form
 * fields, its evaluation and its words. `Memory` is what it keeps from check to check: plain data, stored as JSON.
 */
export interface Condition<Name extends string, Memory = undefined> extends AlertCondition {
  readonly name: Name;
  /** Words behind `/cdn alert new` that choose it. */
  readonly words: RegExp;
  /** @throws ApiError, BudgetSpent where it cannot check. */
  readonly evaluate: (
    input: Omit<CheckInput<Memory>, keyof ConditionSettings> & ConditionSettings,
  ) => Promise<Observation<Memory>>;
}

/** Settings of a condition, with the initial values of those that nobody chose. */
export type Settings = Required<{
  readonly [Name in keyof ConditionSettings]: NonNullable<ConditionSettings[Name]>;
}>;

export interface CheckInput<Memory> extends ReadInput, Settings {
  /** The last check that succeeded; undefined in the first. */
  readonly lookedAt: Date | undefined;
  readonly memory: Memory | undefined;
}
/** What a condition is judged by, apart from the facts that were read. */
export type JudgeInput<Memory = undefined> = Omit<CheckInput<Memory>, 'account'>;

/** What a check found. */
export interface Observation<Memory = undefined> {
  /** What fires now, the worst first. */
  readonly parts: readonly Part[];
  /** The number that the chart draws and “worst” compares; undefined for parts without a number. */
  readonly value?: number | undefined;
  /** What an incident adds up: happened since the last check. */
  readonly count?: number | undefined;
  /** The figures behind the decision, the nearest to the threshold first; at most thirty. */
  readonly evidence: readonly Evidence[];
  readonly memory?: Memory | undefined;
  /** Ids of parts that could not be judged now: one of an open incident stays in it. */
  readonly unread?: readonly string[] | undefined;
}

export type Definition<Name extends string, Facts, Memory> = Omit<
  Condition<Name, Memory>,
  'describe' | 'evaluate'
> & {
  readonly describe: (settings: Settings) => string;
  readonly read: (input: CheckInput<Memory>) => Promise<Facts>;
  /** Pure: the same facts and input give the same verdict. */
  readonly judge: (
    facts: Facts,
    input: JudgeInput<Memory>,
  ) => Observation<Memory> | Promise<Observation<Memory>>;
};

/** Completes a condition: it reads, then judges. */
export function defineCondition<Name extends string, Facts, Memory = undefined>(
  definition: Definition<Name, Facts, Memory>,
) {
  const complete = <Chosen extends ConditionSettings>(chosen: Chosen): Chosen & Settings => ({
    ...chosen,
    threshold: chosen.threshold ?? definition.threshold?.initial ?? 0,
    window: chosen.window ?? definition.window?.initial ?? 0,
  });
  return {
    ...definition,
    describe: (settings: ConditionSettings) => definition.describe(complete(settings)),
    async evaluate(chosen) {
      const input = complete(chosen);
      return definition.judge(await definition.read(input), input);
    },
  } satisfies Condition<Name, Memory>;
}

/** A figure against its condition. */
export interface Judged extends Omit<Evidence, 'isWrong'> {
  readonly id: string;
  /** Of the part, where that is more than `is`. */
  readonly text?: string | undefined;
  /** Undefined: the CDN did not report it, so that it neither fires nor is fine. */
  readonly isWrong: boolean | undefined;
  readonly value?: number | undefined;
}

export const mostEvidence = 30;
const mostNotes = 10;

/** What follows from figures, the worst first. `notes`: what else is to be known, such as what was not read. */
export function observe<Memory = undefined>(
  judged: readonly Judged[],
  {
    notes = [],
    unread = [],
    ...found
  }: Partial<Omit<Observation<Memory>, 'parts' | 'evidence'>> & { readonly notes?: readonly Evidence[] },
): Observation<Memory> {
  const isOpen = ({ isWrong }: Judged): boolean => isWrong !== false;
  const open = [
    ...judged.filter(({ isWrong }) => isWrong),
    ...judged.filter(({ isWrong }) => isWrong === undefined),
  ];
  const noted = notes.slice(0, mostNotes);
  const toRow = ({ name, is, wrongIf, isWrong = false }: Judged): Evidence => ({
    name,
    is,
    wrongIf,
    isWrong,
  });
  return {
    ...found,
    parts: judged.flatMap(({ id, name, is, text = is, isWrong, value }) =>
      isWrong ? [{ id, name, text, value }] : [],
    ),
    unread: [...new Set([...unread, ...open.flatMap(({ id, isWrong }) => (isWrong ? [] : id))])],
    evidence: [
      ...open.slice(0, mostEvidence - noted.length).map(toRow),
      ...noted,
      ...judged.filter((one) => !isOpen(one)).map(toRow),
    ].slice(0, mostEvidence),
  };
}

/** The threshold of a condition that fires above a number. */
export function moreThan(
  unit: string,
  initial: number,
  { least = 1, hint }: { readonly least?: number; readonly hint?: string } = {},
) {
  return { label: 'More than', unit, initial, least, most: 1_000_000, ...(hint && { hint }) };
}

/**
 * One subject that a digest can report. `Figures` is what a run found: plain data, stored as JSON for later runs to
 * compare with. `Baseline` is what the digest remembers of what it last posted, to name what is new.
 */
export interface DigestKind<Name extends string, Figures, Baseline = never> extends Topic {
  readonly name: Name;
  readonly words: RegExp;
  readonly collect: (input: CollectInput<Figures, Baseline>) => Promise<CollectResult<Figures, Baseline>>;
  readonly describe: (figures: Figures, timeZone: string) => Section;
  /** The baseline after a silent run: unposted changes are still to be reported. */
  readonly keepUnreported?: (before: Baseline, found: Baseline) => Baseline;
}

export interface CollectInput<Figures, Baseline = never> extends ReadInput {
  readonly targets: Targets;
  /** Figures of this kind in earlier runs, newest first, at most 60. */
  readonly past: readonly Past<Figures>[];
  /** Those of the run a week before, within half a day; may be the newest of `past`. */
  readonly weekBefore: Past<Figures> | undefined;
  readonly baseline: Baseline | undefined;
  readonly patienceMs: number;
}

export interface CollectResult<Figures, Baseline = never> {
  readonly figures: Figures | undefined;
  /** Absent: the baseline stays unchanged. */
  readonly baseline?: Baseline | undefined;
  readonly failures?: readonly ReadFailure[];
}

/** A part that could not be read. `what` as people call it: a zone's name, an app's id; absent for all of the kind. */
export type ReadFailure = { readonly what?: string; readonly reason: unknown };

/** What a digest says of each part that was read. */
export function compareEach<Value, Figures>(
  found: ReadParts<string, Value>,
  compare: (id: string, value: Value) => Figures,
): CollectResult<readonly Figures[]> {
  const failures = found.failures.map(({ item: what, reason }) => ({ what, reason }));
  const isNone = found.read.length === 0 && failures.length > 0;
  return {
    figures: isNone ? undefined : found.read.map(({ item, value }) => compare(item, value)),
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
 * The parts that could not be read, as rows. `name`: what an item is called.
 *
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

/** Why one of several could not be read; undefined for a failure that concerns all. */
export function describeUnread(error: unknown): string | undefined {
  if (error instanceof BudgetSpent) return 'not checked: no requests are left in this hour';
  if (!(error instanceof ApiError) || error.code === 'key_refused') return undefined;
  if (error.code === 'cancelled') return 'not checked: the check took too long';
  if (error.code === 'not_found') return 'not there, or the key does not see it';
  return error.code === 'refused' ? 'not checked: the CDN refused' : 'not checked: the CDN did not answer';
}

/** Rows of chosen zones, or origin hosts, that the key does not see, and of zones that could not be read. */
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

/** An empty list may be a fault of the CDN: it does not say that all is well. @throws UserError */
export function assertListed<List extends { readonly zones: readonly unknown[]; readonly skipped: number }>(
  list: List,
): List {
  if (list.zones.length > 0 || list.skipped > 0) return list;
  throw new UserError('The CDN lists no zones at all.', 'Check its control panel; `/cdn zones` asks again.');
}

export function createNoneThereError(): UserError {
  return new UserError(
    'None of this alert’s zones is still in the account.',
    'Choose others: edit the alert.',
  );
}

/** A row that explains: it does not fire and is not fine. */
export function toNote(name: string, is: string): Evidence {
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
