import { ApiError, type ApiErrorCode } from './errors.ts';

/** Three tries and a few seconds in all: somebody is waiting for the answer. */
const maxTries = 3;
const maxWaitMs = 4_000;

export interface RetryState {
  readonly error: ApiError;
  /** Whether the operation only reads. A DELETE or a change is never repeated blindly. */
  readonly isRead: boolean;
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

/** Says nothing about what was asked for: the service, or the way to it, is not well. */
const transientCodes = new Set<ApiErrorCode>([
  'unavailable',
  'unreachable',
  'timeout',
  'cut',
  'rate_limited',
]);

/** How many requests of one piece of work may come back without an answer of use, retries included. */
export interface ErrorBudget {
  /** Does one try of one request, when it is its turn. @throws what it throws; what failed last, unsent, where the allowance is spent. */
  spend<T>(attempt: () => Promise<T>): Promise<T>;
  /** Requests so far that brought no answer of use. */
  readonly spent: () => number;
}

/**
 * An allowance of `most` such requests. Until the first answer of use requests go out one by one, and the first failure
 * is the last: a service that is down is asked once. Afterwards never more are under way than may still fail.
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

/** Whether the same may work in a moment. */
export function isTransient(error: ApiError): boolean {
  return transientCodes.has(error.code);
}
