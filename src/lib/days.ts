const dayMs = 86_400_000;

/** Whole UTC days in a row, the way the CDN files its logs. */
export interface Days {
  /** `2026-11-20` */
  readonly first: string;
  /** From 1 to 7. */
  readonly count: number;
}

/** The days in order: `['2026-11-20', '2026-11-21']`. */
export function eachDay({ first, count }: Days): string[] {
  return Array.from({ length: count }, (_, index) => shiftDay(first, index));
}

/** The UTC day of a moment, as `2026-11-20`. */
export function utcDay(at: Date): string {
  return at.toISOString().slice(0, 10);
}

/** ms since the epoch at which a day begins. */
export function dayStart(day: string): number {
  return Date.parse(`${day}T00:00:00Z`);
}

export function shiftDay(day: string, by: number): string {
  return utcDay(new Date(dayStart(day) + by * dayMs));
}
