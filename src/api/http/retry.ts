import { ApiError } from './errors.ts';

/** Three tries and a few seconds in all, because a person is waiting for the answer. */
const maxTries = 3;
const maxWaitMs = 4_000;

interface RetryState {
  readonly error: ApiError;
  /** Tries so far, including this one. */
  readonly tries: number;
  readonly waitedMs: number;
  /** 0 ≤ x < 1, for jitter. */
  readonly random: number;
}

/**
 * The retry rule for reads: 429 after the service's Retry-After if that fits into the time left; 5xx, no connection and
 * a cut body. A timeout has already cost the person ten seconds and is not repeated. Returns milliseconds to wait before
 * the next try, or undefined to give up.
 */
export function findRetryDelay({ error, tries, waitedMs, random }: RetryState): number | undefined {
  if (tries >= maxTries || !isTransient(error) || error.code === 'timeout') return undefined;
  const { retryAfterSeconds: asked } = error;
  const backoff = 250 * 2 ** (tries - 1) * (1 + random);
  // Never earlier than asked; the jitter keeps many waiters from coming back at once.
  const afterPause = asked === undefined ? backoff * 2 : asked * 1000 + 100 * random;
  const wait = error.code === 'rate_limited' ? afterPause : backoff;
  return wait <= maxWaitMs - waitedMs ? wait : undefined;
}

/** Retry-After: seconds, or an HTTP date (RFC 9110 §10.2.3). Undefined where it is missing or says neither. */
export function readRetryAfter(header: string | null, now: number): number | undefined {
  if (header === null) return undefined;
  if (/^\s*\d+(\.\d+)?\s*$/.test(header)) return Math.min(Number(header), 86_400);
  // HTTP dates begin with the day's name; Date.parse alone would take "-5" for a year.
  const at = /^\s*[A-Za-z]/.test(header) ? Date.parse(header) : Number.NaN;
  return Number.isNaN(at) ? undefined : Math.min(Math.max(0, (at - now) / 1000), 86_400);
}

/** Failures of the service or the network, not of the request. */
const transientCodes = new Set(['unavailable', 'unreachable', 'timeout', 'cut', 'rate_limited']);

/** The same request may succeed in a moment. */
export function isTransient(error: ApiError): boolean {
  return transientCodes.has(error.code);
}

/** Bounds the failed requests of one piece of work, retries included. */
export interface ErrorBudget {
  /** Runs one try of one request in its turn. @throws its error; the last one, without sending, if the budget is spent. */
  spend<T>(attempt: () => Promise<T>): Promise<T>;
  /** Failed requests so far. */
  readonly spent: () => number;
}

/**
 * A budget of `most` failed requests. Until the first success requests go out one by one and the first failure ends the
 * work: a service that is down is asked once. Afterwards no more run at once than may still fail.
 */
export function createErrorBudget(most: number): ErrorBudget {
  let spent = 0;
  let underWay = 0;
  let isUp = false;
  let last: ApiError | undefined;
  let changed = Promise.withResolvers<void>();
  return {
    spent: () => spent,
    async spend(attempt) {
      for (;;) {
        if (last && (!isUp || spent >= most)) throw last;
        if (underWay < (isUp ? most - spent : 1)) break;
        await changed.promise;
      }
      underWay += 1;
      try {
        const answer = await attempt();
        isUp = true;
        return answer;
      } catch (error) {
        if (error instanceof ApiError && isTransient(error)) {
          spent += 1;
          last = error;
        } else if (error instanceof ApiError && error.code !== 'cancelled') isUp = true;
        throw error;
      } finally {
        underWay -= 1;
        changed.resolve();
        changed = Promise.withResolvers();
      }
    },
  };
}
