import { expect, test } from 'vitest';
import { canaryMark } from '../../../simulator/cdn/canaries.ts';
import type { OriginErrorEntry } from '../../../simulator/cdn/model.ts';
import { noon, openCdn, type RawAnswer } from './raw-client.ts';

const logsIn = (answer: RawAnswer) => (answer.json() as { logs: OriginErrorEntry[] }).logs;
const checkout = 1006;

test('a failing zone answers entries of its day: ms, a log that is JSON in a string, labels that are strings', async () => {
  await using world = await openCdn();
  const answer = await world.origin(`/${checkout}/11-19-2026`);
  expect(Object.keys(answer.json() as object)).toEqual(['logs']);
  const logs = logsIn(answer);
  expect(logs).toHaveLength(240);
  expect(new Set(logs.map((entry) => entry.logId)).size).toBe(240);
  for (const entry of logs) {
    expect(Object.keys(entry)).toEqual(['logId', 'timestamp', 'log', 'labels']);
    expect(new Date(entry.timestamp).toISOString().slice(0, 10)).toBe('2026-11-19');
    const log: unknown = JSON.parse(entry.log);
    const { ErrorCode, StatusCode, ServerZone } = entry.labels;
    expect([typeof ErrorCode, typeof StatusCode, typeof ServerZone]).toEqual(['string', 'string', 'string']);
    expect(log).toMatchObject({
      RequestUrl: expect.any(String),
      PullZoneId: checkout,
      Message: expect.any(String),
      ErrorCode,
      StatusCode: Number(StatusCode),
    });
  }
  expect(answer.text).toContain(`${canaryMark}-request-url-token`);
  expect(answer.text).toContain(`${canaryMark}-request-cookie`);
});

test('the same day answers the same entries, and entries come in no order', async () => {
  await using world = await openCdn();
  const [first, second] = [
    await world.origin(`/${checkout}/11-19-2026`),
    await world.origin(`/${checkout}/11-19-2026`),
  ];
  expect(first.text).toBe(second.text);
  const times = logsIn(first).map((entry) => entry.timestamp);
  expect(times).not.toEqual(times.toSorted((a, b) => a - b));
  expect(times).not.toEqual(times.toSorted((a, b) => b - a));
});

test('today has entries up to now and a day to come has none', async () => {
  await using world = await openCdn();
  const today = logsIn(await world.origin(`/${checkout}/11-20-2026`));
  expect(today).toHaveLength(240);
  expect(Math.max(...today.map((entry) => entry.timestamp))).toBeLessThan(noon);
  expect(logsIn(await world.origin(`/${checkout}/11-21-2026`))).toEqual([]);
});

test.each(['/999999/11-20-2026', '/abc/11-20-2026', '/1006/02-31-2026', '/1006/20-11-2026'])(
  '%s is an empty list: an unknown zone or no real day',
  async (path) => {
    await using world = await openCdn();
    const answer = await world.origin(path);
    expect([answer.status, answer.json()]).toEqual([200, { logs: [] }]);
  },
);

test.each(['/1006/2026-11-20', '/1006/1-2-2026', '/1006/11-20-26', '/1006/today'])(
  '%s does not have the date format and is refused with 400',
  async (path) => {
    await using world = await openCdn();
    expect((await world.origin(path)).status).toBe(400);
  },
);

test.each([true, false])('hasMoreData %s comes with its two tokens', async (hasMoreData) => {
  await using world = await openCdn();
  world.cdn.data.originErrors.hasMoreData = hasMoreData;
  const answer = (await world.origin(`/${checkout}/11-20-2026`)).json();
  const continuationToken = hasMoreData ? 'next-entries' : '';
  expect(answer).toEqual({ logs: expect.any(Array), hasMoreData, continuationToken, startToken: '' });
});

test('a test can put exact entries in place of generated ones', async () => {
  await using world = await openCdn();
  const entry = { logId: 'x', timestamp: noon, log: 'not JSON at all', labels: { ErrorCode: 'brand_new' } };
  world.cdn.data.originErrors.entries.set('1006/2026-11-20', [entry]);
  expect(logsIn(await world.origin('/1006/11-20-2026'))).toEqual([entry]);
  expect(logsIn(await world.origin('/1006/11-19-2026'))).toHaveLength(240);
});

test('the number of entries is a setting: fifty thousand arrive whole', async () => {
  await using world = await openCdn({ zones: 5 });
  world.cdn.data.originErrors.count = 50_000;
  const logs = logsIn(await world.origin('/1001/11-20-2026'));
  expect(logs).toHaveLength(50_000);
  expect(new Set(logs.map((entry) => entry.logId)).size).toBe(50_000);
});
