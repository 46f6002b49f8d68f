import type { ApiError } from './errors.ts';

/** Three tries and a few seconds in all: somebody is waiting for the answer. */
const tries = 3;
const longestWaitMs = 4_000;

export interface Attempted {
  readonly error: ApiError;
  /** Whether the operation only reads. A DELETE or a change is never repeated blindly. */
  readonly reads: boolean;
  /** Tries so far, this one included. */
  readonly tries: number;
  /** Waited so far, ms. */
  readonly waitedMs: number;
  /** 0 ≤ x < 1, for jitter. */
  readonly random: number;
}

/**
 * The retry rule (cdn-api.md §1.4): 429 for every method but what is sent `once`, after the service's own Retry-After where it fits into
 * the time there is; 5xx, no connection and a body that broke off for reads only. A timeout has cost the person ten
 * seconds already and is not repeated. Milliseconds to wait before the next try, or undefined to give up.
 */
export function waitBeforeRetry({
  error,
  reads,
  tries: done,
  waitedMs,
  random,
}: Attempted): number | undefined {
  if (done >= tries) return undefined;
  const backoff = 250 * 2 ** (done - 1) * (1 + random);
  const left = longestWaitMs - waitedMs;
  switch (error.code) {
    case 'rate_limited': {
      const asked = error.retryAfterSeconds;
      // Never earlier than asked; the jitter keeps many waiters from coming back at once.
      const wait = asked === undefined ? backoff * 2 : asked * 1000 + 100 * random;
      return wait <= left ? wait : undefined;
    }
    case 'unavailable':
    case 'unreachable':
    case 'cut':
      return reads && backoff <= left ? backoff : undefined;
    case 'key_refused':
    case 'refused':
    case 'not_found':
    case 'timeout':
    case 'unexpected':
    case 'cancelled':
      return undefined;
  }
}

/** Retry-After: seconds, or an HTTP date (RFC 9110 §10.2.3). Undefined where it is missing or says neither. */
export function readRetryAfter(header: string | null, now: number): number | undefined {
  if (header === null) return undefined;
  if (/^\s*\d+(\.\d+)?\s*$/.test(header)) return Math.min(Number(header), 86_400);
  // HTTP dates begin with the day's name; Date.parse alone would take "-5" for a year.
  const at = /^\s*[A-Za-z]/.test(header) ? Date.parse(header) : Number.NaN;
  return Number.isNaN(at) ? undefined : Math.min(Math.max(0, (at - now) / 1000), 86_400);
}
