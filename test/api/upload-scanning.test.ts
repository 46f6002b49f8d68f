import { expect, test } from 'vitest';
import { parseMapDay } from '../../src/api/upload-scanning.ts';
import { UserError } from '../../src/errors.ts';
import { answerAlways, expectApiError, startStubCdn } from './stub-cdn.ts';

const counts = { loggedRequests: 2, blockedRequests: 1, filesScanned: 40 };
const totals = { totalLoggedRequests: 2, totalBlockedRequests: 1, totalFilesScanned: 40 };
const quiet = { statusCode: 0, success: false, message: null, errorKey: null };

test('days are read day first, oldest first, and what is no day stays as text', async () => {
  const overviewPastTwentyEightDays = {
    '07-08-2026': counts,
    '31-07-2026': counts,
    '2026-08-01': { filesScanned: 5 },
    '08-31-2026': counts,
  };
  const cdn = await startStubCdn(() => ({ error: null, data: { overviewPastTwentyEightDays, ...totals } }));
  expect(await cdn.client().uploadScanning.metrics('501')).toEqual({
    days: [
      { day: '2026-07-31', label: '31-07-2026', ...counts },
      { day: '2026-08-01', label: '2026-08-01', filesScanned: 5 },
      { day: '2026-08-07', label: '07-08-2026', ...counts },
      { label: '08-31-2026', ...counts },
    ],
    ...totals,
  });
  expect(cdn.requests[0]?.path).toBe('/shield/metrics/shield-zone/501/upload-scanning');
});

test.each([
  ['no error member', { data: totals }],
  ['a default error object', { error: quiet, data: totals }],
  ['success', { error: { success: true, message: 'fine', errorKey: null }, data: totals }],
])('with %s it is a success', async (_, body) => {
  const cdn = await startStubCdn(() => body);
  expect(await cdn.client().uploadScanning.metrics('501')).toEqual({ days: [], ...totals });
});

const refusal = { success: false, message: 'Not on your plan.', errorKey: 'invalid_plan_type.x' };

test.each([
  ['it is refused', 200, { error: refusal, data: null }, 'refused'],
  ['it is refused', 401, { error: refusal, data: null }, 'refused'],
  ['data is null without a reason', 200, { error: null, data: null }, 'refused'],
  ['data is null beside a default error', 200, { error: quiet, data: null }, 'refused'],
  ['data is something else', 200, { error: null, data: 'soon' }, 'unexpected'],
  ['there is no data', 200, {}, 'unexpected'],
  ['the key is bad, by problem details', 401, { title: 'Unauthorized', status: 401 }, 'key_refused'],
  ['the key is bad, by shape C', 401, { statusCode: 401 }, 'key_refused'],
])('where %s (%i) the code says so', async (reason, status, body, code) => {
  const cdn = await answerAlways(status, body);
  const error = await expectApiError(cdn.client().uploadScanning.metrics('501'));
  const said =
    reason === 'it is refused' ? { errorKey: refusal.errorKey, serviceMessage: refusal.message } : {};
  expect(error).toMatchObject({ code, ...said });
});

test('a shield zone id is an int32', async () => {
  const cdn = await startStubCdn(() => ({}));
  await expect(cdn.client().uploadScanning.metrics('2147483648')).rejects.toThrow(UserError);
  await expect(cdn.client().uploadScanning.metrics('shop')).rejects.toThrowErrorMatchingInlineSnapshot(
    `[UserError: This is not a shield zone ID.]`,
  );
  expect(cdn.requests).toEqual([]);
});

test.each([
  ['07-08-2026', '2026-08-07'],
  ['31-12-2026', '2026-12-31'],
  ['2026-08-07', '2026-08-07'],
  ['2026-08-07T00:00:00Z', '2026-08-07'],
  ['29-02-2024', '2024-02-29'],
  ['29-02-2026', undefined],
  ['12-31-2026', undefined],
  ['31-06-2026', undefined],
  ['2026-31-12', undefined],
  ['7-8-2026', undefined],
  ['07/08/2026', undefined],
  ['total', undefined],
  ['', undefined],
])('the key %j of the map is the day %s, never month first', (key, day) => {
  expect(parseMapDay(key)).toBe(day);
});
