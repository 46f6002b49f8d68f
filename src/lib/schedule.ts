import { dayMs, startOfDay, toUtcDay } from './time.ts';
import { findMoment, toLocalTime, toMinutes } from './time-zone.ts';

/** A time of day by the wall clock of a zone, on any of `weekdays` and on any of `monthDays`. */
export interface Schedule {
  readonly time: string;
  /** Again so many hours later, and so on until midnight; absent = once a day. */
  readonly everyHours?: number | undefined;
  readonly zone: string;
  /** 1 = Monday … 7 = Sunday. */
  readonly weekdays: readonly number[];
  /** 1 … 31. Where a month has no such day, its last one. */
  readonly monthDays: readonly number[];
}

type Day = number;

// A month has a last day, so every schedule runs within so many days.
const longestGapDays = 32;

/**
 * The next `n` runs. A time that does not exist runs at the next one that does; one that exists twice runs once, the first time.
 */
export function findNextRuns(schedule: Schedule, after: Date, n: number): Date[] {
  const runs: Date[] = [];
  let last = after.getTime();
  // A day earlier, since a time of yesterday may have been moved into today.
  let day = startOfDay(toLocalTime(schedule.zone, after).day) - dayMs;
  for (let idle = 0; runs.length < n && idle <= longestGapDays; day += dayMs, idle += 1) {
    if (!runsOn(schedule, day)) continue;
    for (const time of timesOf(schedule)) {
      const at = findMoment(schedule.zone, toUtcDay(new Date(day)), toMinutes(time)).getTime();
      // Two times may meet in one moment where hours or a day were left out.
      if (at <= last || runs.length >= n) continue;
      runs.push(new Date(at));
      last = at;
      idle = 0;
    }
  }
  return runs;
}

function timesOf({ time, everyHours = 24 }: Schedule): string[] {
  const [hour = 0] = time.split(':').map(Number);
  const count = Math.ceil((24 - hour) / everyHours);
  return Array.from({ length: count }, (_, nth) => {
    const hours = String(hour + nth * everyHours).padStart(2, '0');
    return `${hours}${time.slice(2)}`;
  });
}

/** @throws RangeError for a schedule that has no days. */
export function findNextRun(schedule: Schedule, after: Date): Date {
  const [next] = findNextRuns(schedule, after, 1);
  if (!next) throw new RangeError('a schedule without days never runs');
  return next;
}

function runsOn({ weekdays, monthDays }: Schedule, day: Day): boolean {
  const date = new Date(day);
  if (weekdays.includes(date.getUTCDay() || 7)) return true;
  const inMonth = date.getUTCDate();
  if (monthDays.includes(inMonth)) return true;
  const isLast = new Date(day + dayMs).getUTCDate() === 1;
  return isLast && monthDays.some((wanted) => wanted > inMonth);
}
