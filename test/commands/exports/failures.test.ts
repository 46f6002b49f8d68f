import { open } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { endsTooEarly, exportOperation } from '../../../src/api/event-logs.ts';
import { ApiError } from '../../../src/api/http/errors.ts';
import { RolesUnknown } from '../../../src/auth/policy/authorizer.ts';
import {
  classifyFailure,
  describePostFailure,
  type FailureVerdict,
} from '../../../src/commands/exports/failures.ts';
import { ExportStopped } from '../../../src/commands/exports/worker/gather.ts';
import { UserError } from '../../../src/errors.ts';
import { SlackFailure } from '../../../src/outbox/slack-port.ts';
import type { ExportRequest } from '../../../src/views/exports/exports.ts';

const now = new Date('2026-11-21T12:00:00Z');
const request: ExportRequest = {
  shieldZoneId: '501',
  from: new Date('2026-11-21T00:00:00Z'),
  to: new Date('2026-11-21T12:00:00Z'),
  query: '',
  filters: [],
  spreadsheetSafe: false,
  pseudonyms: false,
};

function classify(error: unknown, window: Partial<ExportRequest> = {}, attempt = 1, askedAt = now) {
  return classifyFailure(error, { request: { ...request, ...window }, attempt, askedAt }, now);
}

function api(code: ConstructorParameters<typeof ApiError>[0]['code'], more = {}): ApiError {
  return new ApiError({ code, operation: exportOperation, sent: true, ...more });
}

const pauseOf = (verdict: FailureVerdict) => ('retryAfterMs' in verdict ? verdict.retryAfterMs : undefined);
const readMoment = (at: Date) => at.toISOString().slice(8, 16);
const offersOf = (verdict: FailureVerdict) => ('offers' in verdict ? verdict.offers : []);

/** The error that people read. */
function readError(verdict: FailureVerdict): object {
  const { message, hint } = 'error' in verdict ? (verdict.error as UserError) : {};
  return { message, hint };
}

test('a failure of the CDN that may pass is retried three times, with growing pauses', () => {
  const pauses = [1, 2, 3, 4].map((attempt) => pauseOf(classify(api('cut'), {}, attempt)));
  expect(pauses).toEqual([2000, 10_000, 30_000, undefined]);
});

test.each([
  [api('rate_limited', { retryAfterSeconds: 120 }), 120_000],
  [api('rate_limited', { retryAfterSeconds: 3600 }), undefined],
  [new SlackFailure('refused', 'upload_failed', { retryAfterSeconds: 45 }), 45_000],
  [new SlackFailure('refused', 'upload_failed', { retryAfterSeconds: 1 }), 2_000],
  // The log is there already.
  [new SlackFailure('refused', 'rate_limited', { retryAfterSeconds: 3600 }), 3_600_000],
])('a pause that %s asks for is kept, of the CDN up to ten minutes', (error, ms) => {
  expect(pauseOf(classify(error))).toBe(ms);
});

test.each([
  'ratelimited',
  'rate_limited',
  'team_added_to_org',
  'org_login_required',
  'accesslimited',
  'message_limit_exceeded',
  'service_unavailable',
  'upload_failed',
])('Slack’s %s is waited for with growing pauses until the export is a day old', (code) => {
  const error = new SlackFailure('refused', code);
  const pauses = Array.from({ length: 40 }, (_, nth) => pauseOf(classify(error, {}, nth + 1)) ?? 0);
  expect(pauses).toEqual(pauses.toSorted((one, other) => one - other));
  expect(pauses[0]).toBe(2000);
  expect(pauses.at(-1)).toBe(3_600_000);
  const yesterday = new Date(now.getTime() - 86_400_000);
  expect(pauseOf(classify(error, {}, 40, yesterday))).toBeUndefined();
});

test('a role that Slack does not tell is asked for again', () => {
  expect(pauseOf(classify(new RolesUnknown()))).toBe(2000);
});

test('a window that the CDN refuses for its start is offered from 72 hours ago', () => {
  const from = new Date('2026-11-18T11:00:00Z');
  for (const error of [
    api('refused', { errorKey: 'invalid_datetime_window.event_logs' }),
    api('refused', { serviceMessage: 'You can only view the past 3 days (72 hours) of Event Logs.' }),
  ])
    expect(classify(error, { from })).toEqual({
      error,
      offers: [
        { from: new Date('2026-11-18T13:00:00Z'), to: new Date('2026-11-21T11:50:00Z') },
        { from, to: request.to, change: true },
      ],
    });
});

test.each([
  ['ended too long ago', new UserError(endsTooEarly), '18T08:00', '18T12:00', '20T11:50 21T11:50'],
  ['ends now', undefined, '21T06:00', '21T12:00', '21T06:00 21T11:50'],
  ['begins at the edge', undefined, '18T12:20', '21T11:00', '18T13:00 21T11:00'],
  ['is within the 72 hours', undefined, '20T10:00', '20T12:00', '20T11:50 21T11:50'],
  ['is out of them', undefined, '16T10:00', '17T12:00', '20T11:50 21T11:50'],
])('a refused window that %s is offered as the CDN may take it', (_, known, from, to, expected) => {
  const refused = api('refused', { status: 401, errorKey: 'invalid_datetime_window.event_logs' });
  const window = { from: new Date(`2026-11-${from}:00Z`), to: new Date(`2026-11-${to}:00Z`) };
  const offers = offersOf(classify(known ?? refused, window)).filter(({ change }) => !change);
  expect(offers.map((offer) => `${readMoment(offer.from)} ${readMoment(offer.to)}`)).toEqual([expected]);
});

test.each([
  ['missing_scope', 2],
  ['file_uploads_disabled', 2],
  ['blocked_file_type', 2],
  ['file_upload_size_restricted', 1],
  ['not_in_channel', 2],
  ['upload_too_large', 1],
  ['upload_refused', 2],
])('an upload that Slack refuses with %s is told with what helps', (code, buttons) => {
  const verdict = classify(new SlackFailure('refused', code));
  expect(readError(verdict)).toMatchSnapshot();
  expect(offersOf(verdict)).toHaveLength(buttons);
});

test.each([1.2e9, 3e9, 9e10, undefined])(
  'a log of %s bytes is too large, and how long a window may be is told',
  (announced) => {
    const verdict = classify(new ExportStopped({ kind: 'too-large', limit: 1e9, announced }));
    expect(readError(verdict)).toMatchSnapshot();
    expect(offersOf(verdict).map(({ change }) => change)).toEqual([true]);
  },
);

test.each(['overdue', 'abandoned'] as const)('an export that is %s is told, to be changed', (kind) => {
  const verdict = classify(new ExportStopped({ kind }));
  expect(readError(verdict)).toMatchSnapshot();
  expect(offersOf(verdict).map(({ change }) => change)).toEqual([true]);
});

test.skipIf(process.platform !== 'linux')('a full disk is told as one', async () => {
  const full = await open('/dev/full', 'w');
  const error: unknown = await full.write('x').catch((failure: unknown) => failure);
  await full.close();
  const verdict = classify(error);
  expect(readError(verdict)).toMatchSnapshot();
  expect(offersOf(verdict)).toHaveLength(2);
});

test.each([
  'not_in_channel',
  'channel_not_found',
  'is_archived',
  'account_inactive',
  // It was tried until it expired.
  undefined,
  'restricted_action',
])('a first message that is refused with %s says so', (code) => {
  expect(describePostFailure({ code, reference: undefined }, 'C1')).toMatchSnapshot();
});

test.each([
  ['a missing plan, by its key', api('refused', { errorKey: 'invalid_plan_type.event_logs' }), undefined],
  ['a missing plan, by its status', api('refused', { status: 402 }), undefined],
  [
    'a missing plan, by its words',
    api('refused', { serviceMessage: 'Upgrade your plan to use this.' }),
    undefined,
  ],
  ['a filter', api('refused', { status: 400, serviceMessage: 'Unknown filter field: planet' }), true],
  ['an unknown zone', api('not_found'), true],
  ['a refused key', api('key_refused'), undefined],
])('after %s the same export or the form is offered', (_, error, change) => {
  expect(offersOf(classify(error)).map((offer) => offer.change)).toEqual(change ? [true] : [undefined, true]);
});
