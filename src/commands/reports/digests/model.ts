import type { JobContext } from '../../../store/queue/define-job.ts';
import type { Failure } from '../../../views/blocks/failure.ts';
import type { Accounts } from '../accounts/reads.ts';
import type { Scheduled, SchedulePorts } from '../schedules/model.ts';
import type { Schedule } from '../schedules/schedule.ts';
import type { Targets } from './kinds/kind.ts';
import type { DigestKindName, FiguresByKind } from './kinds/list.ts';

/**
 * When a digest posts: `always` (nothing changed is one line), `changed`, `new` (the same, with nothing but what is new
 * since the last post), or above a count: of origin errors, blocked uploads, failing apps and zones that need attention,
 * together.
 */
export type Threshold = 'always' | 'changed' | 'new' | { readonly above: number };

export interface DigestSubject {
  readonly kinds: readonly DigestKindName[];
  /** Ids. No zones = all of the account; no apps = those the zones are linked to. */
  readonly targets: Targets;
  /** Names of its targets by id, as they were when it was saved. */
  readonly called?: Readonly<Record<string, string>> | undefined;
  readonly only: Threshold;
  /** IANA: days in its text are days there. */
  readonly timeZone: string;
}

/** The content of the form: subjects, schedule, place. */
export interface DigestOrder {
  readonly subject: DigestSubject;
  readonly schedule: Schedule;
  readonly channel: string;
}

export type Digest = DigestOrder & Scheduled;

/** Figures and baselines of another version are not compared with: the next run is a first one. */
export const storedVersion = 1;

/** The findings of one run: plain data, stored as JSON, comparisons included, so that rendering needs nothing else. */
export interface Collected extends FiguresByKind {
  readonly version: typeof storedVersion;
  /** ISO text. */
  readonly at: string;
  /** Parts that could not be read; the rest is reported all the same. */
  readonly unread: readonly UnreadPart[];
}

export interface UnreadPart extends Pick<Failure, 'message' | 'reference'> {
  readonly kind: DigestKindName;
  /** Which zone, shield zone or app; absent: all of the kind. */
  readonly what?: string | undefined;
  /** As many more that failed. */
  readonly more: number;
}

/** The last post's figures, by kind, to name what is new. Stored as JSON, one a digest. */
export interface DigestBaseline {
  readonly version: typeof storedVersion;
  readonly byKind: Readonly<Partial<Record<DigestKindName, unknown>>>;
}

/** The basis of comparison of a run: earlier runs by the moment they were due, newest first, and the baseline. */
export interface DigestPast {
  readonly history: readonly { readonly due: Date; readonly figures: Collected }[];
  readonly baseline: DigestBaseline | undefined;
}

/** Ports of the digests' jobs and messages. */
export interface DigestPorts extends SchedulePorts {
  readonly accounts: Pick<Accounts, 'open'>;
}

export type DigestContext = JobContext<DigestPorts>;
