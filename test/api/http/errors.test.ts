import { expect, test } from 'vitest';
import {
  ApiError,
  classifyStatus,
  isHtml,
  isPlanError,
  readErrorBody,
} from '../../../src/api/http/errors.ts';
import { parseJson } from '../../../src/lib/canonical-json.ts';

const quiet = { statusCode: 0, success: false, message: null, errorKey: null };
const words = (body: unknown) =>
  readErrorBody(typeof body === 'string' ? parseJson(body) : body, (text) => text);

test.each([
  ['shape A', { title: 'Not Found', status: 404, detail: 'No app.', id: 'a1' }, 'No app.'],
  ['shape A with a list only', { errors: [{ field: 'x', message: 'Too long.' }], status: 400 }, 'Too long.'],
  ['shape B', { type: 'about:blank', title: 'Bad Request', status: 400, detail: 'No.' }, 'No.'],
  ['shape B without detail', { title: 'Unauthorized', status: 401, traceId: '00' }, 'Unauthorized'],
  ['the core shape', { ErrorKey: 'pullZone.not_found', Field: null, Message: 'No zone.' }, 'No zone.'],
  ['a shield envelope', { error: { success: false, message: 'Not on your plan.' } }, 'Not on your plan.'],
  ['an errorResponse', { logs: null, errorResponse: { message: 'Too early.' } }, 'Too early.'],
  ['a list of messages', [{ message: 'First.' }, { message: 'Second.' }], 'First.'],
  ['a bare string', '"Just words."', 'Just words.'],
  ['an error that is a text', { error: 'invalid token' }, 'invalid token'],
  ['the framework’s own form', { errors: { DefaultValue: ['Too long.'] }, status: 400 }, 'Too long.'],
])('%s: its sentence is found', (_, body, message) => {
  expect(words(body).serviceMessage).toBe(message);
});

test.each([
  ['shape C', { statusCode: 401 }, 'problem'],
  ['nothing', '', 'none'],
  ['a web page', '<html><body>Bad Gateway</body></html>', 'none'],
  ['broken JSON', '{"Message":', 'none'],
  ['a default envelope', { error: quiet, data: {} }, 'none'],
  ['an envelope of a success', { error: { success: true, message: 'Done.' } }, 'none'],
  ['a status alone', { status: 400 }, 'problem'],
  ['spaces', { Message: ' ' }, 'none'],
  ['an answer that is no error', { Items: [], TotalItems: 0 }, 'none'],
  ['null', 'null', 'none'],
])('%s has no sentence', (_, body, kind) => {
  expect(words(body)).toEqual({ serviceMessage: undefined, errorKey: undefined, fieldErrors: [], kind });
});

test.each([{ Message: 'No.' }, { ErrorKey: 'no' }])('%j is a problem', (body) => {
  expect(words(body)).toMatchObject({ kind: 'problem', fieldErrors: [] });
});

test('fields keep their messages', () => {
  expect(
    words({ title: 'Bad Request', errors: [{ field: 'volumeId', message: 'vi-3 is attached.' }, 7, {}] })
      .fieldErrors,
  ).toEqual([{ field: 'volumeId', message: 'vi-3 is attached.' }]);
  expect(words({ ErrorKey: 'validation_error', Field: 'DefaultValue', Message: 'Too long.' })).toMatchObject({
    errorKey: 'validation_error',
    fieldErrors: [{ field: 'DefaultValue', message: 'Too long.' }],
  });
});

test('a sentence is one line and bounded', () => {
  const { serviceMessage: message = '' } = words({ Message: `a\n\tb\u0000c\u202e${'x'.repeat(5000)}` });
  expect(message).toMatch(/^a b c x{490,}…$/);
  expect(message.length).toBeLessThanOrEqual(501);
});

test.each([
  [401, '', 'key_refused'],
  [401, { Message: 'Authorization has been denied for this request.' }, 'key_refused'],
  [401, { title: 'Unauthorized', status: 401, type: 'about:blank' }, 'key_refused'],
  [401, { statusCode: 401 }, 'key_refused'],
  [401, { errorResponse: { success: false, message: 'The API key is not valid.' } }, 'key_refused'],
  [401, { error: quiet }, 'key_refused'],
  [403, { ErrorKey: 'forbidden', Message: 'Not for this key.' }, 'key_refused'],
  [403, { title: 'Forbidden', detail: 'Sub-users need the role Compute.' }, 'key_refused'],
  [401, { errorResponse: { message: 'Only 72 hours.', errorKey: 'invalid_datetime_window' } }, 'refused'],
  [401, { error: { errorKey: 'not_found_or_unauthorised_access.shieldzone', message: null } }, 'refused'],
  [401, { errorKey: 'invalid_plan', message: 'No.' }, 'refused'],
  [401, { title: 'Unauthorized', detail: 'The window must be within the last 72 hours.' }, 'refused'],
  [403, { Message: 'Your plan does not include this feature.' }, 'refused'],
  [401, { title: 'Unauthorized', errors: { from: ['It is too old.'] } }, 'refused'],
  [
    401,
    { title: 'Unauthorized', errors: [{ field: 'key', message: 'The API key is not valid.' }] },
    'key_refused',
  ],
  [401, { message: 'Not authorized: the window must be within the last 72 hours' }, 'refused'],
  [401, { message: 'Invalid continuation token' }, 'refused'],
  [401, { message: 'Access denied: the zone is suspended' }, 'refused'],
  [403, { message: 'Your subscription has no permission for this feature' }, 'refused'],
  [401, { message: 'The cache key is too long' }, 'refused'],
  [401, { message: 'Catalog in use' }, 'refused'],
  [401, { message: 'Your API key expired 3 days ago' }, 'key_refused'],
  [401, { message: 'The key expired 3 days ago' }, 'key_refused'],
  [401, { message: 'This key is no longer valid since 2 days' }, 'key_refused'],
  [401, { message: 'The continuation token expired 3 days ago' }, 'refused'],
  [401, { message: 'Login required' }, 'key_refused'],
  [401, { message: 'The token is expired' }, 'key_refused'],
  [403, { message: 'Access denied: your IP address is not allowed' }, 'refused'],
  [403, { message: 'Forbidden: the account has no funds' }, 'refused'],
  [403, { message: 'The zone belongs to another customer' }, 'refused'],
  [400, { title: 'Bad Request', status: 400 }, 'refused'],
  [409, '', 'refused'],
  [404, { title: 'Not Found', status: 404 }, 'not_found'],
  [429, 'slow down', 'rate_limited'],
  [503, '<html></html>', 'unavailable'],
  [302, '', 'unexpected'],
] as const)('HTTP %i with %j means %s', (status, body, code) => {
  expect(classifyStatus(status, words(body), false)).toBe(code);
});

test('a web page with a status of 4xx was not sent by the service', () => {
  for (const status of [403, 404]) expect(classifyStatus(status, words(undefined), true)).toBe('unexpected');
});

test.each([
  ['text/html; charset=utf-8', 'Sign in', true],
  [null, ' <html><body>', true],
  ['application/json', '{"a":"<html>"}', false],
])('%s with %j is a web page: %s', (type, body, expected) => {
  expect(isHtml(type, body)).toBe(expected);
});

test.each([
  [{ code: 'refused', status: 402 }, true],
  [{ code: 'refused', status: 400, errorKey: 'invalid_plan_type.shield' }, true],
  [{ code: 'refused', status: 400, serviceMessage: 'Please upgrade first.' }, true],
  [{ code: 'refused', status: 400, serviceMessage: 'The planet is full.' }, false],
  [{ code: 'key_refused', status: 402 }, false],
] as const)('%j is about the plan: %s', (facts, expected) => {
  expect(isPlanError(new ApiError({ operation: 'Any', sent: true, ...facts }))).toBe(expected);
});
