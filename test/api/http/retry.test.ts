import { expect, test } from 'vitest';
import { ApiError, type ApiErrorCode } from '../../../src/api/http/errors.ts';
import { findRetryDelay, readRetryAfter } from '../../../src/api/http/request.ts';

const createFailure = (code: ApiErrorCode, retryAfterSeconds?: number) =>
  new ApiError({ code, operation: 'Any', sent: true, retryAfterSeconds });

test.each([
  // code, tries, waited, wait
  ['unavailable', 1, 0, 250],
  ['unavailable', 2, 250, 500],
  ['unavailable', 3, 750, undefined],
  ['unreachable', 1, 0, 250],
  ['cut', 1, 0, 250],
  ['rate_limited', 1, 0, 500],
  ['timeout', 1, 0, undefined],
  ['unexpected', 1, 0, undefined],
  ['refused', 1, 0, undefined],
  ['key_refused', 1, 0, undefined],
  ['not_found', 1, 0, undefined],
  ['cancelled', 1, 0, undefined],
] as const)('%s of a read, try %i, %i ms waited: wait %s', (code, tries, waitedMs, wait) => {
  expect(findRetryDelay({ error: createFailure(code), tries, waitedMs, random: 0 })).toBe(wait);
});

const afterPause = (asked: number, more: { waitedMs?: number; random?: number } = {}) =>
  findRetryDelay({
    error: createFailure('rate_limited', asked),
    tries: 1,
    waitedMs: 0,
    random: 0,
    ...more,
  });

test('a pause that was asked for is kept to, or not waited for at all', () => {
  expect(afterPause(2)).toBe(2000);
  expect(afterPause(0)).toBe(0);
  expect(afterPause(30)).toBeUndefined();
  expect(afterPause(2, { waitedMs: 3000 })).toBeUndefined();
});

test('jitter only ever adds', () => {
  expect(afterPause(1, { random: 0 })).toBe(1000);
  expect(afterPause(1, { random: 0.5 })).toBe(1050);
});

const now = Date.parse('2026-11-20T10:00:00Z');

test.each([
  ['7', 7],
  [' 0 ', 0],
  ['1.5', 1.5],
  ['Fri, 20 Nov 2026 10:00:30 GMT', 30],
  ['Fri, 20 Nov 2026 09:59:00 GMT', 0],
  ['999999999', 86_400],
  ['soon', undefined],
  ['-5', undefined],
  ['', undefined],
  [null, undefined],
])('Retry-After %j means %s seconds', (header, seconds) => {
  expect(readRetryAfter(header, now)).toBe(seconds);
});
