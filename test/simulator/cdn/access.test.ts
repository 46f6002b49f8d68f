import { expect, test } from 'vitest';
import { noon, openCdn, type RawOptions } from './raw-client.ts';

const denied = { Message: 'Authorization has been denied for this request.' };
const exported = { method: 'POST', body: { from: noon - 1000, to: noon } };

const operations: [name: string, path: string, options: RawOptions, body: unknown][] = [
  ['List Pull Zones', '/pullzone', {}, denied],
  ['List API Keys', '/apikey', {}, denied],
  ['Update Variable', '/compute/script/301/variables/12', { method: 'POST', body: {} }, denied],
  ['Get Application Usage Summary', '/mc/apps/app0api00000001/summary', {}, ''],
  [
    'Delete All Volume Instances',
    '/mc/apps/app0api00000001/volumes/my-data-volume',
    { method: 'DELETE' },
    expect.objectContaining({
      title: 'Unauthorized',
      status: 401,
      detail: expect.any(String),
      instance: expect.any(String),
    }),
  ],
  [
    'Get upload scanning metrics',
    '/shield/metrics/shield-zone/501/upload-scanning',
    {},
    expect.objectContaining({ title: 'Unauthorized', status: 401, traceId: expect.any(String) }),
  ],
  [
    'Export Event Logs as CSV',
    '/shield/event-logs/501/export',
    exported,
    expect.objectContaining({ title: 'Unauthorized', status: 401, traceId: expect.any(String) }),
  ],
];

test.each(operations)(
  '%s refuses a missing and a wrong key in the way of its surface',
  async (_name, path, options, body) => {
    await using world = await openCdn({ zones: 5 });
    for (const key of [null, 'not-a-key']) {
      const answer = await world.main(path, { ...options, key });
      expect(answer.status).toBe(401);
      expect(answer.text === '' ? '' : answer.json()).toEqual(body);
      expect(answer.headers.get('cdn-requestid')).toMatch(/^[0-9a-f]{32}$/);
    }
    expect(world.cdn.data.volumeDeletions).toEqual([]);
  },
);

test.each(operations)('%s accepts the key', async (_name, path, options) => {
  await using world = await openCdn({ zones: 5 });
  const answer = await world.main(path, options);
  expect(answer.status).toBe(200);
  expect(answer.headers.get('cdn-requestid')).toMatch(/^[0-9a-f]{32}$/);
});

test('origin error logs refuse a wrong key without a body and accept the right one', async () => {
  await using world = await openCdn({ zones: 5 });
  const refused = await world.origin('/1001/11-20-2026', { key: 'not-a-key' });
  expect([refused.status, refused.text]).toEqual([401, '']);
  expect((await world.origin('/1001/11-20-2026')).status).toBe(200);
});

test('the core surface may refuse with no body at all, and shield in the shapes of the specification', async () => {
  await using world = await openCdn({
    zones: 5,
    data: { unauthorized: { core: 'empty', shield: 'specified' } },
  });
  const core = await world.main('/pullzone', { key: null });
  expect([core.status, core.text]).toEqual([401, '']);
  const metrics = await world.main('/shield/metrics/shield-zone/501/upload-scanning', { key: null });
  expect(metrics.json()).toEqual({ statusCode: 401 });
  const file = await world.main('/shield/event-logs/501/export', { ...exported, key: null });
  expect(Object.keys(file.json() as object)).toEqual(['type', 'title', 'status', 'detail', 'instance']);
});

test('a restricted key is refused by List API Keys alone', async () => {
  await using world = await openCdn({ zones: 5 });
  for (const [name, path, options] of operations) {
    const answer = await world.main(path, { ...options, key: world.cdn.restrictedKey });
    expect([name, answer.status]).toEqual([name, name === 'List API Keys' ? 401 : 200]);
  }
});

test('a revoked key is refused from then on', async () => {
  await using world = await openCdn({ zones: 5 });
  expect((await world.main('/pullzone')).status).toBe(200);
  world.cdn.data.accessKeys.delete(world.cdn.key);
  expect((await world.main('/pullzone')).status).toBe(401);
});

test('each answer of the main host carries another request id, and unknown paths carry one too', async () => {
  await using world = await openCdn({ zones: 5 });
  const ids = [];
  for (const path of ['/pullzone', '/pullzone', '/user', '/'])
    ids.push((await world.main(path)).headers.get('cdn-requestid'));
  expect(new Set(ids).size).toBe(4);
  expect(world.cdn.requests.map((request) => request.requestId)).toEqual(ids);
});

test('an unspecified path is not found, and a wrong method is named as such', async () => {
  await using world = await openCdn({ zones: 5 });
  for (const path of ['/user', '/pullzone/1001', '/mc/apps', '/pullzone/', '/mc/apps/%E0%A4%A/summary']) {
    expect([path, (await world.main(path)).status]).toEqual([path, 404]);
  }
  const wrong = await world.main('/pullzone', { method: 'POST', body: {} });
  expect([wrong.status, wrong.headers.get('allow')]).toEqual([405, 'GET']);
});

test('a request is recorded whole, but never with its key', async () => {
  await using world = await openCdn({ zones: 5 });
  await world.main('/pullzone?page=1&search=shop', { headers: { authorization: 'some-token' } });
  await world.main('/compute/script/301/variables/12', {
    method: 'POST',
    body: { Required: true },
    key: 'not-a-key',
  });
  const [list, update] = world.cdn.requests;
  expect(list).toMatchObject({
    host: 'main',
    method: 'GET',
    path: '/pullzone',
    query: { page: '1', search: 'shop' },
    key: 'full',
    body: undefined,
    at: noon,
    status: 200,
    headers: { accesskey: '[full key]', authorization: '[wrong key]' },
  });
  expect(update).toMatchObject({
    key: 'wrong',
    body: { Required: true },
    status: 401,
    headers: { accesskey: '[wrong key]' },
  });
  const recorded = JSON.stringify(world.cdn.requests);
  for (const secret of [world.cdn.key, 'not-a-key', 'some-token']) expect(recorded).not.toContain(secret);
});

test('waiting for a request works before and after it came', async () => {
  await using world = await openCdn({ zones: 5 });
  const coming = world.cdn.received((request) => request.path === '/pullzone', 2);
  await world.main('/pullzone?page=1');
  await world.main('/pullzone?page=2');
  expect((await coming).query).toEqual({ page: '2' });
  expect((await world.cdn.received((request) => request.path === '/pullzone')).query).toEqual({ page: '1' });
});

test('a client that accepts gzip gets it where the service compresses', async () => {
  await using world = await openCdn({ zones: 5, gzip: true });
  const packed = await world.main('/pullzone');
  expect(packed.headers.get('content-encoding')).toBe('gzip');
  expect(packed.json()).toHaveLength(5);
  const plain = await world.main('/pullzone', { headers: { 'accept-encoding': 'identity' } });
  expect(plain.headers.get('content-encoding')).toBeNull();
});
