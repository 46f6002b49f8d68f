import { runConcurrently } from '../../../../lib/concurrency.ts';
import type { MessageBlock } from '../../../../views/blocks/blocks.ts';
import type { Maybe } from '../../../../views/blocks/text.ts';
import type { ZoneList } from '../../../zones/zone-lists.ts';
import type { ReportReads } from '../../accounts/reads.ts';
import type { Past } from '../figures.ts';

/** Ids that the form's “Of what” takes. `prefix` marks them in the form's options. */
export const targetTypes = {
  zones: { prefix: 'zone', noun: 'Zone', id: /^\d{1,19}$/u },
  shieldZones: { prefix: 'shield', noun: 'Shield zone', id: /^\d{1,19}$/u },
  apps: { prefix: 'app', noun: 'App', id: /^[\w-]{1,100}$/u },
} as const;
export type TargetType = keyof typeof targetTypes;
export type Targets = Readonly<Record<TargetType, readonly string[]>>;

/**
 * One subject that a digest can report. `Figures` is what a run found: plain data, stored as JSON for later runs to
 * compare with. `Baseline` is what the digest remembers of what it last posted, to name what is new.
 */
export interface DigestKind<Name extends string, Figures, Baseline = never> {
  /** The form's value, and the key that figures and baseline are stored under. */
  readonly name: Name;
  readonly label: string;
  /** Words behind `/cdn digest new` that choose it. */
  readonly words: RegExp;
  readonly target: TargetType;
  /** The form's error where none of its targets is chosen; absent where it then covers the whole account. */
  readonly missingTarget?: string;
  /** Nouns of what `countTroubles` counts, in the plural. */
  readonly troubles: string;
  readonly collect: (input: CollectInput<Figures, Baseline>) => Promise<CollectResult<Figures, Baseline>>;
  /** The number that “only above N” compares. */
  readonly countTroubles: (figures: Figures) => number;
  /** The changes worth a line of the post. */
  readonly listFindings: (figures: Figures) => readonly Finding[];
  /** When the digest last reported each of its parts, as ISO text; undefined for a part reported the first time. */
  readonly listSince: (figures: Figures) => readonly (string | undefined)[];
  readonly renderLine: (figures: Figures, timeZone: string) => NumberLine;
  /** `reported`: what findings above it are about. The detail does not repeat that. */
  readonly renderDetail: (
    figures: Figures,
    reported: ReadonlySet<unknown>,
    timeZone: string,
  ) => Detail | undefined;
  /** Smaller figures where they take too much room: the next run then compares less by name. */
  readonly shrink?: (figures: Figures) => Figures;
  /** The baseline after a run that stayed silent: what was not posted is still to be reported. */
  readonly keepUnreported?: (before: Baseline, found: Baseline) => Baseline;
}

export interface CollectInput<Figures, Baseline = never> {
  readonly cdn: ReportReads;
  /** The moment that the digest speaks of. */
  readonly now: Date;
  readonly targets: Targets;
  /** Every zone of the account. Requested at most once a run, whichever kinds ask. */
  readonly zoneList: () => Promise<ZoneList>;
  /** Figures of this kind in earlier runs, newest first, at most 60. */
  readonly past: readonly Past<Figures>[];
  /** Those of the run a week before, within half a day; may be the newest of `past`. */
  readonly weekBefore: Past<Figures> | undefined;
  /** Undefined in a first run. */
  readonly baseline: Baseline | undefined;
  /** After so long no further log is requested. */
  readonly patienceMs: number;
}

export interface CollectResult<Figures, Baseline = never> {
  /** Undefined where nothing could be read. */
  readonly figures: Figures | undefined;
  /** Absent: the baseline stays as it is. */
  readonly baseline?: Baseline | undefined;
  readonly failures?: readonly ReadFailure[];
}

/** A part that could not be read. `what` as people call it: a zone's name, an app's id; absent for all of the kind. */
export type ReadFailure = { readonly what?: string; readonly reason: unknown };

/** Why a part was not read although nothing failed. */
export class OutOfTime extends Error {
  override readonly name = 'OutOfTime';
}

/** One thing that changed. */
export interface Finding {
  /** The lowest is the most urgent. */
  readonly weight: number;
  /** mrkdwn, with at most so many names. Absent where the number line says it already. */
  readonly line?: (mostNames: number) => string;
  /** It alone makes up the total of its kind, so that the total's comparison would say the same again. */
  readonly isWholeTotal?: boolean;
  readonly about?: unknown;
  /** That part is reported the first time: it is worth a line, but did not change. */
  readonly isFirst?: boolean;
}

/** A kind in numbers: what there is, and how it compares. */
export type NumberLine = { readonly number: string; readonly compared: string };

/** A message of a digest's thread, below what changed. */
export interface Detail {
  /** The kind's label unless told otherwise. */
  readonly title?: string;
  /** mrkdwn, below what changed: what the table does not tell. */
  readonly lines: readonly Maybe<string>[];
  /** One table, or nothing. */
  readonly table: readonly MessageBlock[];
  readonly note: string;
  /** One chart, or nothing. Of all kinds' charts the one that explains most stands in the channel. */
  readonly chart: readonly MessageBlock[];
}

const requestsAtOnce = 3;

/** Reads something of each item, three at once; one that fails costs the others nothing. */
export async function readEach<Item, Result>(
  items: readonly Item[],
  nameOf: (item: Item) => string,
  read: (item: Item) => Promise<Result>,
): Promise<{ readonly results: Result[] | undefined; readonly failures: ReadFailure[] }> {
  const failures: ReadFailure[] = [];
  const settled = await runConcurrently(
    requestsAtOnce,
    items.map((item) => () => read(item)),
  );
  const results = settled.flatMap((one, index) => {
    if (one.status === 'fulfilled') return [one.value];
    failures.push({ what: nameOf(items[index] as Item), reason: one.reason });
    return [];
  });
  // Undefined where each failed.
  return { results: results.length === 0 && items.length > 0 ? undefined : results, failures };
}
