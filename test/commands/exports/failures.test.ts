import { open } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { endsTooEarly, exportOperation } from '../../../src/api/event-logs.ts';
import { ApiError } from '../../../src/api/http/errors.ts';
import { RolesUnknown } from '../../../src/auth/policy/authorizer.ts';
import { explainEnd, findRetry } from '../../../src/commands/exports/failures.ts';
import { UserError } from '../../../src/errors.ts';
import { SlackFailure } from '../../../src/outbox/slack-port.ts';

const now = new Date('2026-11-21T12:00:00Z');
const pauseOf = (error: unknown, attempt = 1, askedAt = now): number | undefined =>
  findRetry(error, { attempt, askedAt }, now)?.retryAfterMs;
const api = (code: ConstructorParameters<typeof ApiError>[0]['code'], more = {}): ApiError =>
  new ApiError({ code, operation: exportOperation, sent: true, ...more });
const refused = (code: string, more = {}): SlackFailure => new SlackFailure(code, more);

test('a failure of the CDN that may pass is retried three times, with growing pauses', () => {
  const pauses = [1, 2, 3, 4].map((attempt) => pauseOf(api('cut'), attempt));
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
  expect(pauseOf(error)).toBe(ms);
});

test.each(['ratelimited', 'org_login_required', 'upload_failed'])(
  'Slack’s %s is waited for with growing pauses until the export is a day old',
  (code) => {
    const pauses = Array.from({ length: 40 }, (_, nth) => pauseOf(refused(code), nth + 1) ?? 0);
    expect(pauses).toEqual(pauses.toSorted((one, other) => one - other));
    expect([pauses[0], pauses.at(-1)]).toEqual([2000, 3_600_000]);
    expect(pauseOf(refused(code), 40, new Date(now.getTime() - 86_400_000))).toBeUndefined();
  },
);

test.each([
  api('refused', { errorKey: 'invalid_plan_type.event_logs' }),
  api('not_found'),
  api('key_refused'),
  new UserError(endsTooEarly),
])('%s is told, and not tried again', (error) => {
  expect([pauseOf(error), explainEnd(error)]).toEqual([undefined, error]);
});

test.each([
  'missing_scope',
  'file_uploads_disabled',
  'file_upload_size_restricted',
  'not_in_channel',
  'restricted_action',
  'is_archived',
  'upload_too_large',
  'upload_refused',
])('%s is told with what helps', (code) => {
  expect(pauseOf(refused(code))).toBeUndefined();
  const { message, hint } = explainEnd(refused(code)) as UserError;
  expect([message, hint]).toMatchSnapshot();
});

test.skipIf(process.platform !== 'linux')('a full disk is told as one', async () => {
  const full = await open('/dev/full', 'w');
  const cause: unknown = await full.write('x').catch((failure: unknown) => failure);
  await full.close();
  expect(explainEnd(cause)).toMatchObject({ message: expect.stringMatching(/disk/) });
});
