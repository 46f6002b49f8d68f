import { findOldestEnd } from '../../api/event-logs.ts';
import { hourMs, minuteMs } from '../../lib/time.ts';

export type Window = { readonly from: Date; readonly to: Date };

export function defaultWindow(now: Date): Window {
  return { from: new Date(floor(now).getTime() - 24 * hourMs), to: floor(now) };
}

/** Whether a window ends within the 72 hours. Where it begins is the CDN's to refuse. */
export function endsInTime({ to }: Window, now: Date): boolean {
  return to > findOldestEnd(now);
}

/** The nearest window that is surely valid: it begins before it ends, ends by now, and lies in the last 72 hours. */
export function correctWindow(from: Date | undefined, to: Date | undefined, now: Date): Window {
  if (!from || !to) return defaultWindow(now);
  const [first, last] = from < to ? [from, to] : [to, from];
  const end = last > now ? floor(now) : last;
  const start = first < end ? first : new Date(end.getTime() - hourMs);
  const earliest = findOldestEnd(now);
  if (end <= earliest) return defaultWindow(now);
  return { from: start < earliest ? earliest : start, to: end };
}

/** Date-time pickers have whole minutes. */
function floor(at: Date): Date {
  return new Date(Math.floor(at.getTime() / minuteMs) * minuteMs);
}
