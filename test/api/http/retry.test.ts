import { expect, test } from 'vitest';
import { ApiError, type ApiErrorCode } from '../../../src/api/http/errors.ts';
import { findRetryDelay, readRetryAfter } from '../../../src/api/http/retry.ts';

const failed = (code: ApiErrorCode, retryAfterSeconds?: number) =>
  new ApiError({ code, operation: 'Any', sent: true, retryAfterSeconds });

test.each([
  // code, reads, tries, waited, wait
  ['unavailable', true, 1, 0, 250],
  ['unavailable', true, 2, 250, 500],
  ['unavailable', true, 3, 750, undefined],
  ['unavailable', false, 1, 0, undefined],
  ['unreachable', true, 1, 0, 250],
  ['unreachable', false, 1, 0, undefined],
  ['cut', true, 1, 0, 250],
  ['cut', false, 1, 0, undefined],
  ['rate_limited', true, 1, 0, 500],
  ['rate_limited', false, 1, 0, 500],
  ['timeout', true, 1, 0, undefined],
  ['unexpected', true, 1, 0, undefined],
  ['refused', true, 1, 0, undefined],
  ['key_refused', true, 1, 0, undefined],
  ['not_found', true, 1, 0, undefined],
  ['cancelled', true, 1, 0, undefined],
] as const)('%s of a read (%s), try %i, %i ms waited: wait %s', (code, reads, tries, waitedMs, wait) => {
  expect(findRetryDelay({ error: failed(code), isRead: reads, tries, waitedMs, random: 0 })).toBe(wait);
});

const afterPause = (asked: number, more: { waitedMs?: number; random?: number } = {}) =>
  findRetryDelay({
    error: failed('rate_limited', asked),
    isRead: false,
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
