import { minuteMs } from '../../../lib/time.ts';
import { toLocalTime, toMinutes } from '../../../lib/time-zone.ts';
import { findNextRun } from '../schedule.ts';

/** Hours of the week by the wall clock of a zone. */
export interface WeekHours {
  /** 1 = Monday … 7 = Sunday: the days on which they begin. */
  readonly weekdays: readonly number[];
  /** `08:00`. */
  readonly from: string;
  /** `18:00`; not after `from`: they end on the next day. */
  readonly until: string;
}

interface Plan {
  /** Minutes between two looks. */
  readonly every: number;
  readonly hours?: WeekHours | undefined;
  readonly timeZone: string;
}

/**
 * The next look after a moment. Looks stand on a grid of `every` minutes from midnight (UTC), so that those of one account
 * fall together; outside of its hours an alert waits until they begin.
 */
export function findNextLook({ every, hours, timeZone }: Plan, after: Date): Date {
  const step = every * minuteMs;
  const next = new Date((Math.floor(after.getTime() / step) + 1) * step);
  if (!hours || isWithin(hours, timeZone, next)) return next;
  const { from: time, weekdays } = hours;
  return findNextRun({ time, zone: timeZone, weekdays, monthDays: [] }, after);
}

/** Whether a moment lies in those hours. */
export function isWithin({ weekdays, from, until }: WeekHours, timeZone: string, at: Date): boolean {
  const { minutes: minute, weekday: today } = toLocalTime(timeZone, at);
  const yesterday = today === 1 ? 7 : today - 1;
  const [start, end] = [toMinutes(from), toMinutes(until)];
  if (start < end) return weekdays.includes(today) && minute >= start && minute < end;
  return (weekdays.includes(today) && minute >= start) || (weekdays.includes(yesterday) && minute < end);
}
