import type { Person } from '../auth/identity.ts';
import type { Targets } from './kinds/kind.ts';
import type { DigestKindName, FiguresByKind } from './kinds/list.ts';
import type { Schedule } from './schedule.ts';

/**
 * When a digest posts: `always` (nothing changed is one line), `changed`, or above a count: of origin errors, blocked
 * uploads, failing apps and zones that need attention, together.
 */
export type Threshold = 'always' | 'changed' | { readonly above: number };

export interface DigestSubject {
  readonly kinds: readonly DigestKindName[];
  /** Ids. No zones = all of the account; no apps = those the zones are linked to. */
  readonly targets: Targets;
  readonly only: Threshold;
  /** IANA: days in its text are days there. */
  readonly timeZone: string;
}

/** What a person fills into the form: what to report, when, where. */
export interface DigestOrder {
  readonly subject: DigestSubject;
  readonly schedule: Schedule;
  readonly channel: string;
}

export interface Digest extends DigestOrder {
  readonly id: string;
  readonly tenant: string;
  /** It runs with this person's key. */
  readonly owner: Person;
  readonly revision: number;
  readonly paused: { readonly reason: PauseReason; readonly by: string | undefined } | undefined;
  readonly deletedAt: Date | undefined;
  readonly nextDue: Date | undefined;
}

/** Why a digest does not run: `by-hand` by a person, `new` until its channel was told, else by the bot. */
export type PauseReason =
  | 'by-hand'
  | 'new'
  | 'owner-gone'
  | 'key-missing'
  | 'key-refused'
  | 'right-lost'
  | 'channel-not-allowed'
  | 'channel-archived'
  | 'channel-gone'
  | 'bot-removed'
  | 'uninstalled'
  | 'failing';

/** Whether others with the right can take it over: wherever no person paused it. */
export function canBeTakenOver(reason: PauseReason): boolean {
  return reason !== 'by-hand' && reason !== 'new';
}

/** Whether the channel has to be fixed, or another one chosen. */
export function isChannelReason(reason: PauseReason): boolean {
  return reason === 'bot-removed' || reason.startsWith('channel-');
}

/** An earlier run: when it was due, and what it found. */
export interface PastRun {
  readonly due: Date;
  readonly figures: Collected;
}

/** Figures of another version are not compared with. */
export const figuresVersion = 1;

/** What one run found: plain data, stored as JSON, comparisons included, so that rendering needs nothing else. */
export interface Collected extends FiguresByKind {
  readonly version: typeof figuresVersion;
  /** ISO text. */
  readonly at: string;
  /** What could not be read; the rest is reported all the same. */
  readonly unread: readonly UnreadPart[];
}

export interface FailureWords {
  readonly message: string;
  readonly reference?: string | undefined;
}

export interface UnreadPart extends FailureWords {
  readonly kind: DigestKindName;
  /** Which zone, shield zone or app; absent: all of the kind. */
  readonly what?: string;
  /** As many more that failed. */
  readonly more: number;
}

/** A baseline of another version is none: the next run is a first one. */
export const baselineVersion = 1;

/** What a digest remembers of what it last posted, by kind, to name what is new. Stored as JSON, one a digest. */
export interface DigestBaseline {
  readonly version: typeof baselineVersion;
  readonly byKind: Readonly<Partial<Record<DigestKindName, unknown>>>;
}
