import type { Audit } from '../../auth/audit/audit.ts';
import type { Installation, People, Person } from '../../auth/identity.ts';
import type { Authorizer } from '../../auth/policy/authorizer.ts';
import type { Reason } from '../../auth/policy/policy.ts';
import type { Outbox } from '../../outbox/outbox.ts';
import type { JobContext } from '../../store/queue/define-job.ts';
import type { Enqueue } from '../../store/queue/queue.ts';
import type { Db } from '../../store/schema.ts';
import type { Failure } from '../../views/blocks/failure.ts';
import type { Accounts } from './accounts/reads.ts';
import type { DigestKindName, FiguresByKind } from './checks/list.ts';

/** Ports of their jobs and messages. */
export interface ReportPorts {
  readonly accounts: Pick<Accounts, 'open'>;
  readonly outbox: Outbox;
  /** Decides by the current policy: a decision made when a job was stored is made again when it runs. */
  readonly authorizer: (person: Person) => Authorizer;
  readonly people: (installation: Installation) => People;
  readonly audit: Audit;
  readonly enqueue: Enqueue;
  /** A failure in words for a person, with the reference that is in the log. */
  readonly explain: (error: unknown, feature: string) => Failure;
  /** Whether people of another organisation read a channel, known for ten minutes. False where Slack does not say. */
  readonly isSharedOutside: (owner: Person, channel: string, signal: AbortSignal) => Promise<boolean>;
  /** Counts a refusal by the policy. */
  readonly refused: (reason: Reason) => void;
  /** Counts a message about an incident that no place took. */
  readonly untold: () => void;
}

export type ReportContext = JobContext<ReportPorts>;

/** What the service needs. */
export interface ReportOptions extends Pick<ReportPorts, 'audit' | 'outbox' | 'people' | 'enqueue'> {
  readonly db: Db;
  readonly now: () => Date;
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
