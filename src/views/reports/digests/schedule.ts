import { findNextRuns, type Schedule } from '../../../commands/reports/schedule.ts';
import { formatPeriod } from '../../blocks/format.ts';
import { join } from '../../blocks/text.ts';

const dayNames = ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday'];

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

export function joinWords(words: readonly string[], joint = 'and'): string {
  return words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} ${joint} ${words.at(-1)}`;
}
