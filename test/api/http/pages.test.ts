import { once } from 'node:events';
import { setImmediate as turn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import type { Drift } from '../../../src/api/http/request.ts';
import {
  answerAccount,
  answerAlways,
  codeOf,
  makePage,
  makeZone,
  numbers,
  type StubHandler,
  sendBody,
  startStubCdn,
} from '../stub-cdn.ts';

test('a search travels encoded, and an empty one not at all', async () => {
  const cdn = await startStubCdn(answerAccount(1));
  const { pullZones } = cdn.client();
  expect(await pullZones.findAll(() => true, 'a&page=0 é')).toHaveLength(1);
  expect(await pullZones.findAll(() => false, '')).toEqual([]);
  expect(cdn.requests.map(({ query }) => query)).toEqual([
    { page: '1', perPage: '1000', search: 'a&page=0 é' },
    { page: '1', perPage: '1000' },
  ]);
});

test('the whole list is every zone once, in order, from pages of 1000', async () => {
  const cdn = await startStubCdn(answerAccount(5_300));
  const { zones, skipped } = await cdn.client().pullZones.all();
  expect(zones.map(({ id }) => id)).toEqual(numbers(1, 5_300).map(String));
  expect(skipped).toBe(0);
  expect(new Set(cdn.requests.map(({ query }) => query['page']))).toEqual(
    new Set(['1', '2', '3', '4', '5', '6']),
  );
  expect(cdn.requests).toHaveLength(6);
  expect(cdn.requests.every(({ query }) => query['perPage'] === '1000')).toBe(true);
});

test('an account of one page, or a plain array whatever page was asked for, costs one request', async () => {
  for (const [answer, zones] of [
    [answerAccount(1_000), 1_000],
    [() => numbers(1, 2_500).map(makeZone), 2_500],
  ] as const) {
    const cdn = await startStubCdn(answer);
    expect((await cdn.client().pullZones.all()).zones).toHaveLength(zones);
    expect(cdn.requests).toHaveLength(1);
  }
});

test.each([202, 206])('an empty list with the status %i is no empty account', async (status) => {
  const cdn = await startStubCdn((_, response) => sendBody(response, status, []));
  expect(await codeOf(cdn.client().pullZones.all())).toBe('unexpected');
});

test('of a plain array the first page takes what it needs and hangs up', async () => {
  const list = JSON.stringify(numbers(1, 200_000).map(makeZone));
  let sent = 0;
  const cdn = await startStubCdn(async (_, response) => {
    response.writeHead(200);
    for (; sent < list.length && !response.closed; sent += 65_536) {
      if (response.write(list.slice(sent, sent + 65_536))) continue;
      const heard = new AbortController();
      const { signal } = heard;
      await Promise.race([once(response, 'drain', { signal }), once(response, 'close', { signal })]);
      heard.abort();
    }
    response.end();
  });
  const first = await cdn.client().pullZones.firstPage();
  expect(first).toMatchObject({ total: undefined, more: true });
  expect(first.zones.slice(0, 10).map(({ id }) => id)).toEqual(numbers(1, 10).map(String));
  expect(sent).toBeLessThan(list.length);
});

const reverse = (body: object) => Object.fromEntries(Object.entries(body).reverse());

test.each<[string, StubHandler, zones: number, requests: number]>([
  ['totals stand before the list', answerAccount(1_500, reverse), 1_500, 2],
  ['there is no total', answerAccount(2_500, (body) => ({ ...body, TotalItems: undefined })), 2_500, 3],
  ['there is neither total nor more', answerAccount(2_000, ({ Items }) => ({ Items })), 2_000, 3],
  ['the total is too small', answerAccount(3_400, (body) => ({ ...body, TotalItems: 2_000 })), 3_400, 4],
  [
    'there is always more',
    answerAccount(1_000, (body) => ({ ...body, HasMoreItems: true, TotalItems: null })),
    1_000,
    2,
  ],
  ['pages are shorter than asked for', giveShortPages, 700, 7],
  [
    'the last page comes again and again',
    () => makePage(numbers(1, 1_000).map(makeZone), { more: true, total: 1e9 }),
    1_000,
    5,
  ],
])('where %s, the list is read to its end', async (_, answer, zones, requests) => {
  const cdn = await startStubCdn(answer);
  expect((await cdn.client().pullZones.all()).zones).toHaveLength(zones);
  expect(cdn.requests).toHaveLength(requests);
});

function giveShortPages({ query }: { readonly query: Readonly<Record<string, string>> }) {
  const page = Number(query['page']);
  return makePage(numbers(page * 100 - 99, page * 100).map(makeZone), { page, total: 700, more: page < 7 });
}

test('a page in the middle that comes empty ends the list, and what is missing is counted', async () => {
  const whole = answerAccount(5_500);
  const cdn = await startStubCdn((request, ...more) =>
    request.query['page'] === '3'
      ? makePage([], { page: 3, total: 5_500, more: true })
      : whole(request, ...more),
  );
  const found = await cdn.client().pullZones.all();
  expect([found.zones.length, found.skipped]).toEqual([4_500, 1_000]);
});

test('an unreadable zone is left out and counted', async () => {
  const cdn = await startStubCdn(() => makePage([makeZone(1), null, 'x', { Name: 'no id' }, makeZone(2)]));
  expect(await cdn.client().pullZones.all()).toMatchObject({ zones: [{ id: '1' }, { id: '2' }], skipped: 3 });
});

test.each([
  ['null in place of the list', { Items: null, TotalItems: 0 }],
  ['an empty list', { Items: [], TotalItems: 0, HasMoreItems: false }],
  ['an empty array', []],
])('%s is an account without zones', async (_, body) => {
  const cdn = await startStubCdn(() => body);
  expect(await cdn.client().pullZones.all()).toMatchObject({ zones: [], skipped: 0 });
  // It is asked for again, since an account seldom loses all of its zones.
  expect(cdn.requests).toHaveLength(2);
  expect(await cdn.client().pullZones.firstPage()).toMatchObject({ zones: [], more: false });
});

test.each([
  ['another object', '{"zones":[]}'],
  ['null in place of the list, without a total', '{"Items":null}'],
  ['a list that is an object', '{"Items":{}}'],
  ['a web page', '<!doctype html><html>'],
  ['a broken element', '{"Items":[{"Id":1},{oops}],"TotalItems":2}'],
  ['nothing', ''],
])('%s is unexpected', async (_, body) => {
  const cdn = await answerAlways(200, body);
  expect(await codeOf(cdn.client().pullZones.all())).toBe('unexpected');
});

test('one page that fails fails the list', async () => {
  const answer = answerAccount(8_000);
  const cdn = await startStubCdn((request, response, count) =>
    request.query['page'] === '3' ? sendBody(response, 403, '') : answer(request, response, count),
  );
  expect(await codeOf(cdn.client().pullZones.all())).toBe('key_refused');
});

test('what is not as specified is reported by name, without values', async () => {
  const cdn = await startStubCdn(() =>
    makePage([{ ...makeZone(1), Enabled: 'SECRET', NewLevel: 'SECRET' }, makeZone(2)]),
  );
  const drifts: Drift[] = [];
  await cdn.client({ onDrift: (drift) => drifts.push(drift) }).pullZones.all();
  expect(drifts).toMatchObject([{ operation: 'List Pull Zones', wrong: ['Enabled'], unknown: ['NewLevel'] }]);
  expect(drifts[0]?.missing).toContain('EnableTLS1');
});

test('other work gets its turn while a long list is read', async () => {
  const big = JSON.stringify(numbers(1, 60_000).map((id) => ({ ...makeZone(id), Pad: 'x'.repeat(300) })));
  // One piece, as a body is that waits in memory: nothing but the reader's own pauses lets others in.
  const fetch = async () => new Response(big);
  const cdn = await startStubCdn(() => undefined);
  let turns = 0;
  const others = { wanted: true };
  const working = (async () => {
    for (; others.wanted; turns += 1) await turn();
  })();
  const { zones } = await cdn.client({ fetch }).pullZones.all();
  others.wanted = false;
  await working;
  expect(zones).toHaveLength(60_000);
  // Once is what a reader without pauses leaves; how often is a matter of the machine.
  expect(turns).toBeGreaterThan(2);
});

test('a service that sends zones without an end is refused before they fill the memory', async () => {
  const cdn = await startStubCdn((_, response) => {
    response.writeHead(200, { 'content-type': 'application/json' }).write('[');
    let next = 1;
    const send = (): void => {
      let more = true;
      while (more)
        more = response.write(Array.from({ length: 1000 }, () => `{"Id":${(next += 1)}},`).join(''));
      response.once('drain', send);
    };
    send();
  });
  expect(await codeOf(cdn.client().pullZones.all())).toBe('too_large');
});
