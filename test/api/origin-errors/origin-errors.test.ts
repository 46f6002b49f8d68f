import { expect, test } from 'vitest';
import { createFilter, type Filters } from '../../../src/api/origin-errors/filters.ts';
import { type OriginError } from '../../../src/api/origin-errors/origin-errors.ts';
import { expectApiError, sendBody, startStubCdn } from '../stub-cdn.ts';

const day = '2026-01-02';
const now = Date.parse('2026-01-02T12:00:00Z');
const labels = { ErrorCode: 'dns_lookup', StatusCode: '502', ServerZone: 'DE' };
const log = JSON.stringify({
  RequestUrl: '/cart?token=CANARY&x=1',
  PullZoneId: 1001,
  Message: 'No answer from https://u:CANARY@origin.example.com/a?k=CANARY now',
  ErrorCode: 'dns_lookup',
  StatusCode: 502,
  ClientIp: 'CANARY',
  RequestHeaders: { Cookie: 'CANARY' },
});
const entry = { logId: 'id-1', timestamp: 1_767_225_600_000, log, labels };

async function entriesOf(body: unknown, status = 200) {
  const cdn = await startStubCdn((_, response) => sendBody(response, status, body));
  const entries: OriginError[] = [];
  const { originErrors } = cdn.client({ now: () => now });
  const day_ = await originErrors.forEach('1001', day, (entry) => void entries.push(entry));
  return { entries, day: day_, cdn };
}

test('an entry has what the specification names, and nothing that may be secret', async () => {
  const { entries, day, cdn } = await entriesOf({ logs: [entry], hasMoreData: false, continuationToken: '' });
  const [one] = entries;
  expect(one).toMatchObject({
    id: 'id-1',
    at: 1_767_225_600_000,
    errorCode: 'dns_lookup',
    statusCode: 502,
    serverZone: 'DE',
  });
  expect(one?.details()).toEqual({
    requestUrl: '/cart?token=…&x=…',
    message: 'No answer from https://origin.example.com/a?k=… now',
    errorCode: 'dns_lookup',
    statusCode: 502,
  });
  expect(JSON.stringify([one, one?.details()])).not.toContain('CANARY');
  expect(day).toEqual({ entries: 1, skipped: 0, moreExist: false });
  expect(cdn.requests[0]?.path).toBe('/origin-logging/1001/01-02-2026');
});

test.each<[string, string]>([
  ['upstream said 401 to Cookie: theme=dark; sid=CANARY-1', 'upstream said 401 to Cookie: …'],
  ['bad header "Set-Cookie": "sid=CANARY; Path=/; HttpOnly"', 'bad header "Set-Cookie": …'],
  ['the cookie session=CANARY is unknown', 'the cookie … is unknown'],
  ['Authorization: Bearer CANARY.b.c was refused', 'Authorization: … was refused'],
  ['Authorization: Basic Q0FOQVJZOkNBTkFSWQ== was refused', 'Authorization: … was refused'],
  ['refused bearer CANARYtoken, retry', 'refused bearer …, retry'],
  ['x-api-key=CANARY&user=3', 'x-api-key=…&user=…'],
  ['invalid token CANARY-77 from origin', 'invalid token … from origin'],
  ['{"access_token":"CANARY of two words","code":401}', '{"access_token":…,"code":401}'],
  ['GET /cart?sid=CANARY&x=1 timed out', 'GET /cart?sid=…&x=… timed out'],
  ['peer sent zq8CANARYRk2Lm9Xv4Tb7Wn1Yc5Pd twice', 'peer sent … twice'],
  // Nothing of these is secret.
  ...[
    'Could not resolve origin-shop.example.com: no such host (NXDOMAIN), 3 tries in 10.5 s',
    'TLS handshake failed: certificate of origin.example.com expired on 2026-11-19',
    'The cookie header is too large',
    'Token expired; session not found',
    'upstream prematurely closed connection, request id 1b7e0f4c-92ad-4d13-8e60-5f3a7c21d9b8',
  ].map((message): [string, string] => [message, message]),
])('of the message %j nothing secret is left, and the rest stays', async (message, shown) => {
  const { entries } = await entriesOf({ logs: [{ ...entry, log: JSON.stringify({ Message: message }) }] });
  expect(entries[0]?.details()?.message).toBe(shown);
});

test('a document that does not parse leaves the labels', async () => {
  const { entries } = await entriesOf({
    logs: [
      { ...entry, log: '{"RequestUrl":' },
      { ...entry, log: null },
      { ...entry, log: '[]' },
    ],
  });
  for (const one of entries) {
    expect(one).toMatchObject({ errorCode: 'dns_lookup', statusCode: 502 });
    expect(one.details()).toBeUndefined();
  }
  expect(entries).toHaveLength(3);
});

test('without labels the document says it', async () => {
  const { entries } = await entriesOf({ logs: [{ logId: 'x', timestamp: '?', log, labels: null }] });
  expect(entries[0]).toMatchObject({ id: 'x', errorCode: 'dns_lookup', statusCode: 502 });
  expect([entries[0]?.at, entries[0]?.serverZone]).toEqual([undefined, undefined]);
});

test.each([
  [1_767_225_600, 1_767_225_600_000],
  [1_767_225_600_000, 1_767_225_600_000],
  [1_767_225_600_000_000, 1_767_225_600_000],
  [1_767_225_600_000_000_000, 1_767_225_600_000],
  ['1767225600', 1_767_225_600_000],
  ['1767225600000000', 1_767_225_600_000],
  ['2026-01-01T00:00:00Z', 1_767_225_600_000],
  ['2026-01-01T01:00:00.000+01:00', 1_767_225_600_000],
  ['2026-01-01t01:00:00+01', 1_767_225_600_000],
  // A day alone tells no time.
  ['2026-01-01', undefined],
  // A clock that is a little ahead means now.
  [now + 60_000, now - 1],
  // Another unit, a clock in another zone, another week: no time that the entry can have.
  [now + 3_600_000, undefined],
  [639_028_224_000_000_000, undefined],
  [1_767_225_600_000 - 1, undefined],
  ['yesterday', undefined],
  [-1, undefined],
  [null, undefined],
])('the timestamp %j is %j', async (timestamp, at) => {
  const { entries } = await entriesOf({ logs: [{ ...entry, timestamp }] });
  expect(entries[0]?.at).toBe(at);
});

test('an entry that is none is left out and counted; more entries are announced', async () => {
  const { entries, day } = await entriesOf({
    hasMoreData: true,
    logs: [null, entry, 'x', []],
    continuationToken: 'next',
  });
  expect(entries).toHaveLength(1);
  expect(day).toEqual({ entries: 1, skipped: 3, moreExist: true });
});

test.each([
  [{ hasMoreData: 'true' }, true],
  [{ hasMoreData: 1 }, true],
  [{ continuationToken: 'next' }, true],
  [{ hasMoreData: null, continuationToken: 'next' }, true],
  [{ hasMoreData: false, continuationToken: 'next' }, false],
  [{ hasMoreData: 'later', continuationToken: '' }, true],
])('beside %j the log has more: %j', async (members, more) => {
  expect((await entriesOf({ logs: [entry], ...members })).day.moreExist).toBe(more);
});

test('labels of spaces alone are not reported', async () => {
  const blank = { ErrorCode: ' ', StatusCode: ' ', ServerZone: '\t' };
  const { entries } = await entriesOf({ logs: [{ ...entry, log: '{}', labels: blank }] });
  const [{ errorCode, statusCode, serverZone } = {}] = entries;
  expect([errorCode, statusCode, serverZone]).toEqual([undefined, undefined, undefined]);
});

test.each([[{ logs: [] }], [[]]])('%j means none were reported', async (body) => {
  expect((await entriesOf(body)).day).toEqual({ entries: 0, skipped: 0, moreExist: false });
});

test.each([
  ['another shape', { entries: [] }, 'unexpected'],
  ['null in place of the list', { logs: null }, 'unexpected'],
  ['a refusal', { logs: null, errorResponse: { success: false, message: 'Not for this zone.' } }, 'refused'],
  ['202, before there is an answer', { logs: [] }, 'unexpected', 202],
])('%s is an error', async (_, body, code, status = 200) => {
  expect(await expectApiError(entriesOf(body, status))).toMatchObject({ code });
});

test('where the day breaks off, no entry is visited twice', async () => {
  const cdn = await startStubCdn((_, response) => {
    const half = `{"logs":[${JSON.stringify(entry)},${JSON.stringify(entry)},`;
    response
      .writeHead(200, { 'content-length': String(half.length * 2) })
      .write(half, () => response.destroy());
  });
  let visited = 0;
  const work = cdn.client().originErrors.forEach('1001', day, () => {
    visited += 1;
  });
  expect(await expectApiError(work)).toMatchObject({ code: 'cut' });
  expect(visited).toBeLessThanOrEqual(2);
  expect(cdn.requests).toHaveLength(1);
});

test('a slow visitor is waited for', async () => {
  const cdn = await startStubCdn(() => ({ logs: [entry, entry] }));
  let finished = 0;
  await cdn.client().originErrors.forEach('1001', day, async () => {
    await Promise.resolve();
    finished += 1;
  });
  expect(finished).toBe(2);
});

test('a zone id is digits', async () => {
  const cdn = await startStubCdn(() => ({ logs: [] }));
  await expect(
    cdn.client().originErrors.forEach('shop', day, () => {}),
  ).rejects.toThrowErrorMatchingInlineSnapshot(`[UserError: This is not a zone ID.]`);
});

const timeout: OriginError = {
  id: 'one',
  at: undefined,
  errorCode: 'http_timeout',
  statusCode: 504,
  serverZone: 'DE',
  path: () => '/img/large/a.png',
  details: () => undefined,
};
const onOrigin: OriginError = { ...timeout, path: () => 'https://origin.example.com/img/a.png' };
const bare: OriginError = {
  ...timeout,
  errorCode: undefined,
  statusCode: undefined,
  serverZone: undefined,
  path: () => undefined,
};

test.each<[Filters, OriginError, boolean]>([
  [{}, bare, true],
  [{ code: ['http_timeout'] }, timeout, true],
  [{ code: ['HTTP_Timeout'] }, timeout, true],
  [{ code: ['http'] }, timeout, false],
  [{ code: ['dns_lookup', 'http_timeout'] }, timeout, true],
  [{ status: ['504'] }, timeout, true],
  [{ status: ['5xx'] }, timeout, true],
  [{ status: ['50X'] }, timeout, true],
  [{ status: ['51x', '4xx'] }, timeout, false],
  [{ status: ['5xx'] }, { ...timeout, statusCode: 5 }, false],
  [{ in: ['de'] }, timeout, true],
  [{ in: ['DE'], status: ['502'] }, timeout, false],
  [{ in: ['NY', 'DE'], status: ['5xx'], code: ['http_timeout'], path: ['/img/'] }, timeout, true],
  [{ path: ['/img'] }, timeout, true],
  [{ path: ['/im'] }, timeout, true],
  [{ path: ['/img/*'] }, timeout, true],
  [{ path: ['/img/*.png'] }, timeout, true],
  [{ path: ['/img/*.jpg'] }, timeout, false],
  [{ path: ['*/a.png'] }, timeout, true],
  [{ path: ['*large*'] }, timeout, true],
  [{ path: ['/img/large/a.png*a.png'] }, timeout, false],
  [{ path: ['/img/*/*/a.png'] }, timeout, false],
  [{ path: ['/video/', '/img/'] }, timeout, true],
  [{ path: ['/img/'] }, onOrigin, true],
  [{ path: ['origin.example.com/img/'] }, onOrigin, true],
  [{ path: ['cdn.example.com/img/'] }, onOrigin, false],
  ...(['code', 'status', 'path', 'in'] as const).map((kind): [Filters, OriginError, boolean] => [
    { [kind]: ['*'] },
    bare,
    false,
  ]),
])('%j of %o: %s', (filters, entry, matches) => {
  expect(createFilter(filters)(entry)).toBe(matches);
});

test('a path with many parts takes no longer than its length', () => {
  const entry = { ...timeout, path: () => `/${'a'.repeat(2000)}` };
  expect(createFilter({ path: [`/${'a*'.repeat(25)}b`] })(entry)).toBe(false);
});
