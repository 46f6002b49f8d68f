import type { Selectable } from 'kysely';
import type { Audit } from '../../../auth/audit/audit.ts';
import type { Installation, People, Person } from '../../../auth/identity.ts';
import type { Authorizer } from '../../../auth/policy/authorizer.ts';
import type { Reason } from '../../../auth/policy/policy.ts';
import type { Outbox } from '../../../outbox/outbox.ts';
import type { Enqueue } from '../../../store/queue/queue.ts';
import type { Schema } from '../../../store/schema.ts';
import type { Failure } from '../../../views/blocks/failure.ts';

/** A digest or an alert: it runs on a schedule, with the key of its owner, for a channel. */
export interface Scheduled {
  readonly id: string;
  readonly tenant: string;
  /** It runs with this person's key. */
  readonly owner: Person;
  /** A channel; of an alert also its owner's user id, for their conversation with the bot. */
  readonly channel: string;
  /** One higher with every change that people make. */
  readonly revision: number;
  readonly paused: { readonly reason: PauseReason; readonly by: string | undefined } | undefined;
  readonly deletedAt: Date | undefined;
  readonly nextDue: Date | undefined;
}

/** Why it does not run: `by-hand` by a person, `new` until its channel was told, else by the bot. */
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
export function canBeTakenOver({ paused }: Pick<Scheduled, 'paused'>): boolean {
  return paused !== undefined && paused.reason !== 'by-hand' && paused.reason !== 'new';
}

/** Whether the channel has to be fixed, or another one chosen. */
export function isChannelReason(reason: PauseReason): boolean {
  return reason === 'bot-removed' || reason.startsWith('channel-');
}

/** The columns that both tables have. */
export type ScheduledRow = Selectable<Schema['digests']>;

/** Digests or alerts: their rows, and their name in records and ids. */
export interface ScheduledTable<Item extends Scheduled> {
  readonly name: 'digests' | 'watches';
  readonly noun: 'digest' | 'alert';
  readonly read: (row: ScheduledRow) => Item;
}

/** Ports of the jobs and messages of both. */
export interface SchedulePorts {
  readonly outbox: Outbox;
  /** Decides by the policy of this moment: what was decided when a job was stored is decided again when it runs. */
  readonly authorizer: (person: Person) => Authorizer;
  readonly people: (installation: Installation) => People;
  readonly audit: Audit;
  readonly enqueue: Enqueue;
  /** A failure in words for a person, with the reference that is in the log. */
  readonly explain: (error: unknown, feature: string) => Failure;
  /** Counts a refusal by the policy. */
  readonly refused: (reason: Reason) => void;
  /** Counts a message about an incident that no place took. */
  readonly untold: () => void;
}
