import { createSecretKey } from 'node:crypto';
import { setImmediate as turn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { makeCertificate } from '../../../simulator/cdn/certificates.ts';
import { createCdn } from '../../../src/api/cdn.ts';
import { createZoneLoads } from '../../../src/api/zones/pull-zones.ts';
import { findKnownSecrets, Secret, withSecrets } from '../../../src/secrets/secret.ts';
import { answerAccount, codeOf, makePage, makeZone, numbers, sendBody, startStubCdn } from '../stub-cdn.ts';

test('the first page is one small request, and the whole of a small account', async () => {
  const cdn = await startStubCdn(answerAccount(11));
  const first = await cdn.client().pullZones.firstPage();
  expect(cdn.requests.map(({ path, query }) => [path, query])).toEqual([
    ['/pullzone', { page: '1', perPage: '10' }],
  ]);
  expect(first).toMatchObject({ total: 11, more: true, skipped: 0 });
  expect(first.zones.map(({ id }) => id)).toEqual(numbers(1, 10).map(String));
  const small = await startStubCdn(answerAccount(10));
  expect(await small.client().pullZones.firstPage()).toMatchObject({ total: 10, more: false });
  const twice = await startStubCdn(() => [makeZone(1), makeZone(2), makeZone(1)]);
  expect((await twice.client().pullZones.firstPage()).zones.map(({ id }) => id)).toEqual(['1', '2']);
});

test('a zone is found whole, and reading stops there', async () => {
  const cdn = await startStubCdn(answerAccount(9_500));
  const found = await cdn.client().pullZones.find(({ name }) => name === 'zone-2');
  expect(found).toMatchObject({ members: { Name: 'zone-2', Enabled: true }, summary: { id: '2' } });
  expect(cdn.requests).toHaveLength(1);
  expect((await cdn.client().pullZones.find(({ id }) => id === '9500'))?.summary.id).toBe('9500');
  expect(await cdn.client().pullZones.find(() => false, 'nobody')).toBeUndefined();
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
  const [failing, beside, next, small, middle, third] = [
    load('failing', 500),
    load('beside', 500),
    load('next', 2_000),
    load('small', 99),
    load('middle', 150),
    load('third', 150),
  ];
  await turn();
  // A slow one holds up nobody else.
  expect(begun.toSorted()).toEqual(['beside', 'failing', 'middle', 'small']);
  failing.end.reject(new Error('broken'));
  await expect(failing.done).rejects.toThrow('broken');
  await turn();
  expect(begun).not.toContain('next');
  beside.end.resolve();
  await beside.done;
  await turn();
  // More than all may have, alone.
  expect(begun.at(-1)).toBe('next');
  for (const { end } of [next, small, middle, third]) end.resolve();
  await Promise.all([next, small, middle, third].map(({ done }) => done));
});

test('large lists wait, whatever they are read for', async () => {
  let following = 0;
  const held = Promise.withResolvers<void>();
  const cdn = await startStubCdn(async (request, response) => {
    const page = Number(request.query['page']);
    if (page > 1) following += 1;
    if (page > 1) await held.promise;
    const items = page > 6 ? [] : numbers((page - 1) * 1000 + 1, page * 1000).map(makeZone);
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
  ['sends every zone at once', () => numbers(1, 6_000).map(makeZone)],
  ['tells no total', (items, page) => ({ Items: items, HasMoreItems: page < 6 })],
])('of a service that %s one long list is read at a time', async (_, answer) => {
  const held = Promise.withResolvers<void>();
  let readers = 0;
  const cdn = await startStubCdn(async ({ query, headers }) => {
    const page = Number(query['page']);
    const first = !cdn.requests.slice(0, -1).some((one) => one.headers['accesskey'] === headers['accesskey']);
    if (!first) readers += 1;
    if (!first) await held.promise;
    return answer(page > 6 ? [] : numbers((page - 1) * 1000 + 1, page * 1000).map(makeZone), page);
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
  const cdn = await startStubCdn(answerAccount(2_500));
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
