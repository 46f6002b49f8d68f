import { findCondition } from '../../../commands/reports/watches/conditions/list.ts';
import type { WatchSubject } from '../../../commands/reports/watches/model.ts';
import { minuteMs } from '../../../lib/time.ts';
import { pluralize } from '../../blocks/format.ts';
import { join } from '../../blocks/text.ts';

const dayNames = ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun'];

/** `more than 50 origin errors in 10 minutes in 2 zones, every 5 minutes, Mon–Fri 08:00–18:00 Europe/Vienna` */
export function describeSubject(subject: WatchSubject): string {
  return join([describeCondition(subject), describeEvery(subject.every), describeHours(subject)], ', ');
}

const nouns = {
  zones: ['zone', 'zones'],
  hosts: ['origin host', 'origin hosts'],
  origins: ['zone or origin host', 'zones or origin hosts'],
  apps: ['app', 'apps'],
  shieldZones: ['shield zone', 'shield zones'],
  account: ['', ''],
} as const;

/** `more than 50 origin errors in 10 minutes in 2 zones` */
export function describeCondition(subject: WatchSubject): string {
  const { describe, target } = findCondition(subject.condition);
  const { length } = subject.targets;
  const [one, many] = nouns[target];
  const where = length > 0 && target !== 'account' ? ` in ${pluralize(length, one, many)}` : '';
  return `${describe(subject)}${where}`;
}

export function describeEvery(minutes: number): string {
  if (minutes === 24 * 60) return 'every day';
  if (minutes % 60 !== 0) return `every ${minutes} minutes`;
  return minutes === 60 ? 'every hour' : `every ${minutes / 60} hours`;
}

export function describeHours({ hours, timeZone }: Pick<WatchSubject, 'hours' | 'timeZone'>): string {
  if (!hours) return '';
  const { weekdays, from, until } = hours;
  const isRun = weekdays.length > 2 && (weekdays.at(-1) ?? 0) - (weekdays[0] ?? 0) === weekdays.length - 1;
  const names = weekdays.map((day) => dayNames[day - 1] ?? '');
  const days = isRun ? `${names[0]}–${names.at(-1)}` : names.join(', ');
  const isWholeDay = from === until;
  return join([days, !isWholeDay && `${from}–${until}`, timeZone], ' ');
}

/** `23 min`, `4 h 10 min`, `2 days 3 h` */
export function formatDuration(from: Date, to: Date): string {
  const minutes = Math.max(1, Math.round((to.getTime() - from.getTime()) / minuteMs));
  if (minutes < 60) return `${minutes} min`;
  const hours = Math.floor(minutes / 60);
  if (hours < 48) return join([`${hours} h`, minutes % 60 > 0 && `${minutes % 60} min`], ' ');
  return join([`${Math.floor(hours / 24)} days`, hours % 24 > 0 && `${hours % 24} h`], ' ');
}
