import { ApiError } from '../../../api/http/errors.ts';
import type { ZoneSummary } from '../../../api/zones/summary.ts';
import { UserError } from '../../../errors.ts';
import { mapConcurrently } from '../../../lib/concurrency.ts';
import { formatCount } from '../../../views/blocks/format.ts';
import { truncate } from '../../../views/blocks/text.ts';
import { BudgetSpent } from '../accounts/budget.ts';
import type {
  Condition,
  ConditionSettings,
  Evidence,
  LookInput,
  Observation,
  Part,
} from '../alerts/conditions/condition.ts';

/** Settings of a condition, with the initial values of those that nobody chose. */
export interface JudgeSettings extends ConditionSettings {
  readonly threshold: number;
  readonly window: number;
}
/** What a condition is judged by, apart from the facts that were read. */
export type JudgeInput<Memory = undefined> = Omit<LookInput<Memory>, 'account' | 'subject'> & JudgeSettings;

type Definition<Name extends string, Facts, Memory> = Omit<
  Condition<Name, Memory>,
  'describe' | 'evaluate'
> & {
  readonly describe: (settings: JudgeSettings) => string;
  readonly read: (input: LookInput<Memory>) => Promise<Facts>;
  /** Pure: the same facts and input give the same verdict. */
  readonly judge: (
    facts: Facts,
    input: JudgeInput<Memory>,
  ) => Observation<Memory> | Promise<Observation<Memory>>;
};

/** One thing that an alert can fire on: it reads, then judges. */
export function defineCondition<Name extends string, Facts, Memory = undefined>(
  definition: Definition<Name, Facts, Memory>,
) {
  const complete = ({ targets, threshold, window }: ConditionSettings): JudgeSettings => ({
    targets,
    threshold: threshold ?? definition.threshold?.initial ?? 0,
    window: window ?? definition.window?.initial ?? 0,
  });
  return {
    ...definition,
    describe: (settings: ConditionSettings) => definition.describe(complete(settings)),
    evaluate: async (input: LookInput<Memory>) =>
      definition.judge(await definition.read(input), { ...input, ...complete(input.subject) }),
  } satisfies Condition<Name, Memory>;
}

/** The threshold of a condition that fires above a number. */
export function moreThan(
  unit: string,
  initial: number,
  { least = 1, hint }: { readonly least?: number; readonly hint?: string } = {},
) {
  return { label: 'More than', unit, initial, least, most: 1_000_000, ...(hint && { hint }) };
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
 * The parts that could not be read, with the reason in words.
 *
 * @throws the failure where all failed, and a refused key or an error of the bot at once.
 */
export function explainFailures<Item>({ read, failures }: ReadParts<Item, unknown>) {
  return failures.map(({ item, reason }): { readonly item: Item; readonly why: string } => {
    const why = describeUnread(reason);
    if (why === undefined || read.length === 0) throw reason;
    return { item, why };
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

/** Rows of chosen zones that the key does not see, and of zones that could not be read. */
export function listMissing(missing: Iterable<string>, skipped: number): Evidence[] {
  return [
    ...[...missing].map((id) => toNote(`zone ${id}`, 'not in the account')),
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
