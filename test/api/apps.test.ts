import { expect, test } from 'vitest';
import { volumePath } from '../../src/api/apps.ts';
import { UserError } from '../../src/errors.ts';
import { answerAlways, expectApiError, type StubCdn, startStubCdn } from './stub-cdn.ts';

const first = Date.UTC(2026, 7, 1);
const second = Date.UTC(2026, 7, 2);

test('a summary is read with its chart in order', async () => {
  const cdn = await startStubCdn(() => ({
    averageLatency: 41.7,
    currentLatency: 38.2,
    totalVolumeSizeInGb: 10,
    monthlyCost: 3.57,
    latencyChart: { '2026-08-02T00:00:00Z': 42.9, '2026-08-01T00:00:00Z': 40.1 },
    status: 'Active',
    environment: { KEY: 'CANARY' },
  }));
  expect(await cdn.client().apps.summary('app0api00000001')).toEqual({
    averageLatency: 41.7,
    currentLatency: 38.2,
    totalVolumeSizeInGb: 10,
    monthlyCost: 3.57,
    latencyChart: [
      { label: '2026-08-01T00:00:00Z', at: first, latency: 40.1 },
      { label: '2026-08-02T00:00:00Z', at: second, latency: 42.9 },
    ],
    status: 'Active',
  });
  expect(cdn.requests[0]?.path).toBe('/mc/apps/app0api00000001/summary');
});

test('a point of the chart may be an object with one number', async () => {
  const latencyChart = {
    '2026-08-02': { latency: 2 },
    '2026-08-01': { latency: 1 },
    both: { low: 1, high: 2 },
  };
  const cdn = await startStubCdn(() => ({ latencyChart }));
  const { latencyChart: points } = await cdn.client().apps.summary('a');
  expect(points.map(({ at, latency }) => [at, latency])).toEqual([
    [first, 1],
    [second, 2],
  ]);
});

test('a chart that is no map is kept as it came', async () => {
  const latencyChart = [['2026-08-01', 1]];
  const cdn = await startStubCdn(() => ({ latencyChart }));
  const read = await cdn.client().apps.summary('a');
  expect(read.latencyChart).toEqual([]);
  expect(JSON.parse(read.unknownChart ?? '')).toEqual(latencyChart);
});

test('keys that are no times stay as text, behind those that are', async () => {
  const cdn = await startStubCdn(() => ({
    latencyChart: { noon: 3, '01-08-2026': 2, '2026-08-01': 1, bad: 'x', none: null },
  }));
  const { latencyChart, unreadPoints } = await cdn.client().apps.summary('a');
  expect(unreadPoints).toBe(2);
  expect(latencyChart).toEqual([
    { label: '2026-08-01', at: first, latency: 1 },
    { label: '01-08-2026', latency: 2 },
    { label: 'noon', latency: 3 },
  ]);
});

test.each([
  ['null members', { averageLatency: null, latencyChart: null, status: null }],
  ['nothing', {}],
  ['an empty chart', { latencyChart: {} }],
  ['an empty status', { status: ' ' }],
])('%s means nothing was reported', async (_, body) => {
  const cdn = await startStubCdn(() => body);
  expect(await cdn.client().apps.summary('a')).toEqual({ latencyChart: [] });
});

test('a status that is a number is shown as one', async () => {
  const cdn = await startStubCdn(() => ({ status: 5 }));
  expect(await cdn.client().apps.summary('a')).toMatchObject({ status: '5' });
});

const deleteVolume = (cdn: StubCdn) => cdn.client().volumes.deleteAll(volumePath('app1', 'my-data'));

test.each([
  ['the ids of what was deleted', 200, { ids: ['vi-1', 'vi-2'] }, ['vi-1', 'vi-2']],
  ['an empty list where there was nothing', 200, { ids: [] }, []],
  ['undefined where the service does not say', 200, { ids: null }, undefined],
  ['an id that is a number', 200, { ids: [7, 'vi-2'] }, ['7', 'vi-2']],
  ['undefined where ids have a form that is not known', 200, { ids: [{ id: 'vi-1' }] }, undefined],
  ['undefined without a body', 204, '', undefined],
])('the answer of a deletion is %s', async (_, status, body, ids) => {
  const cdn = await answerAlways(status, body);
  expect(await deleteVolume(cdn)).toEqual({ ids });
  expect(cdn.requests).toMatchObject([{ method: 'DELETE', path: '/mc/apps/app1/volumes/my-data', body: '' }]);
});

test.each([
  [200, 'unexpected'],
  [400, 'refused'],
  [401, 'refused'],
  [404, 'not_found'],
  [409, 'refused'],
  [500, 'unavailable'],
] as const)('HTTP %i is %s, and the deletion is not sent again', async (status, code) => {
  const cdn = await answerAlways(status, status === 200 ? '<html>' : { title: 'No', detail: 'Because.' });
  expect(await expectApiError(deleteVolume(cdn))).toMatchObject({ code, sent: true });
  expect(cdn.requests).toHaveLength(1);
});

test.each([
  ['..', 'v'],
  ['a', '..'],
  ['a', ''],
  ['a/../b', 'v'],
  ['a', '%2e%2e'],
])('the ids %j and %j lead nowhere else', (app, volume) => {
  expect(() => volumePath(app, volume)).toThrow(UserError);
});
