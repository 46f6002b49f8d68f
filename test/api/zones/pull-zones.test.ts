import { createSecretKey } from 'node:crypto';
import { once } from 'node:events';
import { setImmediate as turn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { makeCertificate } from '../../../simulator/cdn/certificates.ts';
import { createCdn } from '../../../src/api/cdn.ts';
import { type Drift } from '../../../src/api/http/request.ts';
import { createZoneLoads } from '../../../src/api/zones/pull-zones.ts';
import { findKnownSecrets, Secret, withSecrets } from '../../../src/secrets/secret.ts';
import { answerAlways, codeOf, makePage, type StubHandler, sendBody, startStubCdn } from '../stub-cdn.ts';

const zone = (id: number) => ({ Id: id, Name: `zone-${id}`, Enabled: true });
const numbers = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, index) => from + index);

/** An account of so many zones, in pages. */
function account(
  zones: number,
  change: (body: ReturnType<typeof makePage>, page: number) => unknown = (body) => body,
): StubHandler {
  return ({ query }) => {
    const page = Number(query['page']);
    const perPage = Number(query['perPage']);
    const first = (page - 1) * perPage + 1;
    const items = first > zones ? [] : numbers(first, Math.min(zones, first + perPage - 1)).map(zone);
    return change(makePage(items, { page, total: zones, more: page * perPage < zones }), page);
  };
}

test('the first page is one small request, and the whole of a small account', async () => {
  const cdn = await startStubCdn(account(11));
  const first = await cdn.client().pullZones.firstPage();
  expect(cdn.requests.map(({ path, query }) => [path, query])).toEqual([
    ['/pullzone', { page: '1', perPage: '10' }],
  ]);
  expect(first).toMatchObject({ total: 11, more: true, skipped: 0 });
  expect(first.zones.map(({ id }) => id)).toEqual(numbers(1, 10).map(String));
  const small = await startStubCdn(account(10));
  expect(await small.client().pullZones.firstPage()).toMatchObject({ total: 10, more: false });
});

test('a search travels encoded, and an empty one not at all', async () => {
  const cdn = await startStubCdn(account(1));
  const { pullZones } = cdn.client();
  expect(await pullZones.findAll(() => true, 'a&page=0 é')).toHaveLength(1);
  expect(await pullZones.findAll(() => false, '')).toEqual([]);
  expect(cdn.requests.map(({ query }) => query)).toEqual([
    { page: '1', perPage: '1000', search: 'a&page=0 é' },
    { page: '1', perPage: '1000' },
  ]);
});

test('the whole list is every zone once, in order, from pages of 1000', async () => {
  const cdn = await startStubCdn(account(5_300));
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
    [account(1_000), 1_000],
    [() => numbers(1, 2_500).map(zone), 2_500],
  ] as const) {
    const cdn = await startStubCdn(answer);
    expect((await cdn.client().pullZones.all()).zones).toHaveLength(zones);
    expect(cdn.requests).toHaveLength(1);
  }
});

test('of a plain array the first page takes what it needs and hangs up', async () => {
  const list = JSON.stringify(numbers(1, 200_000).map(zone));
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
  ['totals stand before the list', account(1_500, reverse), 1_500, 2],
  ['there is no total', account(2_500, (body) => ({ ...body, TotalItems: undefined })), 2_500, 3],
  ['there is neither total nor more', account(2_000, ({ Items }) => ({ Items })), 2_000, 3],
  ['the total is too small', account(3_400, (body) => ({ ...body, TotalItems: 2_000 })), 3_400, 4],
  [
    'there is always more',
    account(1_000, (body) => ({ ...body, HasMoreItems: true, TotalItems: null })),
    1_000,
    2,
  ],
  ['pages are shorter than asked for', giveShortPages, 700, 7],
  [
    'the last page comes again and again',
    () => makePage(numbers(1, 1_000).map(zone), { more: true, total: 1e9 }),
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
  return makePage(numbers(page * 100 - 99, page * 100).map(zone), { page, total: 700, more: page < 7 });
}

test('a page in the middle that comes empty ends the list, and what is missing is counted', async () => {
  const whole = account(5_500);
  const cdn = await startStubCdn((request, ...more) =>
    request.query['page'] === '3'
      ? makePage([], { page: 3, total: 5_500, more: true })
      : whole(request, ...more),
  );
  const found = await cdn.client().pullZones.all();
  expect([found.zones.length, found.skipped]).toEqual([4_500, 1_000]);
});

test('an unreadable zone is left out and counted', async () => {
  const cdn = await startStubCdn(() => makePage([zone(1), null, 'x', { Name: 'no id' }, zone(2)]));
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
  ['a list that is an object', '{"Items":{}}'],
  ['a web page', '<!doctype html><html>'],
  ['a broken element', '{"Items":[{"Id":1},{oops}],"TotalItems":2}'],
  ['nothing', ''],
])('%s is unexpected', async (_, body) => {
  const cdn = await answerAlways(200, body);
  expect(await codeOf(cdn.client().pullZones.all())).toBe('unexpected');
});

test('one page that fails fails the list', async () => {
  const answer = account(8_000);
  const cdn = await startStubCdn((request, response, count) =>
    request.query['page'] === '3' ? sendBody(response, 403, '') : answer(request, response, count),
  );
  expect(await codeOf(cdn.client().pullZones.all())).toBe('key_refused');
});

test('a zone is found whole, and reading stops there', async () => {
  const cdn = await startStubCdn(account(9_500));
  const found = await cdn.client().pullZones.find(({ name }) => name === 'zone-2');
  expect(found).toMatchObject({ members: { Name: 'zone-2', Enabled: true }, summary: { id: '2' } });
  expect(cdn.requests).toHaveLength(1);
  expect((await cdn.client().pullZones.find(({ id }) => id === '9500'))?.summary.id).toBe('9500');
  expect(await cdn.client().pullZones.find(() => false, 'nobody')).toBeUndefined();
});

test('what is not as specified is reported by name, without values', async () => {
  const cdn = await startStubCdn(() =>
    makePage([{ ...zone(1), Enabled: 'SECRET', NewLevel: 'SECRET' }, zone(2)]),
  );
  const drifts: Drift[] = [];
  await cdn.client({ onDrift: (drift) => drifts.push(drift) }).pullZones.all();
  expect(drifts).toMatchObject([{ operation: 'List Pull Zones', wrong: ['Enabled'], unknown: ['NewLevel'] }]);
  expect(drifts[0]?.missing).toContain('EnableTLS1');
});

test('other work gets its turn while a long list is read', async () => {
  const big = JSON.stringify(numbers(1, 60_000).map((id) => ({ ...zone(id), Pad: 'x'.repeat(300) })));
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

test('large lists wait where too many zones are read, also behind one that failed, and small ones never', async () => {
  const { takeTurn } = createZoneLoads(100, 1_000);
  const begun: string[] = [];
  const load = (name: string, zones: number) => {
    const end = Promise.withResolvers<void>();
    const done = takeTurn(zones, () => {
      begun.push(name);
      return end.promise;
    });
    return { done, end };
  };
  const [failing, beside, next, small] = [
    load('failing', 500),
    load('beside', 500),
    load('next', 2_000),
    load('small', 99),
  ];
  await turn();
  // A slow one holds up nobody else.
  expect(begun.toSorted()).toEqual(['beside', 'failing', 'small']);
  failing.end.reject(new Error('broken'));
  await expect(failing.done).rejects.toThrow('broken');
  await turn();
  expect(begun).not.toContain('next');
  beside.end.resolve();
  await beside.done;
  await turn();
  // More than all may have, alone.
  expect(begun.at(-1)).toBe('next');
  for (const { end } of [next, small]) end.resolve();
  await Promise.all([next.done, small.done]);
});

test('large lists wait, whatever they are read for', async () => {
  let following = 0;
  const held = Promise.withResolvers<void>();
  const cdn = await startStubCdn(async (request, response) => {
    const page = Number(request.query['page']);
    if (page > 1) following += 1;
    if (page > 1) await held.promise;
    const items = page > 6 ? [] : numbers((page - 1) * 1000 + 1, page * 1000).map(zone);
    // It says that it has more than are read at once.
    sendBody(response, 200, makePage(items, { page, total: 60_000, more: page < 6 }));
  });
  const createClient = createCdn({ apiUrl: cdn.url, originLoggingUrl: cdn.url });
  const open = (key: string) => createClient.withKey(new Secret(key)).pullZones;
  const digestKey = { key: createSecretKey(Buffer.alloc(32)) };
  const every = { digestKey, wants: () => false, project: () => undefined, enough: () => false };
  const reads = [
    open('one').all(),
    open('two').find(({ id }) => id === '5999'),
    open('three').settings(every),
    open('four').certificates(),
  ];
  await expect.poll(() => cdn.requests.length).toBe(8);
  expect(following).toBe(4);
  held.resolve();
  await Promise.all(reads);
});

test.each<[string, (items: object[], page: number) => unknown]>([
  ['sends every zone at once', () => numbers(1, 6_000).map(zone)],
  ['tells no total', (items, page) => ({ Items: items, HasMoreItems: page < 6 })],
])('of a service that %s one long list is read at a time', async (_, answer) => {
  const held = Promise.withResolvers<void>();
  let readers = 0;
  const cdn = await startStubCdn(async ({ query, headers }) => {
    const page = Number(query['page']);
    const first = !cdn.requests.slice(0, -1).some((one) => one.headers['accesskey'] === headers['accesskey']);
    if (!first) readers += 1;
    if (!first) await held.promise;
    return answer(page > 6 ? [] : numbers((page - 1) * 1000 + 1, page * 1000).map(zone), page);
  });
  const createClient = createCdn({ apiUrl: cdn.url, originLoggingUrl: cdn.url });
  const reads = ['one', 'two'].map((key) => createClient.withKey(new Secret(key)).pullZones.all());
  await expect.poll(() => cdn.requests.length).toBe(3);
  await turn();
  expect(readers).toBe(1);
  held.resolve();
  for (const { zones } of await Promise.all(reads)) expect(zones).toHaveLength(6_000);
});

test('people with the same key share one read of all zones, and one of them may give up', async () => {
  const cdn = await startStubCdn(account(2_500));
  const createClient = createCdn({ apiUrl: cdn.url, originLoggingUrl: cdn.url });
  const gone = new AbortController();
  const [same, gives, other] = ['one-key', 'one-key', 'another-key'].map((key, nth) =>
    createClient.withKey(new Secret(key), nth === 1 ? gone.signal : undefined).pullZones.all(),
  );
  gone.abort();
  expect(await codeOf(gives as Promise<unknown>)).toBe('cancelled');
  const [first, second] = await Promise.all([same, other]);
  expect(first?.zones).toHaveLength(2_500);
  expect(second?.zones).toHaveLength(2_500);
  expect(first?.account).not.toBe(second?.account);
  expect(JSON.stringify([first?.account, second?.account])).not.toContain('key');
  expect(cdn.requests).toHaveLength(6);
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
  expect(await codeOf(cdn.client().pullZones.all())).toBe('unexpected');
});

const endsAt = new Date('2026-12-01T08:30:00Z');
const certificate = makeCertificate('shop.example.com', endsAt);
const pem = Buffer.from(certificate, 'base64url').toString();
const der = Buffer.from(pem.replaceAll(/-----.*-----/gu, ''), 'base64');

const zoneWith = (id: number, hostnames: object[]) => ({
  Id: id,
  Name: 'CANARY-name',
  Hostnames: hostnames.map((host) => ({ CertificateKey: 'CANARY-key', ...host })),
});

test('the ends of certificates are read in every form, and nothing else of them', async () => {
  const cdn = await startStubCdn(() =>
    makePage([
      zoneWith(1, [
        { Value: 'shop.cdn.example.net', IsSystemHostname: true, Certificate: certificate },
        { Value: 'url.example.com', Certificate: certificate },
        { Value: 'pem.example.com', Certificate: pem },
        { Value: 'der.example.com', Certificate: der.toString('base64') },
        { Value: 'chain.example.com', Certificate: Buffer.from(pem + pem).toString('base64url') },
        { Value: 'none.example.com', Certificate: null },
        { Value: 'undated.example.com', HasCertificate: true },
        { Value: 'broken.example.com', Certificate: 'CANARY-certificate' },
      ]),
      zoneWith(2, []),
    ]),
  );
  const found = await withSecrets(async () => {
    const certificates = await cdn.client().pullZones.certificates();
    // What is dropped unread is not held to be searched for, either.
    expect(
      findKnownSecrets()
        .lists.flat()
        .map(({ kind }) => kind),
    ).not.toContain('CertificateKey');
    return certificates;
  });
  expect(found).toEqual([
    { zoneId: '1', hostname: 'url.example.com', endsAt },
    { zoneId: '1', hostname: 'pem.example.com', endsAt },
    { zoneId: '1', hostname: 'der.example.com', endsAt },
    { zoneId: '1', hostname: 'chain.example.com', endsAt },
    { zoneId: '1', hostname: 'undated.example.com', endsAt: undefined },
    { zoneId: '1', hostname: 'broken.example.com', endsAt: undefined },
  ]);
  expect(cdn.requests.map(({ query }) => query['includeCertificate'])).toEqual(['true']);
});
