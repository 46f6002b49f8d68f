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
import type { ConditionSettings, Evidence, Part } from './alerts/conditions/condition.ts';
import type { ConditionName } from './alerts/conditions/list.ts';
import type { Targets } from './checks/digest-kind.ts';
import type { DigestKindName, FiguresByKind } from './digests/kinds.ts';
import type { Schedule } from './schedule.ts';

export type Report = Digest | Alert;
export type ReportKind = Report['kind'];
export type ReportOf<Kind extends ReportKind> = Extract<Report, { readonly kind: Kind }>;
/** What the forms order. */
export type Order = DigestOrder | AlertOrder;

export const isDigest = (report: Report): report is Digest => report.kind === 'digest';
export const isAlert = (report: Report): report is Alert => report.kind === 'alert';

/** What digests and alerts share: they run on a schedule, with the key of their owner, for a channel. */
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

/** Why it does not run: `by-hand` by a person, else by the bot. */
export type PauseReason =
  | 'by-hand'
  | 'owner-gone'
  | 'key-missing'
  | 'key-refused'
  | 'right-lost'
  | 'channel-not-allowed'
  | 'channel-shared'
  | 'channel-archived'
  | 'channel-gone'
  | 'bot-removed'
  | 'uninstalled'
  | 'failing'
  | 'crashing';

/** Whether others with the right can take it over: wherever no person paused it. */
export function canBeTakenOver({ paused }: Pick<Scheduled, 'paused'>): boolean {
  return paused !== undefined && paused.reason !== 'by-hand';
}

/** Whether the channel has to be fixed, or another one chosen. */
export function isChannelReason(reason: PauseReason): boolean {
  return reason === 'bot-removed' || reason.startsWith('channel-');
}

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

/** The content of every form. */
interface Subject {
  /** Names of its targets by id, as they were when it was saved. */
  readonly called?: Readonly<Record<string, string>> | undefined;
  /** IANA: days and times in its messages are those there. */
  readonly timeZone: string;
}

/**
 * When a digest posts: `always` (nothing changed is one line), `changed`, `new` (the same, with nothing but what is new
 * since the last post), or above a count: of origin errors, blocked uploads, failing apps and zones that need attention,
 * together.
 */
export type Threshold = 'always' | 'changed' | 'new' | { readonly above: number };

export interface DigestSubject extends Subject {
  readonly kinds: readonly DigestKindName[];
  /** Ids. No zones = all of the account; no apps = those the zones are linked to. */
  readonly targets: Targets;
  readonly only: Threshold;
}

export interface DigestOrder {
  readonly subject: DigestSubject;
  readonly schedule: Schedule;
  readonly channel: string;
}

export type Digest = DigestOrder & Scheduled & { readonly kind: 'digest' };

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

/** Hours of the week by the wall clock of a zone. */
export interface WeekHours {
  /** 1 = Monday … 7 = Sunday: the days on which they begin. */
  readonly weekdays: readonly number[];
  /** `08:00`. */
  readonly from: string;
  /** `18:00`; not after `from`: they end on the next day. */
  readonly until: string;
}

export interface AlertSubject extends Subject, ConditionSettings {
  readonly condition: ConditionName;
  /** Minutes between two checks. */
  readonly every: number;
  /** Undefined = at any hour. */
  readonly hours?: WeekHours | undefined;
  /** User ids and user-group ids that a new incident mentions. */
  readonly names: readonly string[];
  /** Whether it posts a heartbeat every day at nine. */
  readonly lifeSign: boolean;
}

export interface AlertOrder {
  readonly subject: AlertSubject;
  readonly channel: string;
}

export type Alert = AlertOrder &
  Scheduled & {
    readonly kind: 'alert';
    readonly checkedAt: Date | undefined;
    readonly snoozed: { readonly until: Date; readonly by: string } | undefined;
    readonly heartbeatAt: Date | undefined;
    readonly state: AlertState;
  };

/** What an alert remembers from check to check. */
export interface AlertState {
  /** Whether the newest checks fired, the newest last. */
  readonly recent: readonly boolean[];
  /** Consecutive checks that failed, and the moment of the first. */
  readonly blind?: { readonly since: string; readonly looks: number } | undefined;
  /** The condition's own memory. */
  readonly memory?: unknown;
  /** The figures of the newest check, for *Why*. */
  readonly evidence?: readonly Evidence[] | undefined;
}

export interface Incident {
  readonly id: string;
  readonly alertId: string;
  /** `unreadable`: the alert could not check. */
  readonly kind: 'firing' | 'unreadable';
  readonly openedAt: Date;
  readonly closedAt: Date | undefined;
  readonly figures: IncidentFigures;
  /** Messages put into its thread. */
  readonly replies: number;
  /** The outbox id of its newest message; undefined where none was put yet. */
  readonly message: string | undefined;
  readonly acknowledged: { readonly by: string; readonly at: Date } | undefined;
}

/** Plain data, stored as JSON. Moments are ISO text. */
export interface IncidentFigures {
  /** What fires, the worst first; at most fifty. For a closed incident: what fired last. */
  readonly parts: readonly IncidentPart[];
  /** How many fire, where that may be more than are stored. */
  readonly firing?: number | undefined;
  /** Names of everything that fired in it, at most fifty. */
  readonly everything: readonly string[];
  /** The check with the highest value, or with most parts where there is no value. */
  readonly worst: { readonly at: string; readonly value?: number | undefined; readonly parts: number };
  /** The sum of what the condition counted, where it counts. */
  readonly total?: number | undefined;
  /** Value by check, for the chart: the newest 288. */
  readonly series: readonly (readonly [at: string, value: number])[];
  /** The last check. */
  readonly lookedAt: string;
  /** The former subject, where its alert was deleted or changed while it was open. */
  readonly left?: AlertSubject | undefined;
  /** Why the last check failed, with the reference that is in the log. */
  readonly failure?: { readonly message: string; readonly reference?: string | undefined } | undefined;
}

export interface IncidentPart extends Part {
  /** Consecutive checks without it. */
  readonly calm: number;
}
