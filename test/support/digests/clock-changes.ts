import { tzOffset } from '@date-fns/tz/tzOffset';

const minute = 60_000;
const day = 24 * 60 * minute;

interface DayAndTime {
  readonly day: number;
  readonly time: string;
}

/**
 * The day of the month, and the time on it, at which a zone's clocks are put forward or back most often: half of what
 * they leave out or show twice. The last day of the month where they never are.
 */
export function findUsualClockChange(zone: string, from: number, until: number): DayAndTime {
  const found = new Map<string, number>();
  for (let at = from; at < until; at += day) {
    const [before, after] = [offset(zone, at), offset(zone, at + day)];
    if (before === after) continue;
    const change = firstWith(after, zone, at, at + day);
    // Put forward, the clock shows nothing between the two; put back, everything between them twice.
    const key = new Date(change + (before + after) / 2).toISOString().slice(8, 16);
    found.set(key, (found.get(key) ?? 0) + 1);
  }
  const [most = '31T09:00'] = [...found].toSorted((a, b) => b[1] - a[1]).map(([key]) => key);
  const [inMonth = '', time = ''] = most.split('T');
  return { day: Number(inMonth), time };
}

/** Whether clocks do not show this time on a run's day, or show it once more. */
export function isInClockChange(at: Date, time: string, zone: string): boolean {
  const now = offset(zone, at.getTime());
  const shown = new Date(at.getTime() + now).toISOString().slice(11, 16);
  const again = [30, 60, 120].some((by) => offset(zone, at.getTime() + by * minute) === now - by * minute);
  return shown !== time || again;
}

function firstWith(wanted: number, zone: string, from: number, until: number): number {
  let [low, high] = [from, until];
  while (high - low > minute) {
    const middle = low + Math.floor((high - low) / 2 / minute) * minute;
    if (offset(zone, middle) === wanted) high = middle;
    else low = middle;
  }
  return high;
}

function offset(zone: string, at: number): number {
  return tzOffset(zone, new Date(at)) * minute;
}
