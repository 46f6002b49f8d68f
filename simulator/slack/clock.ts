import { randomBytes } from 'node:crypto';

/** Message timestamps: seconds with six digits, never the same twice, always growing. */
export function createTimestamps(now: () => number): () => string {
  let last = 0;
  return () => {
    last = Math.max(last + 100, Math.floor(now()) * 1000);
    return `${Math.floor(last / 1_000_000)}.${String(last % 1_000_000).padStart(6, '0')}`;
  };
}

/** An id like Slack's: a letter and ten characters. */
export function newId(letter: string): string {
  return letter + randomBytes(5).toString('hex').toUpperCase();
}

/** Seconds with six digits, as in `action_ts` and `event_ts`. */
export function formatSeconds(now: number): string {
  return `${Math.floor(now / 1000)}.${String(Math.floor((now % 1000) * 1000)).padStart(6, '0')}`;
}

const remembered = 50_000;

/** Drops the oldest entry of a map that only ever grows, so that a long bench does not fill the memory. */
export function evictOldest(map: Map<string, unknown>): void {
  const oldest = map.size > remembered ? map.keys().next().value : undefined;
  if (oldest !== undefined) map.delete(oldest);
}
