import { ApiError, type ApiErrorCode } from './errors.ts';

/** Three tries and a few seconds in all, because a person is waiting for the answer. */
const maxTries = 3;
const maxWaitMs = 4_000;

export interface RetryState {
  readonly error: ApiError;
  /** The operation only reads. A DELETE or a change is never repeated blindly. */
  readonly isRead: boolean;
  /** Tries so far, including this one. */
  readonly tries: number;
  /** Waited so far, ms. */
  readonly waitedMs: number;
  /** 0 ≤ x < 1, for jitter. */
  readonly random: number;
}

/**
 * The retry rule: 429 for every method except requests sent `once`, after the service's Retry-After if that fits into the
 * time left; 5xx, no connection and a cut body for reads only. A timeout has already cost the person ten seconds and is
 * not repeated. Returns milliseconds to wait before the next try, or undefined to give up.
 */
export function findRetryDelay({
  error,
  isRead: reads,
  tries: done,
  waitedMs,
  random,
}: RetryState): number | undefined {
  if (done >= maxTries) return undefined;
  const backoff = 250 * 2 ** (done - 1) * (1 + random);
  const left = maxWaitMs - waitedMs;
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

/** Failures of the service or the network, not of the request. */
const transientCodes = new Set<ApiErrorCode>([
  'unavailable',
  'unreachable',
  'timeout',
  'cut',
  'rate_limited',
]);

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
  const room = (): number => (isUp ? most - spent : 1);
  const change = (): void => {
    changed.resolve();
    changed = Promise.withResolvers();
  };
  return {
    spent: () => spent,
    async spend(attempt) {
      for (;;) {
        if (last && (!isUp || spent >= most)) throw last;
        if (underWay < room()) break;
        await changed.promise;
      }
      underWay += 1;
      try {
        const answer = await attempt();
        isUp = true;
        return answer;
      } catch (error) {
        if (error instanceof ApiError && transientCodes.has(error.code)) {
          spent += 1;
          last = error;
        } else if (error instanceof ApiError && error.code !== 'cancelled') isUp = true;
        throw error;
      } finally {
        underWay -= 1;
        change();
      }
    },
  };
}

/** The same request may succeed in a moment. */
export function isTransient(error: ApiError): boolean {
  return transientCodes.has(error.code);
}
