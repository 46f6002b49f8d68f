import { ApiError, type ApiErrorCode } from './errors.ts';

/** Says nothing about what was asked for: the service, or the way to it, is not well. */
const unwell = new Set<ApiErrorCode>(['unavailable', 'unreachable', 'timeout', 'cut', 'rate_limited']);

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
        if (error instanceof ApiError && unwell.has(error.code)) {
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
export function isUnwell(error: ApiError): boolean {
  return unwell.has(error.code);
}
