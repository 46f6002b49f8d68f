import { findCondition } from '../../../commands/reports/alerts/conditions/list.ts';
import type { AlertSubject } from '../../../commands/reports/model.ts';
import { join } from '../../blocks/text.ts';
import { nameTargets } from '../words.ts';

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
  if (minutes === 24 * 60) return 'every day';
  if (minutes % 60 !== 0) return `every ${minutes} minutes`;
  return minutes === 60 ? 'every hour' : `every ${minutes / 60} hours`;
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
