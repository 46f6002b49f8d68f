import { open } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { endsTooEarly, exportOperation } from '../../../src/api/event-logs.ts';
import { ApiError } from '../../../src/api/http/errors.ts';
import { classifyFailure, type FailureVerdict } from '../../../src/commands/exports/failures.ts';
import { describePostFailure } from '../../../src/commands/exports/messages.ts';
import type { ExportRequest } from '../../../src/commands/exports/model.ts';
import { ExportTooLarge } from '../../../src/commands/exports/worker/limits.ts';
import { UserError } from '../../../src/errors.ts';
import { SlackFailure } from '../../../src/outbox/slack-port.ts';

const now = new Date('2026-11-21T12:00:00Z');
const request: ExportRequest = {
  shieldZoneId: '501',
  from: new Date('2026-11-21T00:00:00Z'),
  to: new Date('2026-11-21T12:00:00Z'),
  query: '',
  filters: [],
  spreadsheetSafe: false,
  pseudonyms: false,
  split: false,
};

function api(code: ConstructorParameters<typeof ApiError>[0]['code'], more = {}): ApiError {
  return new ApiError({ code, operation: exportOperation, sent: true, ...more });
}

/** The error that is told. */
function readTold(verdict: FailureVerdict): object {
  const { message, hint } = 'tell' in verdict ? (verdict.tell as UserError) : {};
  return { message, hint };
}

test('what may come back is tried again, longer and longer, and not for ever', () => {
  const waits = [1, 2, 3, 4].map((attempt) => classifyFailure(api('cut'), request, attempt, now));
  expect(waits.map((verdict) => ('retryAfterMs' in verdict ? verdict.retryAfterMs : 'tell'))).toEqual([
    2000,
    10_000,
    30_000,
    'tell',
  ]);
});

test('a pause that is asked for is kept, unless nobody would wait for it', () => {
  expect(classifyFailure(api('rate_limited', { retryAfterSeconds: 120 }), request, 1, now)).toMatchObject({
    retryAfterMs: 120_000,
  });
  expect(classifyFailure(api('rate_limited', { retryAfterSeconds: 3600 }), request, 1, now)).toHaveProperty(
    'tell',
  );
});

test('a window that the CDN refuses for its start comes back within the 72 hours', () => {
  const old = { ...request, from: new Date('2026-11-18T11:00:00Z') };
  for (const error of [
    api('refused', { errorKey: 'invalid_datetime_window.event_logs' }),
    api('refused', { serviceMessage: 'You can only view the past 3 days (72 hours) of Event Logs.' }),
  ]) {
    expect(classifyFailure(error, old, 1, now)).toEqual({
      tell: error,
      offers: [
        { from: new Date('2026-11-18T12:10:00Z'), to: old.to, split: false },
        { from: old.from, to: old.to, split: false, change: true },
      ],
    });
  }
});

test('a window that ended too long ago comes back as recent ones', () => {
  const old = { ...request, from: new Date('2026-11-18T08:00:00Z'), to: new Date('2026-11-18T12:00:00Z') };
  const verdict = classifyFailure(new UserError(endsTooEarly), old, 1, now);
  const offers = 'offers' in verdict ? verdict.offers : [];
  expect(offers.map(({ to, change }) => [to, change])).toEqual([
    [new Date('2026-11-21T11:50:00Z'), undefined],
    [new Date('2026-11-21T11:50:00Z'), undefined],
    [old.to, true],
  ]);
});

test('a window that only the CDN finds wrong is offered away from the edges, and recent ones after that', () => {
  const refused = api('refused', { status: 401, errorKey: 'invalid_datetime_window.event_logs' });
  const offers = (from: string, to: string) => {
    const verdict = classifyFailure(refused, { ...request, from: new Date(from), to: new Date(to) }, 1, now);
    const found = 'offers' in verdict ? verdict.offers.filter(({ change }) => !change) : [];
    return found.map(({ from, to }) => [from, to].map((at) => at.toISOString().slice(8, 16)).join(' '));
  };
  expect(offers('2026-11-21T06:00:00Z', '2026-11-21T12:00:00Z')).toEqual(['21T06:00 21T11:50']);
  expect(offers('2026-11-18T12:20:00Z', '2026-11-21T11:00:00Z')).toEqual(['18T13:00 21T11:00']);
  const recent = ['20T11:50 21T11:50', '21T05:50 21T11:50'];
  expect(offers('2026-11-20T10:00:00Z', '2026-11-20T12:00:00Z')).toEqual(recent);
  expect(offers('2026-11-16T10:00:00Z', '2026-11-17T12:00:00Z')).toEqual(recent);
});

test.each([
  ['missing_scope', 1],
  ['file_uploads_disabled', 1],
  ['blocked_file_type', 1],
  ['file_upload_size_restricted', 3],
  ['not_in_channel', 2],
])('an upload that Slack refuses with %s is told with what helps', (code, buttons) => {
  const verdict = classifyFailure(new SlackFailure('refused', code), request, 1, now);
  expect(readTold(verdict)).toMatchSnapshot();
  expect('offers' in verdict && verdict.offers).toHaveLength(buttons);
});

test('windows that are proposed cover the whole one, without a gap', () => {
  for (const [bytes, pieces] of [
    [1.2e9, 2],
    [3e9, 4],
    [9e10, 4],
  ] as const) {
    const verdict = classifyFailure(
      new ExportTooLarge({ bytes, announced: true, limit: 1e9 }),
      request,
      1,
      now,
    );
    const [splitting, ...others] = 'offers' in verdict ? verdict.offers : [];
    const windows = others.filter(({ change }) => !change);
    expect(others).toHaveLength(windows.length + 1);
    expect(splitting).toEqual({ from: request.from, to: request.to, split: true });
    expect(windows).toHaveLength(pieces);
    expect(windows[0]?.from).toEqual(request.from);
    expect(windows.at(-1)?.to).toEqual(request.to);
    for (const [nth, window] of windows.slice(1).entries()) expect(window.from).toEqual(windows[nth]?.to);
  }
});

test.skipIf(process.platform !== 'linux')('a full disk is told as one', async () => {
  const full = await open('/dev/full', 'w');
  const error: unknown = await full.write('x').catch((failure: unknown) => failure);
  await full.close();
  const verdict = classifyFailure(error, request, 1, now);
  expect(readTold(verdict)).toMatchSnapshot();
  expect('offers' in verdict && verdict.offers).toHaveLength(2);
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
  [45, 45_000],
  [1, 2_000],
  [3600, undefined],
])(
  'a pause of %d s that the address of an upload asks for is kept, unless nobody would wait',
  (seconds, ms) => {
    const error = new SlackFailure('refused', 'upload_failed', { retryAfterSeconds: seconds });
    const verdict = classifyFailure(error, request, 1, now);
    expect('retryAfterMs' in verdict ? verdict.retryAfterMs : undefined).toBe(ms);
  },
);

test.each(['upload_too_large', 'upload_refused'])('%s is told at once, with a way on', (code) => {
  const verdict = classifyFailure(new SlackFailure('refused', code), request, 1, now);
  expect('offers' in verdict && verdict.offers.length).toBeGreaterThan(0);
});

test.each([
  [
    'a plan that lacks it, by its key',
    api('refused', { errorKey: 'invalid_plan_type.event_logs' }),
    undefined,
  ],
  ['one by its status', api('refused', { status: 402 }), undefined],
  ['one by its words', api('refused', { serviceMessage: 'Upgrade your plan to use this.' }), undefined],
  ['a filter', api('refused', { status: 400, serviceMessage: 'Unknown filter field: planet' }), true],
  ['a zone nobody knows', api('not_found'), true],
  ['a refused key', api('key_refused'), undefined],
])('the way on after %s is the same again, or the form', (_, error, change) => {
  const verdict = classifyFailure(error, request, 1, now);
  const offers = 'offers' in verdict ? verdict.offers : [];
  expect(offers.map((offer) => offer.change)).toEqual([change]);
});
