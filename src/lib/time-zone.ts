import { tzOffset } from '@date-fns/tz/tzOffset';
import { dayMs, minuteMs, startOfDay, toUtcDay } from './time.ts';

// A zone is a name of the IANA database (`Europe/Vienna`) or a fixed offset (`+05:30`).

/** Whether this names a time zone of the IANA database that this system knows. */
export function isTimeZone(name: string): boolean {
  // Node accepts offsets such as `+02:00` too, but they have no daylight saving time.
  if (!/^[a-z][\w+/-]{1,63}$/iu.test(name)) return false;
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone !== '';
  } catch {
    return false;
  }
}

/** The zone of a Slack profile; its present offset where this system does not know the name. */
export function readTimeZone(
  name: string | undefined,
  offsetSeconds: number | undefined,
): string | undefined {
  if (name !== undefined && isTimeZone(name)) return name;
  if (offsetSeconds === undefined || !Number.isFinite(offsetSeconds)) return undefined;
  const minutes = Math.round(Math.abs(offsetSeconds) / 60);
  const parts = [Math.floor(minutes / 60), minutes % 60].map((part) => String(part).padStart(2, '0'));
  return `${offsetSeconds < 0 ? '-' : '+'}${parts.join(':')}`;
}

/** How far a zone's clock is ahead of UTC at a moment, ms. */
function offsetMs(zone: string, at: number): number {
  return tzOffset(zone, new Date(at)) * minuteMs;
}

export interface LocalTime {
  /** `2026-11-20` */
  readonly day: string;
  /** Since midnight by the clock. */
  readonly minutes: number;
  /** 1 = Monday … 7 = Sunday. */
  readonly weekday: number;
}

export function toLocalTime(zone: string, at: Date): LocalTime {
  const local = new Date(at.getTime() + offsetMs(zone, at.getTime()));
  const minutes = local.getUTCHours() * 60 + local.getUTCMinutes();
  return { day: toUtcDay(local), minutes, weekday: local.getUTCDay() || 7 };
}

/** Minutes since midnight of `08:30`; 1,440 of `24:00`. */
export function toMinutes(time: string): number {
  const [hours = 0, minutes = 0] = time.split(':').map(Number);
  return hours * 60 + minutes;
}

/**
 * The moment at which a zone's clock shows so many minutes since midnight. Where clocks are put back, a time exists twice:
 * `twice` chooses. Where they are put forward, or a day is left out, it does not exist: the moment of the change, or
 * with `skipped: 'later'` as much later as was left out.
 */
export function findMoment(
  zone: string,
  day: string,
  minutes = 0,
  {
    twice = 'first',
    skipped = 'change',
  }: { readonly twice?: 'first' | 'second'; readonly skipped?: 'change' | 'later' } = {},
): Date {
  const shown = startOfDay(day) + minutes * minuteMs;
  // No zone is further from UTC than 14 hours, and none changes its clock twice within two days.
  const before = offsetMs(zone, shown - dayMs);
  const after = offsetMs(zone, shown + dayMs);
  const offsets = twice === 'first' ? [before, after] : [after, before];
  for (const offset of offsets)
    if (offsetMs(zone, shown - offset) === offset) return new Date(shown - offset);
  return skipped === 'later'
    ? new Date(shown - before)
    : findClockChange(zone, shown - after, shown - before);
}

/** The first moment, to the second, at which a zone's clock is no longer the one of `from`. */
function findClockChange(zone: string, from: number, until: number): Date {
  const old = offsetMs(zone, from);
  let [low, high] = [Math.floor(from / 1000), Math.ceil(until / 1000)];
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (offsetMs(zone, middle * 1000) === old) low = middle;
    else high = middle;
  }
  return new Date(high * 1000);
}
