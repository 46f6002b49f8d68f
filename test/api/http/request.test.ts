import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import { inspect } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { volumePath } from '../../../src/api/apps.ts';
import { variableBody, variablePath } from '../../../src/api/variables.ts';
import { useProxy } from '../../../src/lib/proxy.ts';
import { Secret } from '../../../src/secrets/secret.ts';
import { expectApiError, key, makePage, sendBody, startStubCdn } from '../stub-cdn.ts';

const deleteVolume = (cdn: Awaited<ReturnType<typeof startStubCdn>>, signal?: AbortSignal) =>
  cdn.client({}, signal).volumes.deleteAll(volumePath('app1', 'vol1'));
/** An address where a server was a moment ago. */
async function nobodysAddress(): Promise<string> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return `http://127.0.0.1:${port}`;
}

const list = (cdn: Awaited<ReturnType<typeof startStubCdn>>, signal?: AbortSignal) =>
  cdn.client({}, signal).pullZones.firstPage();

test('the key travels in AccessKey, to both hosts', async () => {
  const cdn = await startStubCdn(({ path }) =>
    path.startsWith('/origin-logging') ? { logs: [] } : makePage([]),
  );
  await list(cdn);
  await cdn.client().originErrors.forEach('1001', '2026-11-20', () => {});
  expect(cdn.requests.map(({ path, headers }) => [path, headers['accesskey']])).toEqual([
    ['/pullzone', key],
    ['/origin-logging/1001/11-20-2026', key],
  ]);
});

test('a slash at the end of a configured address does no harm', async () => {
  const cdn = await startStubCdn(() => makePage([]));
  await cdn.client({ apiUrl: `${cdn.url}/prefix//` }).pullZones.firstPage();
  expect(cdn.requests[0]?.path).toBe('/prefix/pullzone');
});

test.each([301, 302, 307, 308])(
  'a redirect (%i) is not followed, since the key would travel along',
  async (status) => {
    const cdn = await startStubCdn((_, response) =>
      sendBody(response, status, '', { location: '/elsewhere' }),
    );
    const error = await expectApiError(list(cdn));
    expect(error).toMatchObject({ code: 'unexpected', status });
    expect(cdn.requests.map(({ path }) => path)).toEqual(['/pullzone']);
  },
);

test('an error says what the service said, with its request id', async () => {
  const cdn = await startStubCdn((_, response) =>
    sendBody(
      response,
      400,
      {
        title: 'Bad Request',
        status: 400,
        detail: 'Some volume instances are not detached.',
        id: 'app1',
        errors: [{ field: 'volumeId', message: 'vi-3' }],
      },
      { 'cdn-requestid': '8b7d4c' },
    ),
  );
  expect(await expectApiError(deleteVolume(cdn))).toMatchObject({
    name: 'ApiError',
    message: 'Delete All Volume Instances: refused (HTTP 400)',
    code: 'refused',
    operation: 'Delete All Volume Instances',
    status: 400,
    serviceMessage: 'Some volume instances are not detached.',
    fieldErrors: [{ field: 'volumeId', message: 'vi-3' }],
    requestId: '8b7d4c',
    sent: true,
  });
});

test('a foreign request id is not believed', async () => {
  const cdn = await startStubCdn((_, response) =>
    sendBody(response, 404, '', { 'cdn-requestid': '<!channel> look' }),
  );
  expect(await expectApiError(list(cdn))).toMatchObject({ code: 'not_found', requestId: undefined });
});

test.each([500, 502, 503])('a read that met a %i is asked again, twice at most', async (status) => {
  const cdn = await startStubCdn((_, response) => sendBody(response, status, '<html>Bad Gateway</html>'));
  expect(await expectApiError(list(cdn))).toMatchObject({ code: 'unavailable', status });
  expect(cdn.requests).toHaveLength(3);
  expect(cdn.waits).toEqual([250, 500]);
});

test('a read that works the second time is answered as if nothing had been', async () => {
  const cdn = await startStubCdn((_, response, count) =>
    count === 1 ? sendBody(response, 500, '') : makePage([{ Id: 1 }]),
  );
  expect((await list(cdn)).zones).toHaveLength(1);
});

test('a deletion is sent once, whatever comes back', async () => {
  for (const status of [500, 502, 504]) {
    const cdn = await startStubCdn((_, response) => sendBody(response, status, ''));
    expect(await expectApiError(deleteVolume(cdn))).toMatchObject({ code: 'unavailable', sent: true });
    expect(cdn.requests).toHaveLength(1);
  }
});

test('a deletion whose answer is lost is sent once, and may have been done', async () => {
  const cdn = await startStubCdn((_, response) => {
    response.socket?.destroy();
  });
  expect(await expectApiError(deleteVolume(cdn))).toMatchObject({ code: 'unreachable', sent: true });
  expect(cdn.requests).toHaveLength(1);
});

test('a change of a variable is sent once', async () => {
  const cdn = await startStubCdn((_, response) => sendBody(response, 500, ''));
  const change = cdn.client().variables.update(variablePath('301', '12'), variableBody({ required: true }));
  expect(await expectApiError(change)).toMatchObject({ code: 'unavailable' });
  expect(cdn.requests).toHaveLength(1);
});

test('a pause the service asks for is kept before reading again', async () => {
  const cdn = await startStubCdn((_, response, count) =>
    count === 1 ? sendBody(response, 429, '', { 'retry-after': '2' }) : { Items: [], TotalItems: 0 },
  );
  await list(cdn);
  expect(cdn.waits).toEqual([2000]);
});

test('a pause too long to wait for is told instead', async () => {
  const cdn = await startStubCdn((_, response) =>
    sendBody(response, 429, 'slow down', { 'retry-after': '120' }),
  );
  expect(await expectApiError(list(cdn))).toMatchObject({ code: 'rate_limited', retryAfterSeconds: 120 });
  expect(cdn.waits).toEqual([]);
});

test('a pause given as a date is understood by the clock of the options', async () => {
  const cdn = await startStubCdn((_, response) =>
    sendBody(response, 429, '', { 'retry-after': 'Fri, 20 Nov 2026 10:01:00 GMT' }),
  );
  const at = Date.parse('2026-11-20T10:00:00Z');
  expect(await expectApiError(cdn.client({ now: () => at }).pullZones.firstPage())).toMatchObject({
    retryAfterSeconds: 60,
  });
});

test('all pauses together stay within four seconds', async () => {
  const cdn = await startStubCdn((_, response) => sendBody(response, 429, '', { 'retry-after': '3' }));
  await expectApiError(list(cdn));
  expect(cdn.waits).toEqual([3000]);
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
  const fetch = () =>
    Promise.reject(new TypeError('fetch failed', { cause: Object.assign(new Error(message), { code }) }));
  const cdn = await startStubCdn(() => makePage([]));
  const client = cdn.client({ fetch, apiUrl: 'https://cdn.example' });
  expect(await expectApiError(client.volumes.deleteAll(volumePath('a', 'b')))).toMatchObject({
    code: 'unreachable',
    sent,
  });
});

test('where nobody listens, the request was certainly not sent', async () => {
  const cdn = await startStubCdn(() => makePage([]));
  const nobody = cdn.client({ apiUrl: await nobodysAddress() });
  expect(await expectApiError(nobody.volumes.deleteAll(volumePath('a', 'b')))).toMatchObject({
    code: 'unreachable',
    sent: false,
  });
  expect(await expectApiError(nobody.pullZones.firstPage())).toMatchObject({
    code: 'unreachable',
    sent: false,
  });
  expect(cdn.waits).toEqual([250, 500]);
});

test('three tries are three requests: ofetch adds none of its own', async () => {
  const cdn = await startStubCdn(() => makePage([]));
  let requests = 0;
  const fetch = async () => {
    requests += 1;
    throw new TypeError('fetch failed');
  };
  expect(await expectApiError(cdn.client({ fetch }).pullZones.firstPage())).toMatchObject({
    code: 'unreachable',
  });
  expect(requests).toBe(3);
});

test('an answer that drips in byte by byte is a timeout in the end', async () => {
  const cdn = await startStubCdn((_, response) => {
    response.writeHead(200);
    const drip = setInterval(() => response.write(' '), 5);
    response.on('close', () => clearInterval(drip));
  });
  const work = cdn.client({ timeoutMs: 40 }).apps.summary('app1');
  expect(await expectApiError(work)).toMatchObject({ code: 'timeout' });
});

test('an answer without an end in sight is not gathered', async () => {
  const cdn = await startStubCdn((_, response) => {
    const pour = () => {
      while (!response.closed && response.write('x'.repeat(1_000_000)));
    };
    response.writeHead(200).on('drain', pour);
    pour();
  });
  expect(await expectApiError(cdn.client().apps.summary('app1'))).toMatchObject({ code: 'unexpected' });
});

test('a service that never answers is a timeout, not asked again', async () => {
  const cdn = await startStubCdn(() => undefined);
  const slow = cdn.client({ timeoutMs: 300 });
  expect(await expectApiError(slow.pullZones.firstPage())).toMatchObject({ code: 'timeout', sent: true });
  expect(cdn.requests).toHaveLength(1);
});

test('a body that stands still is a timeout', async () => {
  const cdn = await startStubCdn((_, response) => {
    response.writeHead(200).write('{"Items":[{"Id":1}');
  });
  expect(await expectApiError(cdn.client({ timeoutMs: 30 }).pullZones.all())).toMatchObject({
    code: 'timeout',
  });
});

test('a body that breaks off is read again, and then told', async () => {
  const cdn = await startStubCdn((_, response) => {
    response
      .writeHead(200, { 'content-length': '5000' })
      .write('{"Items":[{"Id":1},{"Id":2},', () => response.destroy());
  });
  expect(await expectApiError(list(cdn))).toMatchObject({ code: 'cut' });
  expect(cdn.requests).toHaveLength(3);
});

test('a body that breaks off once loses and doubles nothing', async () => {
  const cdn = await startStubCdn((_, response, count) => {
    if (count > 1) return makePage([{ Id: 1 }, { Id: 2 }, { Id: 3 }]);
    response
      .writeHead(200, { 'content-length': '5000' })
      .write('{"Items":[{"Id":1},{"Id":2},', () => response.destroy());
    return undefined;
  });
  expect((await cdn.client().pullZones.all()).zones.map(({ id }) => id)).toEqual(['1', '2', '3']);
});

test('a body that ends early without a word is broken off as well', async () => {
  const cdn = await startStubCdn((_, response) =>
    sendBody(response, 200, '{"averageLatency":41.7,"monthlyCost":3'),
  );
  expect(await expectApiError(cdn.client().apps.summary('app1'))).toMatchObject({ code: 'cut' });
});

test.each([
  ['a web page', '<!doctype html><p>Sign in to the hotel’s network'],
  ['nothing', ''],
  ['a number', '7'],
  ['a list', '[]'],
  ['words', 'OK'],
])('%s where an object belongs is unexpected, and not asked for again', async (_, body) => {
  const cdn = await startStubCdn((_, response) => sendBody(response, 200, body));
  expect(await expectApiError(cdn.client().apps.summary('app1'))).toMatchObject({
    code: 'unexpected',
    status: 200,
  });
  expect(cdn.requests).toHaveLength(1);
});

test('a refusal with status 200 is a refusal', async () => {
  const cdn = await startStubCdn(() => ({
    ErrorKey: 'maintenance',
    Field: null,
    Message: 'Back in an hour.',
  }));
  const works = [cdn.client().apps.summary('app1'), list(cdn), deleteVolume(cdn)];
  for (const error of await Promise.all(works.map(expectApiError))) {
    expect(error).toMatchObject({
      code: 'refused',
      errorKey: 'maintenance',
      serviceMessage: 'Back in an hour.',
    });
  }
});

test('who cancels before anything is sent sends nothing', async () => {
  const cdn = await startStubCdn(() => makePage([]));
  expect(await expectApiError(list(cdn, AbortSignal.abort()))).toMatchObject({
    code: 'cancelled',
    sent: false,
  });
  expect(cdn.requests).toEqual([]);
});

test('who cancels while waiting for headers, a body or a pause is answered at once', async () => {
  const stop = { headers: new AbortController(), body: new AbortController(), pause: new AbortController() };
  const silent = await startStubCdn(() => stop.headers.abort());
  expect(await expectApiError(list(silent, stop.headers.signal))).toMatchObject({
    code: 'cancelled',
    sent: true,
  });

  const half = await startStubCdn((_, response) => {
    response.writeHead(200).write('{"Items":[{"Id":1},', () => void turn().then(() => stop.body.abort()));
  });
  expect(await expectApiError(list(half, stop.body.signal))).toMatchObject({ code: 'cancelled' });

  const busy = await startStubCdn((_, response) => sendBody(response, 500, ''));
  const sleep = async () => stop.pause.abort();
  expect(await expectApiError(busy.client({ sleep }, stop.pause.signal).pullZones.firstPage())).toMatchObject(
    {
      code: 'cancelled',
    },
  );
  expect(busy.requests).toHaveLength(1);
});

test('no error holds the key, the path or what ofetch threw', async () => {
  const echo = await startStubCdn((_, response) =>
    sendBody(response, 400, { Message: `The key ${key} may not set s3cret-value.` }),
  );
  const errors = [
    await expectApiError(list(echo)),
    await expectApiError(
      echo.client().variables.update(variablePath('301', '12'), '{}', new Secret('s3cret-value')),
    ),
    await expectApiError(
      echo.client({ apiUrl: await nobodysAddress() }).pullZones.findAll(() => true, 'who-is-it'),
    ),
    await expectApiError(
      (await startStubCdn((_, response) => void response.destroy())).client().pullZones.firstPage(),
    ),
  ];
  for (const error of errors) {
    const shown =
      inspect(error, { showHidden: true, getters: true, depth: 10 }) + JSON.stringify(error) + error.stack;
    expect(shown).not.toMatch(/CANARY|pullzone|who-is-it/);
    expect(error.cause).toBeUndefined();
  }
  expect(errors[1]?.serviceMessage).toBe('The key [secret] may not set [secret].');
});
