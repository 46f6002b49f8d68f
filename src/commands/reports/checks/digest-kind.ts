import type { Section } from '../../../views/reports/digests/post.ts';
import type { AccountReads } from '../accounts/reads.ts';
import { readEach } from './check.ts';
import type { Past } from './figures.ts';

/** Ids that the form's “Scope” takes. `prefix` marks them in the form's options. */
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
  readonly name: Name;
  readonly label: string;
  readonly words: RegExp;
  readonly target: TargetType;
  /** The form's error where none of its targets is chosen; absent where it then covers the whole account. */
  readonly missingTarget?: string;
  /** What `Section.troubles` counts, in the plural. */
  readonly troubles: string;
  readonly collect: (input: CollectInput<Figures, Baseline>) => Promise<CollectResult<Figures, Baseline>>;
  readonly describe: (figures: Figures, timeZone: string) => Section;
  /** The baseline after a silent run: unposted changes are still to be reported. */
  readonly keepUnreported?: (before: Baseline, found: Baseline) => Baseline;
}

export interface CollectInput<Figures, Baseline = never> {
  readonly account: AccountReads;
  readonly now: Date;
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

/** Lines of a chart; the points of further parts are not stored. */
const mostCharted = 6;

/** Reads each part of a kind and compares it with earlier runs. */
export async function collectEach<Value, Part extends { readonly trend: readonly unknown[] }>(
  ids: readonly string[],
  read: (id: string) => Promise<Value>,
  compare: (id: string, value: Value) => Part,
): Promise<CollectResult<readonly Part[]>> {
  const found = await readEach(ids, read);
  const failures = found.failures.map(({ item: what, reason }) => ({ what, reason }));
  if (found.read.length === 0 && failures.length > 0) return { figures: undefined, failures };
  const parts = found.read.map(({ item, value }) => compare(item, value));
  return { figures: parts.map((part, nth) => (nth < mostCharted ? part : { ...part, trend: [] })), failures };
}
