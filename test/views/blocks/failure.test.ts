import { expect, test } from 'vitest';
import { ApiError, type ApiErrorCode } from '../../../src/api/http/errors.ts';
import { describeApiError } from '../../../src/slack/receive/failures.ts';
import { section } from '../../../src/views/blocks/blocks.ts';
import { addFailure, renderFailure } from '../../../src/views/blocks/failure.ts';
import { modal } from '../../../src/views/blocks/inputs.ts';
import { buttons, readText } from '../../support/command-harness.ts';
import { findMessageProblems } from '../../support/slack-limits.ts';

test('a failure shows the problem, the next step and a reference', () => {
  const shown = renderFailure({
    message: 'The CDN refused your key.',
    hint: 'Connect the current one.',
    reference: 'K7Q2M9XT',
  });
  expect(shown.text).toMatchSnapshot('in short');
  expect(readText(shown)).toMatchSnapshot('answer');
  expect(buttons(shown).size).toBe(0);
  expect(findMessageProblems(shown)).toEqual([]);
});

test('the next failure in a form takes the place of the last one', () => {
  const form = modal({ title: 'Form' }, [section('What was typed')]);
  const first = addFailure(form, { message: 'One.' });
  const [second, other] = [first.modal, form].map((one) => addFailure(one, { message: 'Two.' }));
  expect(second).toEqual(other);
});

test('the next step is a button', () => {
  const retry = { actionId: 'help:run', value: 'zones shop' };
  expect([...buttons(renderFailure({ message: 'No.', retry }))]).toEqual([
    ['Try again', ['help:run', 'zones shop']],
  ]);
  expect([...buttons(renderFailure({ message: 'No.', offer: 'connect', retry })).values()]).toEqual([
    ['connect:open', 'open'],
  ]);
});

test('unescaped markup is sanitized, and escaped markup stays', () => {
  const date = '<!date^1795262400^{date_short_pretty} {time}|2026-11-21 12:00 UTC>';
  const shown = renderFailure({ message: `<!channel> & &amp; <@U0ALICE00> <https://evil|x> ${date}` });
  expect(shown.text).toBe(`&lt;!channel&gt; &amp; &amp; <@U0ALICE00> &lt;https://evil|x&gt; ${date}`);
  expect(findMessageProblems(shown)).toEqual([]);
});

test.each([
  ['key_refused', {}],
  ['refused', { serviceMessage: 'The <b>zone</b> is & stays' }],
  ['refused', {}],
  [
    'refused',
    { serviceMessage: 'Bad Request', fieldErrors: [{ field: 'volumeId', message: 'vi-3 is <attached>.' }] },
  ],
  ['key_refused', { status: 403, serviceMessage: 'Not for sub-users.' }],
  ['key_refused', { status: 403, serviceMessage: 'The API key was deleted.' }],
  ['not_found', { status: 404, serviceMessage: 'Script not found' }],
  ['unavailable', { status: 500, serviceMessage: 'Out of <disk>' }],
  ['not_found', {}],
  ['rate_limited', { retryAfterSeconds: 7 }],
  ['rate_limited', { retryAfterSeconds: 1 }],
  ['rate_limited', { retryAfterSeconds: 300 }],
  ['rate_limited', {}],
  ['unavailable', { status: 503 }],
  ['unreachable', {}],
  ['timeout', {}],
  ['cut', {}],
  ['unexpected', {}],
  ['too_large', {}],
  ['held_back', {}],
  ['empty', {}],
  ['cancelled', {}],
  // A window that the CDN refuses.
  [
    'refused',
    {
      operation: 'Export Event Logs as CSV',
      status: 401,
      serviceMessage: 'You can only view the past 3 days (72 hours) of Event Logs.',
    },
  ],
  // For the CDN's support.
  ['unavailable', { requestId: 'req-42' }],
  // An ID is looked up where such IDs are.
  ...(
    [
      'List Pull Zones',
      'Export Event Logs as CSV',
      'Get upload scanning metrics',
      'Get Application Usage Summary',
      'Delete All Volume Instances',
      'Update Variable',
    ] as const
  ).map((operation) => ['not_found', { operation }] as const),
] as const)('%s %j is explained, with a next step', (code, more) => {
  const told = describeApiError(apiError(code, more));
  expect(told).toMatchSnapshot();
  expect(findMessageProblems(renderFailure(told))).toEqual([]);
});

function apiError(code: ApiErrorCode, more: Partial<ApiError>): ApiError {
  return new ApiError({ code, operation: 'List Pull Zones', sent: true, ...more });
}
