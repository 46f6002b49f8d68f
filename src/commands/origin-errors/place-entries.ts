import type { OriginError } from '../../api/origin-errors/origin-errors.ts';
import { hourMs, listDays, minuteMs, toUtcDay } from '../../lib/time.ts';
import { boundsOf, type Period } from '../../views/origin-errors/period.ts';

/** A test of the entries of a day's log. One without a time is of its day, and of no part of it. */
export function createPeriodTest({ days, span }: Period): (entry: OriginError, day: string) => boolean {
  if (span) return ({ at }) => at !== undefined && at >= span.from && at < span.to;
  const all = new Set(listDays(days));
  return (_, day) => all.has(day);
}

/** Whether the hour before a moment is a part of the period, and not all of it. */
export function hasLastHour(period: Period, now: Date): boolean {
  const { from, to } = boundsOf(period);
  const at = now.getTime();
  return period.span
    ? to > at - minuteMs && from < at - hourMs - minuteMs
    : listDays(period.days).includes(toUtcDay(now));
}
