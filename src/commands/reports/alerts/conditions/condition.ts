import type { AccountReads } from '../../accounts/reads.ts';

/** The part of an alert that its condition reads. */
export interface ConditionSettings {
  /** Ids of zones, apps or shield zones, or origin hosts, as the condition takes them. Empty = the whole account. */
  readonly targets: readonly string[];
  /** In the condition's unit, where it has one. */
  readonly threshold?: number | undefined;
  /** Minutes that are counted together, where the condition has a window. */
  readonly window?: number | undefined;
}

/**
 * One thing that an alert can fire on. A new one is an object in its subject's check and a line in `list.ts`: its form
 * fields, its evaluation and its words. `Memory` is what it keeps from check to check: plain data, stored as JSON.
 */
export interface Condition<Name extends string, Memory = undefined> {
  /** The form's value, stored with the alert. */
  readonly name: Name;
  /** In the form and in lists: `Origin errors`. */
  readonly label: string;
  /** Words behind `/cdn alert new` that choose it. */
  readonly words: RegExp;
  /** What the form's “Of what” takes. `origins`: zones and origin hosts; `account`: nothing. */
  readonly target: 'zones' | 'hosts' | 'origins' | 'apps' | 'shieldZones' | 'account';
  /** The form's error where nothing is chosen; absent where it then covers the whole account. */
  readonly missingTarget?: string;
  /** The form's words for no target, where that is not everything: `Empty = up to 25 zones.` */
  readonly withoutTarget?: string;
  /** The number of the form. */
  readonly threshold?: {
    /** `More than` */
    readonly label: string;
    /** `errors`, `% of the limit` */
    readonly unit: string;
    readonly initial: number;
    readonly least: number;
    readonly most: number;
    readonly hint?: string;
  };
  /** Minutes that are counted together, where it counts in a window. */
  readonly window?: { readonly initial: number };
  /** The least minutes between two checks, where that is more than five. */
  readonly leastEvery?: number;
  /**
   * Opens an incident after `open[0]` of the last `open[1]` checks fired; closes it, and drops a part of it, after `close`
   * checks without it.
   */
  readonly damping: { readonly open: readonly [firing: number, of: number]; readonly close: number };
  /** Something happened, and is over: it ends without having to recover. */
  readonly isEvent?: true;
  /** `more than 50 origin errors in 10 minutes`, without its targets. */
  readonly describe: (subject: ConditionSettings) => string;
  /** @throws ApiError, BudgetSpent where it cannot check. */
  readonly evaluate: (input: LookInput<Memory>) => Promise<Observation<Memory>>;
  /** A value of its series: `1,204 errors`, `97 %`. */
  readonly formatValue?: (value: number) => string;
  /** The unit of its series, on the chart's axis. */
  readonly unit?: string;
  /** The next step about a part: a typed command, and the button's text. */
  readonly next: (part: Part | undefined) => { readonly label: string; readonly command: string };
}

export interface LookInput<Memory> {
  readonly account: AccountReads;
  readonly subject: ConditionSettings;
  readonly now: Date;
  /** The last check that succeeded; undefined in the first. */
  readonly lookedAt: Date | undefined;
  readonly memory: Memory | undefined;
}

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

/** A zone, an app, a hostname that fires. */
export interface Part {
  readonly id: string;
  /** Plain text, at most 60 characters. */
  readonly name: string;
  /** Plain text: `disabled`, `502 errors in 10 minutes`. */
  readonly text: string;
  readonly value?: number | undefined;
}

/** A row of *Why*: plain text. */
export interface Evidence {
  readonly name: string;
  /** `480 GB of 500 GB` */
  readonly is: string;
  /** `above 90 %`; undefined in a row that explains: it neither fires nor is fine. */
  readonly wrongIf?: string | undefined;
  readonly isWrong: boolean;
}
