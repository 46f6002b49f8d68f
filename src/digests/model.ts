import type { CdnClient } from '../api/cdn.ts';
import type { ErrorBudget } from '../api/http/retry.ts';
import type { Audit } from '../auth/audit/audit.ts';
import type { Installation, People, Person } from '../auth/identity.ts';
import type { Authorizer } from '../auth/policy/authorizer.ts';
import type { Outbox } from '../outbox/outbox.ts';
import type { Schedule } from '../schedules/schedule.ts';
import type { JobContext } from '../store/queue/define-job.ts';
import type { Enqueue } from '../store/queue/queue.ts';
import type { Failure } from '../views/blocks/failure.ts';
import type { Targets } from './kinds/kind.ts';
import type { DigestKindName, FiguresByKind } from './kinds/list.ts';

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

/** The content of the form: subjects, schedule, place. */
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
export function canBeTakenOver({ paused }: Pick<Digest, 'paused'>): boolean {
  return paused !== undefined && paused.reason !== 'by-hand' && paused.reason !== 'new';
}

/** Whether the channel has to be fixed, or another one chosen. */
export function isChannelReason(reason: PauseReason): boolean {
  return reason === 'bot-removed' || reason.startsWith('channel-');
}

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
export interface DigestPorts {
  readonly outbox: Outbox;
  /** The CDN with this person's own key. @throws UserError with an offer to connect where no key is linked. */
  readonly cdn: (person: Person, signal: AbortSignal, budget?: ErrorBudget) => Promise<CdnClient>;
  /** Decides by the policy of this moment: what was decided when a job was stored is decided again when it runs. */
  readonly authorizer: (person: Person) => Authorizer;
  readonly people: (installation: Installation) => People;
  readonly audit: Audit;
  readonly enqueue: Enqueue;
  /** A failure in words for a person, with the reference that is in the log. */
  readonly explain: (error: unknown, feature: string) => Failure;
}

export type DigestContext = JobContext<DigestPorts>;
