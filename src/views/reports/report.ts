import type { Person } from '../../auth/identity.ts';
import type { Schedule } from '../../lib/schedule.ts';

export type Report = Digest | Alert;
export type ReportKind = Report['kind'];
/** What the forms order. */
export type Order = DigestOrder | AlertOrder;

export const isDigest = (report: Report): report is Digest => report.kind === 'digest';
export const isAlert = (report: Report): report is Alert => report.kind === 'alert';

/** Why it does not run: `by-hand` by a person, else by the bot. */
export type PauseReason = keyof typeof pauseReasons;

export const pauseReasons = {
  'by-hand': 'paused',
  'owner-gone': 'its owner has left',
  'key-missing': 'its owner has no CDN key connected',
  'key-refused': 'the CDN refuses its owner’s key',
  'right-lost': 'its owner may no longer read there',
  'channel-not-allowed': 'the bot may no longer post in its channel',
  'channel-shared': 'its channel is shared with another organization',
  'channel-archived': 'its channel is archived',
  'channel-gone': 'its channel is gone, or the bot cannot see it',
  'bot-removed': 'the bot was removed from its channel',
  uninstalled: 'the bot was removed from the workspace',
  failing: 'it failed three times in a row',
  crashing: 'the bot stopped twice while it worked on it',
} as const;

/** What digests and alerts share: they run on a schedule, with the key of their owner, for a channel. */
interface Scheduled {
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

/** Whether others with the right can take it over: wherever no person paused it. */
export function canBeTakenOver({ paused }: Pick<Scheduled, 'paused'>): boolean {
  return paused !== undefined && paused.reason !== 'by-hand';
}

/** Whether the channel has to be fixed, or another one chosen. */
export function isChannelReason(reason: PauseReason): boolean {
  return reason === 'bot-removed' || reason.startsWith('channel-');
}

/** What people choose a condition of an alert, or a kind of digest, by. */
interface Choice {
  /** The form's value, and the name in stored reports. */
  readonly name: string;
  /** In the form and in lists: `Origin errors`. */
  readonly label: string;
  /** The form's error where none of its targets is chosen; absent where it then covers the whole account. */
  readonly missingTarget?: string;
}

/** The content of every form. */
interface Subject {
  /** Names of its targets by id, as they were when it was saved. */
  readonly called?: Readonly<Record<string, string>> | undefined;
  /** IANA: days and times in its messages are those there. */
  readonly timeZone: string;
}

/** Ids that a digest's “Scope” takes. `prefix` marks them in the form's options. */
export const targetTypes = {
  zones: { prefix: 'zone', noun: 'Zone', id: /^\d{1,19}$/u },
  shieldZones: { prefix: 'shield', noun: 'Shield zone', id: /^\d{1,19}$/u },
  apps: { prefix: 'app', noun: 'App', id: /^[\w-]{1,100}$/u },
} as const;
export type TargetType = keyof typeof targetTypes;
export type Targets = Readonly<Record<TargetType, readonly string[]>>;

/** One subject that a digest can report. */
export interface Topic extends Choice {
  readonly target: TargetType;
  /** What “above N” counts, in the plural: `zones that need attention`. */
  readonly troubles: string;
}

/**
 * When a digest posts: `always` (nothing changed is one line), `changed`, `new` (the same, with nothing but what is new
 * since the last post), or above a count: of the troubles of its topics together.
 */
export type Threshold = 'always' | 'changed' | 'new' | { readonly above: number };

export interface DigestSubject extends Subject {
  readonly kinds: readonly Topic[];
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

/** The part of an alert that its condition reads. */
export interface ConditionSettings {
  /** Ids of zones, apps or shield zones, or origin hosts, as the condition takes them. Empty = the whole account. */
  readonly targets: readonly string[];
  /** In the condition's unit, where it has one. */
  readonly threshold?: number | undefined;
  /** Minutes that are counted together, where the condition has a window. */
  readonly window?: number | undefined;
}

/** What an alert fires on: its fields of the form, and its words. */
export interface AlertCondition extends Choice {
  /** What the form's “Of what” takes. `origins`: zones and origin hosts. */
  readonly target: 'zones' | 'hosts' | 'origins' | 'apps' | 'shieldZones';
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
  readonly describe: (settings: ConditionSettings) => string;
  /** A value of its series: `1,204 errors`, `97 %`. */
  readonly formatValue?: (value: number) => string;
  /** The unit of its series, on the chart's axis. */
  readonly unit?: string;
  /** The next step about a part: a typed command, and the button's text. */
  readonly next: (part: Part | undefined) => { readonly label: string; readonly command: string };
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
  readonly condition: AlertCondition;
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
  /** The outbox id of its newest message; undefined where none was put yet. */
  readonly message: string | undefined;
  readonly acknowledged: { readonly by: string; readonly at: Date } | undefined;
}

/** Plain data, stored as JSON. Moments are ISO text. */
export interface IncidentFigures {
  /** What fires, the worst first; at most fifty. Of a closed incident: what fired last. */
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
