import { toLocalTime } from '../../lib/time-zone.ts';

/** Moments by the clock of one time zone, so that an answer has no second one. */
export interface Clock {
  /** IANA name: `Europe/Vienna`. */
  readonly zone: string;
  /** `2026-11-21` */
  readonly date: (at: number) => string;
  /** `21 Nov` */
  readonly day: (at: number) => string;
  /** `11:38` */
  readonly time: (at: number) => string;
  /** `11:38`, or `20 Nov 11:38` where that is not the day of the answer. */
  readonly moment: (at: number, asOf: Date) => string;
  /** `11`, or `11:30` where the clock is not a whole number of hours from UTC. */
  readonly hour: (at: number) => string;
}

// Creating a format takes longer than rendering a message; there are some hundred zones.
const clocks = new Map<string, Clock>();

/** The clock of a zone; that of UTC for none, or for one that this system does not know. */
export function createClock(zone = 'UTC'): Clock {
  const clock = clocks.get(zone) ?? makeClock(zone);
  clocks.set(zone, clock);
  return clock;
}

function makeClock(zone: string): Clock {
  let format: Intl.DateTimeFormat;
  try {
    format = new Intl.DateTimeFormat('en-GB', {
      timeZone: zone,
      day: 'numeric',
      month: 'short',
      hour: '2-digit',
      minute: '2-digit',
      hourCycle: 'h23',
    });
  } catch {
    return createClock();
  }
  // `21 Nov, 11:38`; newer systems write `Sept`.
  const split = (at: number): string[] => format.format(at).replace('Sept', 'Sep').split(', ');
  const time = (at: number): string => split(at)[1] ?? '';
  const day = (at: number): string => split(at)[0] ?? '';
  return {
    zone,
    moment: (at, asOf) => (day(at) === day(asOf.getTime()) ? time(at) : `${day(at)} ${time(at)}`),
    date: (at) => toLocalTime(zone, new Date(at)).day,
    day,
    time,
    hour: (at) => time(at).replace(/:00$/u, ''),
  };
}
