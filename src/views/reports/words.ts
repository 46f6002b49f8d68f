import { findNextRuns, type Schedule } from '../../lib/schedule.ts';
import { andMore, countOf, formatInteger, formatPeriod, formatUtc } from '../blocks/format.ts';
import { escapeMrkdwn, join } from '../blocks/text.ts';
import {
  type AlertSubject,
  type DigestOrder,
  type DigestSubject,
  type PauseReason,
  pauseReasons,
  type Report,
  type TargetType,
  type Threshold,
  type Topic,
} from './report.ts';

/** Why a digest or alert is paused, in mrkdwn. */
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

/** `S…`, or `T…/S…` in an organisation; of a person `U…` or `W…`. */
export function isGroupId(id: string): boolean {
  return /^(?:T\w+\/)?S/u.test(id);
}

/** Channel and owner; once, where it is the owner's conversation. */
export function formatReaders(channel: string, owner: string): string {
  return channel === owner ? `<@${owner}> only` : `${formatPlace(channel)} · <@${owner}>`;
}

/** Requests of an account that jobs sent in this hour. */
export interface Budget {
  readonly used: number;
  readonly limit: number;
  readonly resetsAt: Date;
}

/** `12 of 1,200 background requests used until 11:00 UTC` */
export function describeBudget({ used, limit, resetsAt }: Budget): string {
  const requests = `${countOf(used, limit, 'background request')} used`;
  return `${requests} until ${formatUtc(resetsAt).slice(11)}`;
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
  called: Readonly<Record<string, string>> = {},
): string {
  const [one, many] = targetNouns[type];
  const names = ids.slice(0, mostTargets).map((id) => {
    // A host is its own name.
    const name = called[id] ?? (id.includes('.') ? id : `${one.replace(/ or .*/u, '')} ${id}`);
    return escapeMrkdwn(name, 60);
  });
  return join([names.join(', '), andMore(ids.length - names.length, one, many)], ' ');
}

/** `more than 50 origin errors in 10 minutes in 2 zones, every 5 minutes, Mon–Fri 08:00–18:00 Europe/Vienna` */
export function describeSubject(subject: AlertSubject): string {
  return join([describeCondition(subject), describeEvery(subject.every), describeHours(subject)], ', ');
}

/** `more than 50 origin errors in 10 minutes in shop, api and 2 more zones` */
export function describeCondition(subject: AlertSubject): string {
  const { condition, targets, called } = subject;
  const where = nameTargets(condition.target, targets, called);
  return `${condition.describe(subject)}${where && ` in ${where}`}`;
}

export function describeEvery(minutes: number): string {
  return minutes === 24 * 60 ? 'every day' : `every ${formatPeriod(minutes)}`;
}

const dayNames = ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday'];

export function describeHours({ hours, timeZone }: Pick<AlertSubject, 'hours' | 'timeZone'>): string {
  if (!hours) return '';
  const { weekdays, from, until } = hours;
  const isRun = weekdays.length > 2 && (weekdays.at(-1) ?? 0) - (weekdays[0] ?? 0) === weekdays.length - 1;
  const names = weekdays.map((day) => dayNames[day - 1]?.slice(0, 3) ?? '');
  const days = isRun ? `${names[0]}–${names.at(-1)}` : names.join(', ');
  const isWholeDay = from === until;
  return join([days, !isWholeDay && `${from}–${until}`, timeZone], ' ');
}

/** `Zones overview, origin errors every workday at 09:00, Europe/Vienna, only if something changed`. */
export function describeOrder({ subject, schedule }: Omit<DigestOrder, 'channel'>): string {
  const when = `${describeTargets(subject) && ' ·'} ${describeSchedule(schedule)}`;
  return join([`${describeKinds(subject)}${when}`, describeThreshold(subject.only, subject.kinds)], ', ');
}

/** `Zones overview, origin errors · shop, api` */
function describeKinds(subject: DigestSubject): string {
  const [first = '', ...others] = subject.kinds.map(({ label }) => label);
  const what = [first, ...others.map((label) => label.toLowerCase())].join(', ');
  return join([what, describeTargets(subject)], ' · ');
}

/** `shop, api and app checkout`; empty where it covers everything. */
export function describeTargets({ targets, called }: DigestSubject): string {
  const types: readonly TargetType[] = ['zones', 'shieldZones', 'apps'];
  return joinWords(types.map((type) => nameTargets(type, targets[type], called)).filter(Boolean));
}

/** `only above 10 origin errors`; empty for always. */
export function describeThreshold(only: Threshold, kinds: readonly Topic[]): string {
  if (only === 'always') return '';
  if (only === 'changed') return 'only if something changed';
  if (only === 'new') return 'only what is new';
  return only.above === 0
    ? `only if there are any ${listTroubles(kinds, 'or')}`
    : `only above ${formatInteger(only.above)} ${describeTroubles(kinds)}`;
}

/** The unit of “above N” for these kinds: `origin errors and failing apps together`. */
export function describeTroubles(kinds: readonly Topic[]): string {
  return `${listTroubles(kinds, 'and')}${kinds.length > 1 ? ' together' : ''}`;
}

function listTroubles(kinds: readonly Topic[], joint: 'and' | 'or'): string {
  const words = kinds.map(({ troubles }) => troubles);
  return joinWords(words, joint) || 'troubles';
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

// Creating a format takes longer than rendering a message; there are some hundred zones.
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
