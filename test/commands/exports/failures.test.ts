import { open } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { endsTooEarly, exportOperation } from '../../../src/api/event-logs.ts';
import { ApiError } from '../../../src/api/http/errors.ts';
import { RolesUnknown } from '../../../src/auth/policy/authorizer.ts';
import { classifyFailure, type FailureVerdict } from '../../../src/commands/exports/failures.ts';
import { UserError } from '../../../src/errors.ts';
import { SlackFailure } from '../../../src/outbox/slack-port.ts';

const now = new Date('2026-11-21T12:00:00Z');
const classify = (error: unknown, attempt = 1, askedAt = now): FailureVerdict =>
  classifyFailure(error, { attempt, askedAt }, now);
const api = (code: ConstructorParameters<typeof ApiError>[0]['code'], more = {}): ApiError =>
  new ApiError({ code, operation: exportOperation, sent: true, ...more });
const refused = (code: string, more = {}): SlackFailure => new SlackFailure('refused', code, more);
const pauseOf = (verdict: FailureVerdict) => ('retryAfterMs' in verdict ? verdict.retryAfterMs : undefined);

test('a failure of the CDN that may pass is retried three times, with growing pauses', () => {
  const pauses = [1, 2, 3, 4].map((attempt) => pauseOf(classify(api('cut'), attempt)));
  expect(pauses).toEqual([2000, 10_000, 30_000, undefined]);
});

test.each([
  [api('rate_limited', { retryAfterSeconds: 120 }), 120_000],
  [api('rate_limited', { retryAfterSeconds: 3600 }), undefined],
  [refused('upload_failed', { retryAfterSeconds: 1 }), 2_000],
  // The log is there already.
  [refused('rate_limited', { retryAfterSeconds: 3600 }), 3_600_000],
  [new RolesUnknown(), 2_000],
])('a pause that %s asks for is kept, of the CDN up to ten minutes', (error, ms) => {
  expect(pauseOf(classify(error))).toBe(ms);
});

test.each(['ratelimited', 'org_login_required', 'upload_failed'])(
  'Slack’s %s is waited for with growing pauses until the export is a day old',
  (code) => {
    const pauses = Array.from({ length: 40 }, (_, nth) => pauseOf(classify(refused(code), nth + 1)) ?? 0);
    expect(pauses).toEqual(pauses.toSorted((one, other) => one - other));
    expect([pauses[0], pauses.at(-1)]).toEqual([2000, 3_600_000]);
    expect(pauseOf(classify(refused(code), 40, new Date(now.getTime() - 86_400_000)))).toBeUndefined();
  },
);

test.each([
  ['a missing plan, by its key', api('refused', { errorKey: 'invalid_plan_type.event_logs' }), true],
  ['a missing plan, by its status', api('refused', { status: 402 }), true],
  ['a missing plan, by its words', api('refused', { serviceMessage: 'Upgrade your plan.' }), true],
  ['a filter', api('refused', { status: 400, serviceMessage: 'Unknown filter field: planet' }), false],
  ['a window', api('refused', { errorKey: 'invalid_datetime_window.event_logs' }), false],
  ['an unknown zone', api('not_found'), false],
  ['a refused key', api('key_refused'), true],
  ['a window that is too old', new UserError(endsTooEarly), false],
])('after %s the same export is offered, or the form alone', (_, error, canRepeat) => {
  expect(classify(error)).toEqual({ error, canRepeat });
});

test.each([
  ['missing_scope', refused('missing_scope'), true],
  ['file_uploads_disabled', refused('file_uploads_disabled'), true],
  ['file_upload_size_restricted', refused('file_upload_size_restricted'), false],
  ['not_in_channel', refused('not_in_channel'), true],
  ['restricted_action', refused('restricted_action'), true],
  ['is_archived', refused('is_archived'), false],
  ['upload_too_large', refused('upload_too_large'), false],
  ['upload_refused', refused('upload_refused'), true],
])('%s is told with what helps', (_, cause, canRepeat) => {
  const verdict = classify(cause);
  expect(verdict).toMatchObject({ canRepeat });
  const { message, hint } = 'error' in verdict ? (verdict.error as UserError) : {};
  expect([message, hint]).toMatchSnapshot();
});

test.skipIf(process.platform !== 'linux')('a full disk is told as one', async () => {
  const full = await open('/dev/full', 'w');
  const cause: unknown = await full.write('x').catch((failure: unknown) => failure);
  await full.close();
  expect(classify(cause)).toMatchObject({
    canRepeat: true,
    error: { message: expect.stringMatching(/disk/) },
  });
});
