import type { CdnSimulator } from '../../../simulator/cdn/server.ts';

const minute = 60_000;
const dayMs = 24 * 60 * minute;

/** Epoch ms. */
export interface Span {
  readonly from: number;
  readonly until: number;
}

/** From `2027-03-24 10:00` until another moment, UTC. */
export function span(from: string, until: string): Span {
  const [first, last] = [from, until].map((text) => Date.parse(`${text.replace(' ', 'T')}:00Z`));
  return { from: first ?? Number.NaN, until: last ?? Number.NaN };
}

export function isIn({ from, until }: Span, at: number): boolean {
  return at >= from && at < until;
}

interface Entry {
  readonly at: number;
  /** When the service shows it. */
  readonly arrives: number;
  readonly code: string;
}

/** Origin errors of one zone that a test makes, shown by the CDN double as they arrive. */
export function createErrorSeries(cdn: CdnSimulator, zoneId: number) {
  const waiting: Entry[] = [];
  const shown: Entry[] = [];
  return {
    /** So many entries, evenly over a span. `lateMs`: each is shown that much later. */
    add({ from, until }: Span, count: number, { code = 'http_timeout', lateMs = 0 } = {}): void {
      for (let nth = 0; nth < count; nth += 1) {
        const at = from + Math.floor(((until - from) * nth) / count);
        waiting.push({ at, arrives: at + lateMs, code });
      }
    },
    /** Shows what has arrived by now, in the order in which it arrives. */
    showUntil(now: number): void {
      waiting.sort((a, b) => b.arrives - a.arrives);
      for (let next = waiting.at(-1); next && next.arrives <= now; next = waiting.at(-1)) {
        waiting.pop();
        const { at, code } = next;
        const key = `${zoneId}/${new Date(at).toISOString().slice(0, 10)}`;
        const { entries } = cdn.data.originErrors;
        const log = JSON.stringify({ RequestUrl: '/', PullZoneId: zoneId, ErrorCode: code, StatusCode: 502 });
        const labels = { ErrorCode: code, StatusCode: '502', ServerZone: 'DE' };
        const entry = { logId: `log-${zoneId}-${shown.length}`, timestamp: at, log, labels };
        entries.set(key, [...(entries.get(key) ?? []), entry]);
        shown.push(next);
      }
      // Nobody reads the log of a day before yesterday.
      for (const key of cdn.data.originErrors.entries.keys())
        if (Date.parse(key.slice(-10)) < now - 2 * dayMs) cdn.data.originErrors.entries.delete(key);
    },
    /** Entries of `from` or later that were shown by `by`. */
    count: (from: number, by: number): number =>
      shown.filter(({ at, arrives }) => at >= from && arrives <= by).length,
  };
}
