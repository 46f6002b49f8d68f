import { tzOffset } from '@date-fns/tz/tzOffset';
import { dayMs, minuteMs, startOfDay, toUtcDay } from './time.ts';

// A zone is a name of the IANA database (`Europe/Vienna`) or a fixed offset (`+05:30`).

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
  return writeOffset(offsetSeconds / 60);
}

function writeOffset(offsetMinutes: number): string {
  const minutes = Math.round(Math.abs(offsetMinutes));
  const parts = [Math.floor(minutes / 60), minutes % 60].map((part) => String(part).padStart(2, '0'));
  return `${offsetMinutes < 0 ? '-' : '+'}${parts.join(':')}`;
}

function offsetMs(zone: string, at: number): number {
  return tzOffset(zone, new Date(at)) * minuteMs;
}

export interface LocalTime {
  readonly day: string;
  readonly minutes: number;
  readonly weekday: number;
}

export function toLocalTime(zone: string, at: Date): LocalTime {
  const local = new Date(at.getTime() + offsetMs(zone, at.getTime()));
  const minutes = local.getUTCHours() * 60 + local.getUTCMinutes();
  return { day: toUtcDay(local), minutes, weekday: local.getUTCDay() || 7 };
}

export function toMinutes(time: string): number {
  const [hours = 0, minutes = 0] = time.split(':').map(Number);
  return hours * 60 + minutes;
}

/** `+02:00` in an hour that comes twice at the end of summer time, else undefined. */
export function findAmbiguousOffset(zone: string, at: number): string | undefined {
  const { day, minutes } = toLocalTime(zone, new Date(at));
  const [first, second] = (['first', 'second'] as const).map((twice) =>
    findMoment(zone, day, minutes, { twice }).getTime(),
  );
  return first === second ? undefined : writeOffset(offsetMs(zone, at) / minuteMs);
}

/** When a zone's clock shows these minutes: `twice` chooses where it does so twice, `skipped` where it never does. */
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
