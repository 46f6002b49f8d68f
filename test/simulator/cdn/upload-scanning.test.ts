import { expect, test } from 'vitest';
import { openCdn } from './raw-client.ts';

const path = (id: number | string) => `/shield/metrics/shield-zone/${id}/upload-scanning`;
interface Day {
  loggedRequests: number;
  blockedRequests: number;
  filesScanned: number;
}

test('a zone answers 28 days up to today, keyed dd-MM-yyyy, with totals that are their sums', async () => {
  await using world = await openCdn({ zones: 0 });
  const { error, data } = (await world.main(path(501))).json() as {
    error: null;
    data: { overviewPastTwentyEightDays: Record<string, Day> } & Record<string, unknown>;
  };
  expect(error).toBeNull();
  const days = Object.entries(data.overviewPastTwentyEightDays);
  expect([days.length, days[0]?.[0], days.at(-1)?.[0]]).toEqual([28, '24-10-2026', '20-11-2026']);
  const sum = (member: keyof Day) => days.reduce((total, [, day]) => total + day[member], 0);
  expect(data).toMatchObject({
    totalLoggedRequests: sum('loggedRequests'),
    totalBlockedRequests: sum('blockedRequests'),
    totalFilesScanned: sum('filesScanned'),
  });
  expect(sum('filesScanned')).toBeGreaterThan(0);
});

test('a success may carry the default error object, whose success: false means nothing', async () => {
  await using world = await openCdn({
    zones: 0,
    data: { uploadScanning: { errorOnSuccess: 'object', refusalStatus: 200 } },
  });
  expect((await world.main(path(501))).json()).toMatchObject({
    error: { statusCode: 0, success: false, message: null, errorKey: null },
    data: { totalFilesScanned: expect.any(Number) },
  });
});

test.each([
  [404, '999', 'not_found_or_unauthorised_access.shieldzone'],
  [404, 'abc', 'not_found_or_unauthorised_access.shieldzone'],
  [400, '502', 'invalid_plan_type.upload_scanning'],
])('a refusal %d for zone %s is a 200 or 202 without data', async (statusCode, id, errorKey) => {
  await using world = await openCdn({ zones: 0 });
  const refusal = {
    error: { statusCode, success: false, message: expect.any(String), errorKey },
    data: null,
  };
  const answer = await world.main(path(id));
  expect([answer.status, answer.json()]).toEqual([200, refusal]);
  world.cdn.data.uploadScanning.refusalStatus = 202;
  const accepted = await world.main(path(id));
  expect([accepted.status, accepted.json()]).toEqual([202, refusal]);
});

test('a zone that saw nothing has an empty overview, and one that knows nothing has null', async () => {
  await using world = await openCdn({ zones: 0 });
  const nothing = { totalLoggedRequests: 0, totalBlockedRequests: 0, totalFilesScanned: 0 };
  expect((await world.main(path(503))).json()).toEqual({
    error: null,
    data: { overviewPastTwentyEightDays: {}, ...nothing },
  });
  world.cdn.data.shieldZones.push({ id: 504, plan: 'advanced', overview: null });
  expect((await world.main(path(504))).json()).toEqual({
    error: null,
    data: { overviewPastTwentyEightDays: null, ...nothing },
  });
});
