import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import { inspect } from 'node:util';
import { gzipSync } from 'node:zlib';
import { expect, onTestFinished, test, vi } from 'vitest';
import { volumePath } from '../../../src/api/apps.ts';
import { ApiError, type ApiErrorCode } from '../../../src/api/http/errors.ts';
import {
  type Attempt,
  createErrorBudget,
  findRetryDelay,
  readRetryAfter,
} from '../../../src/api/http/request.ts';
import { variableBody, variablePath } from '../../../src/api/variables.ts';
import { SecretLeakBlocked } from '../../../src/errors.ts';
import { useProxy } from '../../../src/lib/proxy.ts';
import { Secret } from '../../../src/secrets/secret.ts';
import {
  answerAlways,
  codeOf,
  expectApiError,
  key,
  makePage,
  type StubCdn,
  sendBody,
  startStubCdn,
} from '../stub-cdn.ts';

const now = Date.parse('2026-11-20T10:00:00Z');
const list = (cdn: StubCdn, signal?: AbortSignal) => cdn.client({}, signal).pullZones.firstPage();
const readApp = (cdn: StubCdn, options = {}) => cdn.client(options).apps.summary('app1');
const deleteVolume = (cdn: StubCdn, options = {}) =>
  cdn.client(options).volumes.deleteAll(volumePath('app1', 'vol1'));
const changeVariable = (cdn: StubCdn) =>
  cdn.client().variables.update(variablePath('301', '12'), variableBody({ required: true }));

/** An address where a server was a moment ago. */
async function nobodysAddress(): Promise<string> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return `http://127.0.0.1:${port}`;
}

test('the key travels in AccessKey, to both hosts, whose addresses may end with a slash', async () => {
  const cdn = await startStubCdn(({ path }) => (path.includes('origin') ? { logs: [] } : makePage([])));
  await cdn.client({ apiUrl: `${cdn.url}/prefix//` }).pullZones.firstPage();
  await cdn.client().originErrors.forEach('1001', '2026-11-20', () => {});
  expect(cdn.requests.map(({ path, headers }) => [path, headers['accesskey'], headers.accept])).toEqual([
    ['/prefix/pullzone', key, 'application/json'],
    ['/origin-logging/1001/11-20-2026', key, expect.anything()],
  ]);
});

test.each([301, 307])('a redirect (%i) is not followed, since the key would travel along', async (status) => {
  const cdn = await answerAlways(status, '', { location: '/elsewhere' });
  expect(await expectApiError(list(cdn))).toMatchObject({ code: 'unexpected', status });
  expect(cdn.requests.map(({ path }) => path)).toEqual(['/pullzone']);
});

test('an error says what the service said, with its request id', async () => {
  const detail = 'Some volume instances are not detached.';
  const body = { title: 'Bad Request', detail, errors: [{ field: 'volumeId', message: 'vi-3' }] };
  const cdn = await answerAlways(400, body, { 'cdn-requestid': '8b7d4c' });
  expect(await expectApiError(deleteVolume(cdn))).toMatchObject({
    name: 'ApiError',
    message: 'Delete All Volume Instances: refused (HTTP 400)',
    code: 'refused',
    operation: 'Delete All Volume Instances',
    status: 400,
    serviceMessage: detail,
    fieldErrors: [{ field: 'volumeId', message: 'vi-3' }],
    requestId: '8b7d4c',
    sent: true,
  });
  const foreign = await answerAlways(404, '', { 'cdn-requestid': '<!channel> look' });
  expect(await expectApiError(list(foreign))).toMatchObject({ code: 'not_found', requestId: undefined });
});

test('a refusal in plain text is told; the text of a broken service is not', async () => {
  const text = 'The window must be within the last 72 hours';
  const refused = await expectApiError(deleteVolume(await answerAlways(401, text)));
  expect(refused).toMatchObject({ code: 'refused', serviceMessage: text });
  const broken = await expectApiError(deleteVolume(await answerAlways(500, 'at System.Web')));
  expect(broken.serviceMessage).toBeUndefined();
});

test('commas within a text are no parts of an answer', async () => {
  const cdn = await answerAlways(200, { status: ','.repeat(60_000), monthlyCost: 3 });
  expect(await readApp(cdn)).toMatchObject({ monthlyCost: 3 });
});

test('a text without an end takes no longer than others', async () => {
  const cdn = await answerAlways(200, `{"status":"${'\\"'.repeat(400_000)}`);
  expect(await codeOf(readApp(cdn))).toBe('cut');
});

test('a compressed answer of which nothing came out is cut', async () => {
  const cdn = await startStubCdn((_, response) => {
    response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync('{}').subarray(0, 10));
  });
  expect(await codeOf(readApp(cdn))).toBe('cut');
});

test('a read that met a 5xx is asked again, twice at most', async () => {
  const cdn = await answerAlways(502, '<html>Bad Gateway</html>');
  expect(await expectApiError(list(cdn))).toMatchObject({ code: 'unavailable', status: 502 });
  expect(cdn.waits).toEqual([250, 500]);
  const once = await startStubCdn((_, response, count) =>
    count === 1 ? sendBody(response, 500, '') : makePage([{ Id: 1 }]),
  );
  const attempts: unknown[] = [];
  const onAttempt = ({ outcome, status }: Attempt) => attempts.push([outcome, status]);
  expect((await once.client({ onAttempt }).pullZones.firstPage()).zones).toHaveLength(1);
  expect(attempts).toEqual([
    ['unavailable', 500],
    ['ok', 200],
  ]);
});

test.each([
  ['500', 'unavailable', (cdn: StubCdn) => deleteVolume(cdn)],
  ['429', 'rate_limited', (cdn: StubCdn) => deleteVolume(cdn)],
  ['500', 'unavailable', changeVariable],
  ['nothing', 'unreachable', (cdn: StubCdn) => deleteVolume(cdn)],
] as const)('what changes something is sent once, also where %s comes back', async (status, code, work) => {
  const cdn = await startStubCdn((_, response) =>
    status === 'nothing' ? void response.socket?.destroy() : sendBody(response, Number(status), ''),
  );
  expect(await expectApiError(work(cdn))).toMatchObject({ code, sent: true });
  expect(cdn.requests).toHaveLength(1);
});

test('pauses that the service asks for are kept, and together stay within four seconds', async () => {
  const busy = await answerAlways(429, '', { 'retry-after': '3' });
  expect(await codeOf(list(busy))).toBe('rate_limited');
  expect(busy.waits).toEqual([3000]);
  const busier = await answerAlways(429, '', { 'retry-after': 'Fri, 20 Nov 2026 10:01:00 GMT' });
  const error = await expectApiError(busier.client({ now: () => now }).pullZones.firstPage());
  expect([error.retryAfterSeconds, busier.waits]).toEqual([60, []]);
});

test.each([
  // code, tries, waited, wait
  ['unavailable', 1, 0, 250],
  ['unavailable', 2, 250, 500],
  ['unavailable', 3, 750, undefined],
  ['unreachable', 1, 0, 250],
  ['cut', 1, 0, 250],
  ['rate_limited', 1, 0, 500],
  ...(['timeout', 'unexpected', 'refused', 'key_refused', 'not_found', 'cancelled'] as const).map(
    (code) => [code, 1, 0, undefined] as const,
  ),
] as const)('%s of a read, try %i, %i ms waited: wait %s', (code, tries, waitedMs, wait) => {
  expect(findRetryDelay(fail(code), tries, waitedMs, 0)).toBe(wait);
});

test.each([
  [2, 0, 0, 2000],
  [0, 0, 0, 0],
  [30, 0, 0, undefined],
  [2, 3000, 0, undefined],
  [1, 0, 0.5, 1050],
])('after a pause of %i s, with %i ms waited and jitter %d: %s', (asked, waitedMs, random, wait) => {
  expect(findRetryDelay(fail('rate_limited', asked), 1, waitedMs, random)).toBe(wait);
});

function fail(code: ApiErrorCode, retryAfterSeconds?: number): ApiError {
  return new ApiError({ code, operation: 'Any', sent: true, retryAfterSeconds });
}

test.each([
  ['7', 7],
  [' 1.5 ', 1.5],
  ['Fri, 20 Nov 2026 10:00:30 GMT', 30],
  ['Fri, 20 Nov 2026 09:59:00 GMT', 0],
  ['999999999', 86_400],
  ['soon', undefined],
  ['-5', undefined],
  ['', undefined],
  [null, undefined],
])('Retry-After %j means %s seconds', (header, seconds) => {
  expect(readRetryAfter(header, now)).toBe(seconds);
});

test('requests that fail together spend one failure, those of a CDN that answers otherwise one each', async () => {
  for (const [isUp, spent] of [
    [false, 1],
    [true, 3],
  ]) {
    const budget = createErrorBudget(4);
    if (isUp) await budget.spend(async () => 'an answer');
    await Promise.allSettled(
      Array.from({ length: 3 }, () => budget.spend(() => Promise.reject(fail('unavailable')))),
    );
    expect(budget.spent()).toBe(spent);
  }
});

/** The last outcome of work with these attempts, how many were sent, and what they cost. */
async function spend(most: number, ...codes: (ApiErrorCode | 'answer' | 'bug')[]) {
  const budget = createErrorBudget(most);
  let sent = 0;
  const outcomes: unknown[] = [];
  for (const code of codes) {
    const attempt = async () => {
      sent += 1;
      if (code === 'bug') throw new Error(code);
      if (code !== 'answer') throw fail(code);
      return code;
    };
    outcomes.push(await budget.spend(attempt).catch((error: Partial<ApiError>) => error.code));
  }
  return [outcomes.at(-1), sent, budget.spent()];
}

test('a budget that is spent ends the work with the last failure, and nothing more is sent', async () => {
  expect(await spend(2, 'answer', 'unavailable', 'timeout', 'answer')).toEqual(['timeout', 3, 2]);
  expect(await spend(9, 'answer', 'timeout')).toEqual(['timeout', 2, 1]);
  // Nothing has answered yet: the service is down.
  expect(await spend(9, 'unavailable', 'answer')).toEqual(['unavailable', 1, 1]);
  // A refusal is an answer; what the caller stopped is none, nor is a fault of ours.
  expect(await spend(9, 'refused', 'unavailable', 'answer')).toEqual(['answer', 3, 1]);
  for (const code of ['cancelled', 'bug'] as const)
    expect(await spend(9, code, 'cut', 'answer')).toEqual(['cut', 2, 1]);
});

test.each([
  ['refuses', 'Proxy response (407) !== 200 when HTTP Tunneling', 'UND_ERR_ABORTED', false],
  ['cannot be found', 'getaddrinfo', 'ENOTFOUND', false],
  ['is too slow to connect', 'Connect Timeout Error', 'UND_ERR_CONNECT_TIMEOUT', false],
  ['breaks off', 'other side closed', 'UND_ERR_SOCKET', true],
  ['breaks TLS', 'bad record mac', 'EPROTO', true],
])('a proxy that %s: whether a deletion may have been sent', async (_, message, code, sent) => {
  const proxy = 'http://proxy.example:3128';
  onTestFinished(await useProxy({ http: proxy, https: proxy, exceptions: '' }));
  const cause = Object.assign(new Error(message), { code });
  const fetch = () => Promise.reject(new TypeError('fetch failed', { cause }));
  const cdn = await startStubCdn(() => makePage([]));
  const error = await expectApiError(deleteVolume(cdn, { fetch, apiUrl: 'https://cdn.example' }));
  expect(error).toMatchObject({ code: 'unreachable', sent });
});

test('where nobody listens, the request was certainly not sent, and a read is tried three times', async () => {
  const cdn = await startStubCdn(() => makePage([]));
  const nobody = { apiUrl: await nobodysAddress() };
  const none = { code: 'unreachable', sent: false };
  expect(await expectApiError(deleteVolume(cdn, nobody))).toMatchObject(none);
  expect(await expectApiError(cdn.client(nobody).pullZones.firstPage())).toMatchObject(none);
  expect(cdn.waits).toEqual([250, 500]);
  // ofetch adds no tries of its own.
  let requests = 0;
  const fetch = () => Promise.reject(new TypeError(`fetch failed ${(requests += 1)}`));
  expect(await codeOf(readApp(cdn, { fetch }))).toBe('unreachable');
  expect(requests).toBe(3);
});

test('a request that holds a secret was not sent, and is not tried again', async () => {
  const cdn = await startStubCdn(() => makePage([]));
  const fetch = vi.fn<typeof globalThis.fetch>().mockRejectedValue(new SecretLeakBlocked('cdn', 'abcd1234'));
  const heldBack = { code: 'held_back', sent: false };
  expect(await expectApiError(deleteVolume(cdn, { fetch }))).toMatchObject(heldBack);
  expect(await expectApiError(readApp(cdn, { fetch }))).toMatchObject(heldBack);
  expect(fetch).toHaveBeenCalledTimes(2);
});

test('an answer may take longer than one wait, as long as each piece comes in time', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  const pieces = ['{"sta', 'tus":"act', 'ive"}'].map((piece) => new TextEncoder().encode(piece));
  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        await turn();
        vi.advanceTimersByTime(6_000);
        const piece = pieces.shift();
        if (piece) controller.enqueue(piece);
        else controller.close();
      },
    },
    { highWaterMark: 0 },
  );
  const cdn = await startStubCdn(() => undefined);
  expect(await readApp(cdn, { timeoutMs: 10_000, fetch: async () => new Response(body) })).toMatchObject({
    status: 'active',
  });
});

test('an answer that drips in is a timeout in the end', async () => {
  let at = 0;
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => (at += 1_000));
  onTestFinished(() => clock.mockRestore());
  const cdn = await startStubCdn(() => undefined);
  const read = readApp(cdn, { timeoutMs: 300, fetch: async () => new Response('{"status":"active"}') });
  expect(await codeOf(read)).toBe('timeout');
});

test('an answer without an end in sight is not gathered', async () => {
  const cdn = await startStubCdn((_, response) => {
    const pour = () => {
      while (!response.closed && response.write('x'.repeat(1_000_000)));
    };
    response.writeHead(200).on('drain', pour);
    pour();
  });
  expect(await codeOf(readApp(cdn))).toBe('too_large');
});

test('an answer of a million parts is not read', async () => {
  const cdn = await startStubCdn((_, response) =>
    sendBody(response, 200, `{"status":"active","more":[${'1,'.repeat(400_000)}1]}`),
  );
  expect(await codeOf(readApp(cdn))).toBe('too_large');
});

test.each([200, 400])(
  'an answer (%i) that nests too deep is unexpected, also to a deletion',
  async (status) => {
    const deep = '['.repeat(30_000) + ']'.repeat(30_000);
    const cdn = await startStubCdn((_, response) => sendBody(response, status, deep));
    expect(await expectApiError(deleteVolume(cdn))).toMatchObject({ code: 'unexpected', sent: true, status });
  },
);

test('a service that never answers, or stops in a body, is a timeout, not asked again', async () => {
  const silent = await startStubCdn(() => undefined);
  const error = await expectApiError(silent.client({ timeoutMs: 200 }).pullZones.firstPage());
  expect(error).toMatchObject({ code: 'timeout', sent: true });
  expect(silent.requests).toHaveLength(1);
  const half = await startStubCdn((_, response) => {
    response.writeHead(200).write('{"Items":[{"Id":1}');
  });
  expect(await codeOf(half.client({ timeoutMs: 30 }).pullZones.all())).toBe('timeout');
});

test('a list that goes on slowly without end is a timeout', async () => {
  const cdn = await startStubCdn((_, response) => {
    response.writeHead(200).write('{"Items":[');
    let id = 0;
    const sending = setInterval(() => response.write(`{"Id":${(id += 1)}},`), 5);
    response.on('close', () => clearInterval(sending));
  });
  expect(await codeOf(cdn.client({ timeoutMs: 50 }).pullZones.all())).toBe('timeout');
});

/** Breaks its first answers off. */
const breaking = (times: number) =>
  startStubCdn((_, response, count) => {
    if (count > times) return makePage([{ Id: 1 }, { Id: 2 }, { Id: 3 }]);
    response
      .writeHead(200, { 'content-length': '5000' })
      .write('{"Items":[{"Id":1},{"Id":2},', () => response.destroy());
    return undefined;
  });

test('a body that breaks off is read again, loses and doubles nothing, and is told in the end', async () => {
  const cdn = await breaking(3);
  expect(await codeOf(list(cdn))).toBe('cut');
  expect(cdn.requests).toHaveLength(3);
  const { zones } = await (await breaking(1)).client().pullZones.all();
  expect(zones.map(({ id }) => id)).toEqual(['1', '2', '3']);
  const early = await answerAlways(200, '{"averageLatency":41.7,"monthlyCost":3');
  expect(await codeOf(readApp(early))).toBe('cut');
});

test.each([
  ['a web page', '<!doctype html><p>Sign in to the hotel’s network'],
  ['nothing', ''],
  ['a number', '7'],
  ['a list', '[]'],
  ['words', 'OK'],
])('%s where an object belongs is unexpected, and not asked for again', async (_, body) => {
  const cdn = await answerAlways(200, body);
  expect(await expectApiError(readApp(cdn))).toMatchObject({ code: 'unexpected', status: 200 });
  expect(cdn.requests).toHaveLength(1);
});

test('a refusal with status 200 is a refusal', async () => {
  const serviceMessage = 'Back in an hour.';
  const cdn = await answerAlways(200, { ErrorKey: 'maintenance', Field: null, Message: serviceMessage });
  for (const error of await Promise.all([readApp(cdn), list(cdn), deleteVolume(cdn)].map(expectApiError)))
    expect(error).toMatchObject({ code: 'refused', errorKey: 'maintenance', serviceMessage });
});

test('who cancels before or while waiting for headers, a body or a pause is answered at once', async () => {
  const unasked = await startStubCdn(() => makePage([]));
  const before = await expectApiError(list(unasked, AbortSignal.abort()));
  expect([before.code, before.sent, unasked.requests]).toEqual(['cancelled', false, []]);

  const stop = { headers: new AbortController(), body: new AbortController(), pause: new AbortController() };
  const silent = await startStubCdn(() => stop.headers.abort());
  const during = await expectApiError(list(silent, stop.headers.signal));
  expect([during.code, during.sent]).toEqual(['cancelled', true]);

  const half = await startStubCdn((_, response) => {
    response.writeHead(200).write('{"Items":[{"Id":1},', () => void turn().then(() => stop.body.abort()));
  });
  expect(await codeOf(list(half, stop.body.signal))).toBe('cancelled');

  const busy = await answerAlways(500, '');
  const sleep = async () => stop.pause.abort();
  expect(await codeOf(busy.client({ sleep }, stop.pause.signal).pullZones.firstPage())).toBe('cancelled');
  expect(busy.requests).toHaveLength(1);
});

test('no error holds the key, the path or what ofetch threw', async () => {
  const echo = await answerAlways(400, { Message: `The key ${key} may not set s3cret-value.` });
  const nobody = echo.client({ apiUrl: await nobodysAddress() });
  const broken = await startStubCdn((_, response) => void response.destroy());
  const errors = await Promise.all(
    [
      list(echo),
      echo.client().variables.update(variablePath('301', '12'), '{}', new Secret('s3cret-value')),
      nobody.pullZones.findAll(() => true, 'who-is-it'),
      list(broken),
    ].map(expectApiError),
  );
  for (const error of errors) {
    const shown = inspect(error, { showHidden: true, getters: true, depth: 10 });
    expect(shown + JSON.stringify(error) + error.stack).not.toMatch(/CANARY|pullzone|who-is-it/);
    expect(error.cause).toBeUndefined();
  }
  expect(errors[1]?.serviceMessage).toBe('The key [secret] may not set [secret].');
});
