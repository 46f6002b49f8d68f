import type { Person } from '../../auth/identity.ts';
import { findNextRuns, type Schedule } from '../../lib/schedule.ts';
import { andMore, formatInteger, formatPeriod } from '../blocks/format.ts';
import { escapeMrkdwn, join, truncate } from '../blocks/text.ts';

export type Report = Digest | Alert;
export type ReportKind = Report['kind'];
export type ReportOf<Kind extends ReportKind> = Extract<Report, { readonly kind: Kind }>;
export type Order = DigestOrder | AlertOrder;

export const isDigest = (report: Report): report is Digest => report.kind === 'digest';
export const isAlert = (report: Report): report is Alert => report.kind === 'alert';

/** `by-hand` by a person, else by the bot. */
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
  crashing: 'the bot stopped twice while running it',
} as const;

interface Scheduled {
  readonly id: string;
  readonly tenant: string;
  readonly owner: Person;
  /** A channel; of an alert also its owner's user id, for their conversation with the bot. */
  readonly channel: string;
  readonly revision: number;
  readonly paused: { readonly reason: PauseReason; readonly by: string | undefined } | undefined;
  readonly deletedAt: Date | undefined;
  readonly nextDue: Date | undefined;
}

export function canBeTakenOver({ paused }: Pick<Scheduled, 'paused'>): boolean {
  return paused !== undefined && paused.reason !== 'by-hand';
}

export function isChannelReason(reason: PauseReason): boolean {
  return reason === 'bot-removed' || reason.startsWith('channel-');
}

interface Choice {
  readonly name: string;
  readonly label: string;
  /** The form's error where none of its targets is chosen; absent where it then covers the whole account. */
  readonly missingTarget?: string;
}

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

export interface Topic extends Choice {
  readonly target: TargetType;
  /** What “above N” counts, in the plural: `zones that need attention`. */
  readonly troubles: string;
}

/** `changed` and `new` differ in what is posted; `above` counts the troubles of its topics. */
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

export interface ConditionSettings {
  /** Ids of zones, apps or shield zones, or origin hosts, as the condition takes them. Empty = the whole account. */
  readonly targets: readonly string[];
  /** 0 where the condition takes none. */
  readonly threshold: number;
  /** Minutes; 0 where the condition takes none. */
  readonly window: number;
}

export interface AlertCondition extends Choice {
  /** What the form's “Of what” takes. `origins`: zones and origin hosts. */
  readonly target: 'zones' | 'hosts' | 'origins' | 'apps' | 'shieldZones';
  /** The form's words for no target, where that is not everything: `Empty = up to 25 zones.` */
  readonly withoutTarget?: string;
  readonly threshold?: {
    readonly label: string;
    /** `errors`, `% of the limit` */
    readonly unit: string;
    readonly initial: number;
    readonly least: number;
    readonly most: number;
    readonly hint?: string;
  };
  readonly window?: { readonly initial: number };
  /** The least minutes between two checks, where that is more than five. */
  readonly leastEvery?: number;
  /** Opens after `open[0]` of the last `open[1]` checks fired; closes, and drops a part, after `close` checks without it. */
  readonly damping: { readonly open: readonly [firing: number, of: number]; readonly close: number };
  /** Something happened, and is over: it ends without having to recover. */
  readonly isEvent?: true;
  /** `more than 50 origin errors in 10 minutes`, without its targets. */
  readonly describe: (settings: ConditionSettings) => string;
  /** A value of its series: `1,204 errors`, `97%`. */
  readonly formatValue?: (value: number) => string;
  /** The unit of its series, on the chart's axis. */
  readonly unit?: string;
  /** The next step about a part: a typed command, and the button's text. */
  readonly next: (part: Part | undefined) => { readonly label: string; readonly command: string };
}

export interface Part {
  readonly id: string;
  /** Plain text, at most 60 characters. */
  readonly name: string;
  /** Plain text: `disabled`, `502 errors in 10 minutes`. */
  readonly text: string;
  readonly value?: number | undefined;
}

export interface Evidence {
  readonly name: string;
  /** `480 GB of 500 GB` */
  readonly is: string;
  /** `above 90%`; undefined in a row that explains. */
  readonly wrongIf?: string | undefined;
  readonly isWrong: boolean;
  /** It could not be judged: all is not well for certain. */
  readonly isUnknown?: boolean | undefined;
}

export function countJudged(evidence: readonly Evidence[] = []): number {
  return evidence.filter(({ wrongIf, isUnknown }) => wrongIf !== undefined && !isUnknown).length;
}

/** `215 of 240 zones not checked and 2 more`; empty where all could be judged. */
export function describeUnknown(evidence: readonly Evidence[] = []): string {
  const [first, ...others] = evidence.filter(({ isUnknown }) => isUnknown);
  if (!first) return '';
  const [why = ''] = first.is.split(':', 1);
  const what = `${first.name} ${why.startsWith('not ') ? why : `(${why})`}`;
  return join([escapeMrkdwn(what, 120), andMore(others.length)], ' ');
}

export interface WeekHours {
  /** 1 = Monday … 7 = Sunday: the days on which they begin. */
  readonly weekdays: readonly number[];
  readonly from: string;
  /** `18:00`; not after `from`: they end on the next day. */
  readonly until: string;
}

export interface AlertSubject extends Subject, ConditionSettings {
  readonly condition: AlertCondition;
  /** Minutes. */
  readonly every: number;
  readonly hours?: WeekHours | undefined;
  readonly names: readonly string[];
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

export interface AlertState {
  readonly recent: readonly boolean[];
  /** Consecutive checks that failed, and the moment of the first. */
  readonly blind?: { readonly since: string; readonly looks: number } | undefined;
  readonly memory?: unknown;
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
  readonly firing?: number | undefined;
  /** Names of everything that fired in it, at most fifty. */
  readonly everything: readonly string[];
  /** The check with the highest value, or with most parts where there is no value. */
  readonly worst: { readonly at: string; readonly value?: number | undefined; readonly parts: number };
  /** What the condition counted in it, where it counts: `before`, and from `from` (epoch ms) on. */
  readonly total?: number | undefined;
  readonly counted?: { readonly from: number; readonly before: number } | undefined;
  /** Value by check, for the chart: the newest 8. */
  readonly series: readonly (readonly [at: string, value: number])[];
  readonly lookedAt: string;
  /** The former subject, where its alert was deleted or changed while it was open. */
  readonly left?: AlertSubject | undefined;
  /** Why the last check failed, with the reference that is in the log. */
  readonly failure?: { readonly message: string; readonly reference?: string | undefined } | undefined;
}

export interface IncidentPart extends Part {
  readonly calm: number;
}

export function describePause(reason: PauseReason, by?: string): string {
  return reason === 'by-hand' && by !== undefined ? `paused by <@${by}>` : pauseReasons[reason];
}

export function describePaused({ reason, by }: NonNullable<Report['paused']>): string {
  return `:double_vertical_bar: *paused:* ${describePause(reason, by)}`;
}

/** A channel, or a person's conversation with the bot, in mrkdwn. */
export function formatPlace(place: string): string {
  return /^[UW]/u.test(place) ? `<@${place}>` : `<#${place}>`;
}

/** `S…`, or `T…/S…` in an organization. */
export function isGroupId(id: string): boolean {
  return /^(?:T\w+\/)?S/u.test(id);
}

export function formatReaders(channel: string, owner: string): string {
  return channel === owner ? `<@${owner}> only` : `${formatPlace(channel)} · <@${owner}>`;
}

const mostTargets = 3;

export const targetNouns = {
  zones: ['zone', 'zones'],
  hosts: ['origin host', 'origin hosts'],
  origins: ['zone or origin host', 'zones or origin hosts'],
  apps: ['app', 'apps'],
  shieldZones: ['shield zone', 'shield zones'],
} as const;

/** `shop, api, 1003 and 2 more zones`; empty where nothing is chosen. `called`: names by id, as far as they are known. */
function nameTargets(
  type: keyof typeof targetNouns,
  ids: readonly string[],
  called: AlertSubject['called'],
): string {
  const [one, many] = targetNouns[type];
  const names = ids.slice(0, mostTargets).map((id) => {
    // A host is its own name.
    return escapeMrkdwn(id.includes('.') ? id : nameTarget(one.replace(/ or .*/u, ''), id, called), 60);
  });
  return join([names.join(', '), andMore(ids.length - names.length, one, many)], ' ');
}

/** `checkout`, or `app app0api00000001` */
export function nameTarget(noun: string, id: string, called: AlertSubject['called'] = {}): string {
  return truncate((Object.hasOwn(called, id) && called[id]) || `${noun} ${id}`, 60);
}

/** `all zones` */
function nameAll(type: keyof typeof targetNouns): string {
  return `all ${targetNouns[type][1].replace(/ or .*/u, '')}`;
}

/** `more than 50 origin errors in 10 minutes in 2 zones, every 5 minutes, Mon–Fri 08:00–18:00 Europe/Vienna` */
export function describeSubject(subject: AlertSubject): string {
  return join([describeCondition(subject), describeEvery(subject.every), describeHours(subject)], ', ');
}

/** `more than 50 origin errors in 10 minutes in shop, api and 2 more zones`, `an app is not active, all apps` */
export function describeCondition(subject: AlertSubject): string {
  const { condition, targets, called } = subject;
  const where = nameTargets(condition.target, targets, called);
  return `${condition.describe(subject)}${where ? ` in ${where}` : `, ${nameAll(condition.target)}`}`;
}

export function describeEvery(minutes: number): string {
  return minutes === 24 * 60 ? 'every day' : `every ${formatPeriod(minutes)}`;
}

export const dayNames = ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday'];

export function describeHours({ hours, timeZone }: Pick<AlertSubject, 'hours' | 'timeZone'>): string {
  if (!hours) return '';
  const { weekdays, from, until } = hours;
  const isRun = weekdays.length > 2 && (weekdays.at(-1) ?? 0) - (weekdays[0] ?? 0) === weekdays.length - 1;
  const names = weekdays.map((day) => dayNames[day - 1]?.slice(0, 3) ?? '');
  const days = isRun ? `${names[0]}–${names.at(-1)}` : names.join(', ');
  const isWholeDay = from === until;
  return join([days, !isWholeDay && `${from}–${until}`, timeZone], ' ');
}

/** `Zones overview, origin errors · shop, api · every workday at 09:00, Europe/Vienna, only if something changed`. */
export function describeOrder({ subject, schedule }: Omit<DigestOrder, 'channel'>): string {
  const [first = '', ...others] = subject.kinds.map(({ label }) => label);
  const what = [first, ...others.map((label) => label.toLowerCase())].join(', ');
  const content = `${what} · ${describeTargets(subject)} · ${describeSchedule(schedule)}`;
  return join([content, describeThreshold(subject.only, subject.kinds)], ', ');
}

/** `shop, api`, `all zones and uploads`: without chosen apps those of the zones. */
export function describeTargets({ kinds, targets, called }: DigestSubject): string {
  const types: readonly TargetType[] = ['zones', 'shieldZones', 'apps'];
  const isAll = (type: TargetType): boolean =>
    kinds.some(({ target }) => target === type) && (type !== 'apps' || targets.zones.length === 0);
  return joinWords(
    types
      .map((type) => nameTargets(type, targets[type], called) || (isAll(type) ? nameAll(type) : ''))
      .filter(Boolean),
  );
}

/** `only above 10 origin errors`; empty for always. */
export function describeThreshold(only: Threshold, kinds: readonly Topic[]): string {
  if (only === 'always') return '';
  if (only === 'changed') return 'only if something changed';
  if (only === 'new') return 'only what is new';
  return only.above === 0
    ? `only if there are any ${joinWords(listTroubles(kinds), 'or')}`
    : `only above ${formatInteger(only.above)} ${describeTroubles(kinds)}`;
}

/** The unit of “above N” for these kinds: `origin errors and failing apps together`. */
export function describeTroubles(kinds: readonly Topic[]): string {
  return `${joinWords(listTroubles(kinds))}${kinds.length > 1 ? ' together' : ''}`;
}

function listTroubles(kinds: readonly Topic[]): string[] {
  return kinds.length === 0 ? ['troubles'] : kinds.map(({ troubles }) => troubles);
}

/** `every workday at 09:00, Europe/Vienna`. */
export function describeSchedule({ time, everyHours, zone, weekdays, monthDays }: Schedule): string {
  const days = join([describeWeekdays(weekdays), describeMonthDays(monthDays)], ' and ');
  if (everyHours === undefined) return `${days} at ${time}, ${zone}`;
  return `${days} from ${time} on every ${formatPeriod(everyHours * 60)}, ${zone}`;
}

function describeWeekdays(days: readonly number[]): string {
  if (days.length === 0) return '';
  if (days.length === 7) return 'every day';
  if (days.length === 5 && Math.max(...days) === 5) return 'every workday';
  return `every ${joinWords(dayNames.filter((_, index) => days.includes(index + 1)))}`;
}

function describeMonthDays(days: readonly number[]): string {
  if (days.length === 0) return '';
  const sorted = days.toSorted((a, b) => a - b);
  const words = `on day ${joinWords(sorted.map(String))} of the month`;
  return sorted.some((day) => day > 28) ? `${words} (the last day where a month is shorter)` : words;
}

/** `Next: Mon 23 Nov 09:00, Tue 24 Nov 09:00 and Wed 25 Nov 09:00`. */
export function describeNextRuns(schedule: Schedule, after: Date): string {
  const runs = findNextRuns(schedule, after, 3).map((at) => formatRunTime(at, schedule.zone));
  return `Next: ${joinWords(runs)}`;
}

const formats = new Map<string, Intl.DateTimeFormat>();

/** `Mon 23 Nov 09:00`, by the clock of a zone. */
export function formatRunTime(at: Date, timeZone: string): string {
  const format =
    formats.get(timeZone) ??
    new Intl.DateTimeFormat('en-GB', {
      timeZone,
      weekday: 'short',
      day: 'numeric',
      month: 'short',
      hour: '2-digit',
      minute: '2-digit',
      hourCycle: 'h23',
    });
  formats.set(timeZone, format);
  return format.format(at).replaceAll(',', '');
}

function joinWords(words: readonly string[], joint = 'and'): string {
  return words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} ${joint} ${words.at(-1)}`;
}
