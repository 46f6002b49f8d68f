import { expect, test } from 'vitest';
import { ApiError, type ApiErrorCode } from '../../../src/api/http/errors.ts';
import { describeApiError } from '../../../src/slack/receive/failures.ts';
import { renderFailure } from '../../../src/views/blocks/failure.ts';
import { buttons, readText } from '../../support/command-harness.ts';
import { findMessageProblems } from '../../support/slack-limits.ts';

test('a failure shows the problem, the next step and a reference', () => {
  const shown = renderFailure({
    message: 'The CDN refused your key.',
    hint: 'Connect the current one.',
    reference: 'K7Q2M9XT',
  });
  expect(shown.text).toBe('The CDN refused your key. Connect the current one. Reference K7Q2M9XT');
  expect(readText(shown)).toContain('K7Q2M9XT');
  expect(buttons(shown).size).toBe(0);
  expect(findMessageProblems(shown)).toEqual([]);
});

test('the next step is a button', () => {
  const retry = { actionId: 'help:run', value: 'zones shop' };
  expect([...buttons(renderFailure({ message: 'No.', retry }))]).toEqual([
    ['Try again', ['help:run', 'zones shop']],
  ]);
  expect([...buttons(renderFailure({ message: 'No.', offer: 'connect', retry }))]).toEqual([
    ['Connect your key', ['connect:open', 'open']],
  ]);
});

test('unescaped markup is sanitized, and escaped markup stays', () => {
  const date = '<!date^1795262400^{date_short_pretty} {time}|2026-11-21 12:00 UTC>';
  const shown = renderFailure({ message: `<!channel> & &amp; <@U0ALICE00> <https://evil|x> ${date}` });
  expect(shown.text).toBe(`&lt;!channel&gt; &amp; &amp; <@U0ALICE00> &lt;https://evil|x&gt; ${date}`);
  expect(findMessageProblems(shown)).toEqual([]);
});

test.each([
  ['key_refused', {}, 'The CDN refused your key.', 'Connect the current one'],
  [
    'refused',
    { serviceMessage: 'The <b>zone</b> is & stays' },
    '“The &lt;b&gt;zone&lt;/b&gt; is &amp; stays”',
    'Nothing was changed',
  ],
  ['refused', {}, 'The CDN refused this.', 'Nothing was changed'],
  [
    'refused',
    { serviceMessage: 'Bad Request', fieldErrors: [{ field: 'volumeId', message: 'vi-3 is <attached>.' }] },
    'refused this: “Bad Request” (volumeId: vi-3 is &lt;attached&gt;.)',
    'Nothing was changed',
  ],
  [
    'key_refused',
    { status: 403, serviceMessage: 'Not for sub-users.' },
    'refused your key',
    'Connect the current one. The CDN says: “Not for sub-users.”',
  ],
  ['not_found', { status: 404, serviceMessage: 'Script not found' }, 'this id', 'says: “Script not found”'],
  [
    'unavailable',
    { status: 500, serviceMessage: 'Out of <disk>' },
    '(HTTP 500)',
    'says: “Out of &lt;disk&gt;”',
  ],
  ['not_found', {}, 'does not know this id', '/cdn zones'],
  ['rate_limited', { retryAfterSeconds: 7 }, 'asks for a pause', 'Try again in 7 seconds.'],
  ['rate_limited', { retryAfterSeconds: 1 }, 'asks for a pause', 'Try again in 1 second.'],
  ['rate_limited', { retryAfterSeconds: 300 }, 'asks for a pause', 'Try again in 5 minutes.'],
  ['rate_limited', {}, 'asks for a pause', 'Try again in a minute.'],
  ['unavailable', { status: 503 }, '(HTTP 503)', 'Try again'],
  ['unreachable', {}, 'cannot be reached', 'CDN_API_URL'],
  ['timeout', {}, 'took too long', 'Try again'],
  ['cut', {}, 'broke off', 'Try again'],
  ['unexpected', {}, 'a web page where data belongs', 'Try again'],
  ['cancelled', {}, 'stopped', 'Run it again'],
] as const)('%s %j is explained, with a next step', (code, more, message, hint) => {
  const told = describeApiError(apiError(code, more));
  expect(told.message).toContain(message);
  expect(told.hint).toContain(hint);
  expect(findMessageProblems(renderFailure(told))).toEqual([]);
});

test.each([
  ['List Pull Zones', /`\/cdn zones`/],
  ['Export Event Logs as CSV', /shield zone’s id, which is not the pull zone’s/],
  ['Get upload scanning metrics', /shield zone’s id, which is not the pull zone’s/],
  ['Get Application Usage Summary', /`\/cdn app` offers/],
  ['Delete All Volume Instances', /volume/],
  ['Update Variable', /variable/],
])('an id that is not known to %s is looked up where such ids are', (operation, words) => {
  const told = describeApiError(apiError('not_found', { operation }));
  expect(told.hint).toMatch(words);
  expect(told.hint.includes('/cdn zones')).toBe(operation === 'List Pull Zones');
  expect(findMessageProblems(renderFailure(told))).toEqual([]);
});

test('a window that the CDN refuses is explained with the rule', () => {
  const serviceMessage = 'You can only view the past 3 days (72 hours) of Event Logs.';
  const told = describeApiError(
    apiError('refused', { operation: 'Export Event Logs as CSV', status: 401, serviceMessage }),
  );
  expect(told.hint).toMatch(/72 hours only, and the whole window has to lie in them/);
  expect(told.hint).not.toMatch(/what you typed/);
});

test('the request id is named for the CDN’s support', () => {
  const told = describeApiError(apiError('unavailable', { requestId: 'req-42' }));
  expect(told.hint).toContain('can look up the request `req-42`');
});

function apiError(code: ApiErrorCode, more: Partial<ApiError>): ApiError {
  return new ApiError({ code, operation: 'List Pull Zones', sent: true, ...more });
}
