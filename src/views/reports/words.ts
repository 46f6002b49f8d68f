import { type BudgetState, requestsPerHour } from '../../commands/reports/accounts/budget.ts';
import { findCondition } from '../../commands/reports/alerts/conditions/list.ts';
import type { AlertSubject, PauseReason, Report } from '../../commands/reports/model.ts';
import { andMore, countOf, formatInteger, formatPeriod, formatUtc } from '../blocks/format.ts';
import { escapeMrkdwn, join } from '../blocks/text.ts';

/** Why a digest or alert is paused, in mrkdwn. */
export function describePause(reason: PauseReason, by?: string): string {
  return reason === 'by-hand' && by !== undefined ? `paused by <@${by}>` : pauseReasons[reason];
}

export function describePaused({ reason, by }: NonNullable<Report['paused']>): string {
  return `:double_vertical_bar: *paused:* ${describePause(reason, by)}`;
}

const pauseReasons: Readonly<Record<PauseReason, string>> = {
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
};

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

/** `12 of 1,200 background requests used until 11:00 UTC` */
export function describeBudget({ used, limit, resetsAt }: BudgetState): string {
  const requests = `${countOf(used, limit, 'background request')} used`;
  return `${requests} until ${formatUtc(resetsAt).slice(11)}`;
}

/** Why an alert cannot check: jobs have no requests left. */
export function describeBudgetSpent(resetsAt: Date): string {
  return `Alerts and digests have used all ${formatInteger(requestsPerHour)} background requests of this account this hour. Checks go on at ${formatUtc(resetsAt).slice(11)}.`;
}

const mostTargets = 3;

/** `shop, api, 1003 and 2 more zones`; empty where nothing is chosen. `called`: names by id, as far as they are known. */
export function nameTargets(
  ids: readonly string[],
  called: Readonly<Record<string, string>> = {},
  [one, many]: readonly [one: string, many: string],
): string {
  if (ids.length === 0 || one === '') return '';
  const names = ids.slice(0, mostTargets).map((id) => {
    // A host is its own name.
    const name = called[id] ?? (id.includes('.') ? id : `${one.replace(/ or .*/u, '')} ${id}`);
    return escapeMrkdwn(name, 60);
  });
  return join([names.join(', '), andMore(ids.length - names.length, one, many)], ' ');
}

const dayNames = ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun'];

/** `more than 50 origin errors in 10 minutes in 2 zones, every 5 minutes, Mon–Fri 08:00–18:00 Europe/Vienna` */
export function describeSubject(subject: AlertSubject): string {
  return join([describeCondition(subject), describeEvery(subject.every), describeHours(subject)], ', ');
}

export const targetNouns = {
  zones: ['zone', 'zones'],
  hosts: ['origin host', 'origin hosts'],
  origins: ['zone or origin host', 'zones or origin hosts'],
  apps: ['app', 'apps'],
  shieldZones: ['shield zone', 'shield zones'],
  account: ['', ''],
} as const;

/** `more than 50 origin errors in 10 minutes in shop, api and 2 more zones` */
export function describeCondition(subject: AlertSubject): string {
  const { describe, target } = findCondition(subject.condition);
  const where = nameTargets(subject.targets, subject.called, targetNouns[target]);
  return `${describe(subject)}${where && ` in ${where}`}`;
}

export function describeEvery(minutes: number): string {
  return minutes === 24 * 60 ? 'every day' : `every ${formatPeriod(minutes)}`;
}

export function describeHours({ hours, timeZone }: Pick<AlertSubject, 'hours' | 'timeZone'>): string {
  if (!hours) return '';
  const { weekdays, from, until } = hours;
  const isRun = weekdays.length > 2 && (weekdays.at(-1) ?? 0) - (weekdays[0] ?? 0) === weekdays.length - 1;
  const names = weekdays.map((day) => dayNames[day - 1] ?? '');
  const days = isRun ? `${names[0]}–${names.at(-1)}` : names.join(', ');
  const isWholeDay = from === until;
  return join([days, !isWholeDay && `${from}–${until}`, timeZone], ' ');
}
