import { expect, test } from 'vitest';
import { openCdn } from './raw-client.ts';

test('a fault applies as often as asked, only where it matches, and then is gone', async () => {
  await using world = await openCdn({ zones: 5 });
  world.cdn.faults.add({ match: { method: 'GET', path: /^\/pullzone$/g }, times: 2, status: 500 });
  const statuses = [];
  for (const path of ['/apikey', '/pullzone', '/pullzone', '/pullzone'])
    statuses.push((await world.main(path)).status);
  expect(statuses).toEqual([200, 500, 500, 200]);
});

test('a fault can let requests through first, last for good, and be cleared', async () => {
  await using world = await openCdn({ zones: 5 });
  world.cdn.faults.add({ skip: 1, times: Infinity, status: 503 });
  const status = async () => (await world.main('/pullzone')).status;
  expect([await status(), await status(), await status()]).toEqual([200, 503, 503]);
  world.cdn.faults.clear();
  expect(await status()).toBe(200);
});

test('a fault may be bound to parameters', async () => {
  await using world = await openCdn({ zones: 5 });
  world.cdn.faults.add({ match: { query: { perPage: '1000', search: 'a' } }, status: 503 });
  const statuses = [];
  for (const query of ['', '?perPage=1000', '?perPage=25&search=a', '?search=a&perPage=1000'])
    statuses.push((await world.main(`/pullzone${query}`)).status);
  expect(statuses).toEqual([200, 200, 200, 503]);
});

test('faults of one path come in the order they were added, and may be bound to a host', async () => {
  await using world = await openCdn({ zones: 5 });
  world.cdn.faults.add({ match: { host: 'origin-logging' }, status: 500 });
  world.cdn.faults.add({ status: 429, retryAfter: 2 });
  world.cdn.faults.add({ status: 502, body: 'html' });
  const first = await world.main('/pullzone');
  expect([first.status, first.headers.get('retry-after'), first.text]).toEqual([429, '2', '']);
  const second = await world.main('/pullzone');
  expect([second.status, second.headers.get('content-type')]).toEqual([502, 'text/html; charset=utf-8']);
  expect(second.text).toMatch(/^<!doctype html>/);
  expect((await world.origin('/1001/11-20-2026')).status).toBe(500);
});

test('Retry-After may be a date, and 401 and 403 speak like their surface', async () => {
  await using world = await openCdn({ zones: 5 });
  const date = 'Fri, 20 Nov 2026 12:00:30 GMT';
  world.cdn.faults.add({ status: 429, retryAfter: date });
  expect((await world.main('/pullzone')).headers.get('retry-after')).toBe(date);
  world.cdn.faults.add({ status: 401, times: 2 });
  expect((await world.main('/pullzone')).json()).toEqual({
    Message: 'Authorization has been denied for this request.',
  });
  expect((await world.main('/mc/apps/app0api00000001/summary')).text).toBe('');
  world.cdn.faults.add({ status: 403 });
  expect((await world.main('/pullzone')).json()).toMatchObject({
    ErrorKey: 'simulated',
    Message: expect.any(String),
  });
  world.cdn.faults.add({ status: 500 });
  const apps = await world.main('/mc/apps/app0api00000001/summary');
  expect([apps.status, apps.json()]).toEqual([
    500,
    expect.objectContaining({ title: 'Simulated', errors: [] }),
  ]);
});

const deletion = '/mc/apps/app0api00000001/volumes/my-data-volume';

test('a connection dropped before the headers has processed nothing', async () => {
  await using world = await openCdn({ zones: 5 });
  world.cdn.faults.add({ drop: 'before-headers' });
  await expect(world.main(deletion, { method: 'DELETE' })).rejects.toThrow('fetch failed');
  expect(world.cdn.data.volumeDeletions).toEqual([]);
  expect(world.cdn.requests.map(({ method, status }) => [method, status])).toEqual([['DELETE', undefined]]);
});

test('a connection dropped after processing has done the work without an answer', async () => {
  await using world = await openCdn({ zones: 5 });
  world.cdn.faults.add({ drop: 'after-processing' });
  await expect(world.main(deletion, { method: 'DELETE' })).rejects.toThrow('fetch failed');
  expect(world.cdn.data.volumeDeletions).toMatchObject([{ status: 200, ids: ['vi-1', 'vi-2'] }]);
  expect((await world.main(deletion, { method: 'DELETE' })).status).toBe(404);
});

test.each([
  ['chunks', '/pullzone'],
  ['a known length', '/apikey'],
])('a body that breaks off in %s has a status and a beginning, and then an error', async (_name, path) => {
  await using world = await openCdn({ zones: 200 });
  world.cdn.faults.add({ drop: 'mid-body', afterBytes: 100 });
  const response = await fetch(world.cdn.url + path, { headers: { AccessKey: world.cdn.key } });
  expect(response.status).toBe(200);
  let got = 0;
  const read = async () => {
    for await (const piece of response.body ?? []) got += piece.length;
  };
  await expect(read()).rejects.toThrow('terminated');
  expect(got).toBe(100);
});

test('a held request is answered when the test lets it go, and not before', async () => {
  await using world = await openCdn({ zones: 5 });
  const gate = Promise.withResolvers<void>();
  world.cdn.faults.add({ until: gate.promise });
  const answer = world.main('/pullzone');
  const request = await world.cdn.received((request) => request.path === '/pullzone');
  // The next request is answered whole while the first one still waits.
  expect((await world.main('/apikey')).status).toBe(200);
  expect(request.status).toBeUndefined();
  gate.resolve();
  expect((await answer).status).toBe(200);
  expect(request.status).toBe(200);
});

test('a service that never answers keeps the connection until the client gives up', async () => {
  await using world = await openCdn({ zones: 5 });
  world.cdn.faults.add({ delayMs: Infinity });
  const giveUp = new AbortController();
  const answer = fetch(`${world.cdn.url}/pullzone`, {
    headers: { AccessKey: world.cdn.key },
    signal: giveUp.signal,
  });
  const request = await world.cdn.received(() => true);
  giveUp.abort();
  await expect(answer).rejects.toThrow('aborted');
  expect(request.status).toBeUndefined();
});

test('unknown members appear in every object and the known ones stay', async () => {
  await using world = await openCdn({ zones: 5 });
  world.cdn.faults.add({ unknownMembers: true });
  const page = (await world.main('/pullzone?page=1')).json();
  expect(page).toMatchObject({
    BrandNewMember: {},
    TotalItems: 5,
    Items: [
      { Name: 'shop', brandNew: '?', Hostnames: [{ brandNew: '?' }, { brandNew: '?' }] },
      {},
      {},
      {},
      {},
    ],
  });
});

test('a member can have the wrong type or be null everywhere, or the body be changed at will', async () => {
  await using world = await openCdn({ zones: 5 });
  world.cdn.faults.add({ overwrite: { MonthlyBandwidthUsed: 'a lot', Hostnames: null, Type: 99 } });
  const items = (await world.main('/pullzone')).json() as object[];
  expect(items).toHaveLength(5);
  for (const item of items)
    expect(item).toMatchObject({ MonthlyBandwidthUsed: 'a lot', Hostnames: null, Type: 99 });
  world.cdn.faults.add({ change: (body) => ({ Wrapped: body }) });
  expect((await world.main('/pullzone')).json()).toMatchObject({ Wrapped: expect.any(Array) });
  expect((await world.main('/pullzone')).json()).toMatchObject([{ Name: 'shop', Type: 0 }, {}, {}, {}, {}]);
});

test('a body stops after so many bytes until it is let go on', async () => {
  await using world = await openCdn({ zones: 5 });
  const reached = Promise.withResolvers<void>();
  const until = Promise.withResolvers<void>();
  world.cdn.faults.add({ hold: { afterBytes: 10, until: until.promise, reached: reached.resolve } });
  const answer = world.main('/pullzone');
  await reached.promise;
  until.resolve();
  expect((await answer).json()).toHaveLength(5);
});
