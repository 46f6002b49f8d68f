import { tzOffset } from '@date-fns/tz/tzOffset';
import { dayMs, minuteMs } from '../../../lib/time.ts';

/** A time of day by the wall clock of a zone, on any of `weekdays` and on any of `monthDays`. */
export interface Schedule {
  /** `09:00`, 24 hours. */
  readonly time: string;
  /** Again so many hours later, and so on until midnight; absent = once a day. */
  readonly everyHours?: number | undefined;
  /** IANA: `Europe/Vienna`. */
  readonly zone: string;
  /** 1 = Monday … 7 = Sunday. */
  readonly weekdays: readonly number[];
  /** 1 … 31. Where a month has no such day, its last one. */
  readonly monthDays: readonly number[];
}

/** A calendar day without a zone: its midnight in UTC, in milliseconds. */
type Day = number;

// A month has a last day, so every schedule runs within so many days.
const longestGapDays = 32;

/**
 * The next `n` runs after a moment, in order. A time that does not exist (clocks put forward, a day left out) runs at
 * the next one that does; one that exists twice (clocks put back) runs once, the first time.
 */
export function findNextRuns(schedule: Schedule, after: Date, n: number): Date[] {
  const runs: Date[] = [];
  let last = after.getTime();
  // A day earlier, since a time of yesterday may have been moved into today.
  let day = dayIn(schedule.zone, after) - dayMs;
  for (let idle = 0; runs.length < n && idle <= longestGapDays; day += dayMs, idle += 1) {
    if (!runsOn(schedule, day)) continue;
    for (const time of timesOf(schedule)) {
      const at = momentOf(day, { time, zone: schedule.zone });
      // Two times may meet in one moment where hours or a day were left out.
      if (at <= last || runs.length >= n) continue;
      runs.push(new Date(at));
      last = at;
      idle = 0;
    }
  }
  return runs;
}

/** The times of a day: one, or every few hours until midnight. */
function timesOf({ time, everyHours = 24 }: Schedule): string[] {
  const [hour = 0] = time.split(':').map(Number);
  const count = Math.ceil((24 - hour) / everyHours);
  return Array.from({ length: count }, (_, nth) => {
    const hours = String(hour + nth * everyHours).padStart(2, '0');
    return `${hours}${time.slice(2)}`;
  });
}

/** The next run after a moment. @throws RangeError for a schedule that has no days. */
export function findNextRun(schedule: Schedule, after: Date): Date {
  const [next] = findNextRuns(schedule, after, 1);
  if (!next) throw new RangeError('a schedule without days never runs');
  return next;
}

/** Whether this names a time zone of the IANA database, such as `Europe/Vienna` or `UTC`. */
export function isTimeZone(name: string): boolean {
  // Node accepts offsets such as `+02:00` too, but they have no daylight saving time.
  if (!/^[a-z][\w+/-]{1,63}$/iu.test(name)) return false;
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone !== '';
  } catch {
    return false;
  }
}

function runsOn({ weekdays, monthDays }: Schedule, day: Day): boolean {
  const date = new Date(day);
  if (weekdays.includes(date.getUTCDay() || 7)) return true;
  const inMonth = date.getUTCDate();
  if (monthDays.includes(inMonth)) return true;
  const isLast = new Date(day + dayMs).getUTCDate() === 1;
  return isLast && monthDays.some((wanted) => wanted > inMonth);
}

/** The local calendar day at a moment. */
function dayIn(zone: string, at: Date): Day {
  const local = at.getTime() + offsetMs(zone, at.getTime());
  return Math.floor(local / dayMs) * dayMs;
}

/** The moment at which clocks in the zone show the time on that day. */
function momentOf(day: Day, { time, zone }: Pick<Schedule, 'time' | 'zone'>): number {
  const [hours = 0, minutes = 0] = time.split(':').map(Number);
  const shown = day + (hours * 60 + minutes) * minuteMs;
  // No zone is further from UTC than 14 hours, and none changes its clock twice within two days.
  const before = offsetMs(zone, shown - dayMs);
  const behind = offsetMs(zone, shown + dayMs);
  // When clocks are put back, a time exists under both offsets: the earlier offset shows it first.
  for (const offset of [before, behind]) if (offsetMs(zone, shown - offset) === offset) return shown - offset;
  return findClockChange(zone, shown - behind, shown - before);
}

/** The first moment, to the second, at which a zone's clock is no longer the one of `from`. */
function findClockChange(zone: string, from: number, until: number): number {
  const old = offsetMs(zone, from);
  let [low, high] = [Math.floor(from / 1000), Math.ceil(until / 1000)];
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (offsetMs(zone, middle * 1000) === old) low = middle;
    else high = middle;
  }
  return high * 1000;
}

function offsetMs(zone: string, at: number): number {
  return tzOffset(zone, new Date(at)) * minuteMs;
}
