import { parseISO } from 'date-fns/parseISO';

export const minuteMs = 60_000;
export const hourMs = 60 * minuteMs;
export const dayMs = 24 * hourMs;

/** Consecutive UTC days, the unit in which the CDN stores its logs. */
export interface DayRange {
  readonly first: string;
  readonly count: number;
}

export function listDays({ first, count }: DayRange): string[] {
  return Array.from({ length: count }, (_, index) => shiftDay(first, index));
}

export function toUtcDay(at: Date): string {
  return at.toISOString().slice(0, 10);
}

export function startOfDay(day: string): number {
  return Date.parse(`${day}T00:00:00Z`);
}

export function shiftDay(day: string, by: number): string {
  return toUtcDay(new Date(startOfDay(day) + by * dayMs));
}

/** ISO text as milliseconds since the epoch; without a zone it is UTC. Undefined if it is not a time. */
export function parseIsoTime(text: string): number | undefined {
  if (!/^\d{4}-\d{2}-\d{2}/.test(text)) return undefined;
  const hasTime = /\d[T ]\d/i.test(text);
  const hasZone = /(?:Z|[+-]\d{2}(?::?\d{2})?)$/i.test(text);
  const whole = hasZone ? text : `${text}Z`;
  const at = parseISO(hasTime ? whole.toUpperCase() : `${text}T00:00:00Z`).getTime();
  return Number.isNaN(at) ? undefined : at;
}

/** A timestamp in milliseconds, whether it was in seconds, milliseconds, microseconds or nanoseconds: its size tells. */
export function toEpochMs(timestamp: number): number {
  const size = Math.abs(timestamp);
  if (size < 1e11) return timestamp * 1000;
  if (size < 1e14) return timestamp;
  return Math.floor(timestamp / (size < 1e17 ? 1e3 : 1e6));
}

// Work may hold the event loop this long. Slack's acknowledgements then wait for less than 10 ms.
const maxBusyMs = 4;
let busySince = performance.now();
let nextTurn: Promise<void> | undefined;

/** Lets timers and deliveries run if this thread has been busy too long. Await it between pieces of work of at most 1 ms. */
export async function yieldToEventLoop(): Promise<void> {
  while (performance.now() - busySince > maxBusyMs) {
    nextTurn ??= new Promise((resolve) => {
      setImmediate(() => {
        nextTurn = undefined;
        busySince = performance.now();
        resolve();
      });
    });
    await nextTurn;
  }
}
