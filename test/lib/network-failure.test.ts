import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { createServer as createHttp } from 'node:http';
import { createServer as createHttps } from 'node:https';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { afterEach, expect, onTestFinished, test } from 'vitest';
import {
  explainNetworkFailure,
  findFailedHost,
  takeWebSocketFailure,
  tellFailures,
} from '../../src/lib/network-failure.ts';
import { useProxy } from '../../src/lib/proxy.ts';

let server: Server | undefined;
afterEach(() => server?.close());

async function listen(started: Server): Promise<number> {
  server = started;
  await once(started.listen(0, '127.0.0.1'), 'listening');
  return (started.address() as AddressInfo).port;
}

/** The explanation of what `fetch` meets at an address. */
async function explain(address: string, signal?: AbortSignal) {
  const error = await fetch(address, signal ? { signal } : {}).catch((reason: unknown) => reason);
  return explainNetworkFailure(error, address);
}

test('a name that is not found', async () => {
  expect(await explain('http://slack.invalid')).toMatchObject({
    kind: 'name',
    message: expect.stringMatching(/^The name slack\.invalid was not found \((ENOTFOUND|EAI_AGAIN)\)\.$/u),
    hint: expect.stringContaining('HTTPS_PROXY'),
  });
});

test('a connection that is refused', async () => {
  const port = await listen(createServer());
  server?.close();
  await once(server as Server, 'close');
  expect(await explain(`http://127.0.0.1:${port}`)).toMatchObject({
    kind: 'refused',
    message: `127.0.0.1:${port} refused the connection (ECONNREFUSED).`,
    hint: expect.stringContaining('firewall'),
  });
});

test('the error of a fetch that tells failures names the host and the code', async () => {
  const port = await listen(createHttp((request) => request.destroy()));
  const asked = tellFailures(fetch)(`http://127.0.0.1:${port}`);
  await expect(asked).rejects.toMatchObject({
    name: 'TypeError',
    message: `127.0.0.1:${port} closed the connection (UND_ERR_SOCKET).`,
    cause: expect.objectContaining({ code: 'UND_ERR_SOCKET' }),
  });
  // What is no failure of the network stays as it is.
  const failing = tellFailures(() => Promise.reject(new TypeError('no address')));
  await expect(failing('http://127.0.0.1')).rejects.toThrow('no address');
});

test('a connection that times out', async () => {
  const port = await listen(createServer());
  const signal = AbortSignal.timeout(1);
  // The reason of a signal may be that of several requests.
  for (const host of [`127.0.0.1:${port}`, `localhost:${port}`])
    expect(await explain(`http://${host}`, signal)).toMatchObject({
      kind: 'timeout',
      message: `${host} did not answer in time (TimeoutError).`,
    });
});

test('a certificate that nobody vouches for', async () => {
  const make =
    'req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout - -subj /CN=localhost';
  const pem = execFileSync('openssl', make.split(' '), { encoding: 'utf8', stdio: 'pipe' });
  const port = await listen(createHttps({ key: pem, cert: pem }));
  expect(await explain(`https://localhost:${port}`)).toMatchObject({
    kind: 'certificate',
    code: 'DEPTH_ZERO_SELF_SIGNED_CERT',
    message: `The certificate of localhost:${port} is not trusted here (DEPTH_ZERO_SELF_SIGNED_CERT).`,
    hint: expect.stringContaining('NODE_EXTRA_CA_CERTS'),
  });
});

test('an answer in place of the service: of the Web API, and of a WebSocket, which hides its error', async () => {
  const httpError = Object.assign(new Error('no'), { code: 'slack_webapi_http_error', statusCode: 407 });
  expect(explainNetworkFailure(httpError, 'https://slack.com')?.message).toBe('slack.com answered HTTP 407.');
  const port = await listen(createHttp((_request, response) => void response.writeHead(403).end()));
  const address = `ws://127.0.0.1:${port}/link?ticket=1`;
  const { WebSocket } = await import('undici');
  const socket = new WebSocket(address);
  await once(socket, 'error');
  const failure = takeWebSocketFailure(address, new Error('without a reason'));
  expect(explainNetworkFailure(failure, 'https://slack.com')).toMatchObject({
    kind: 'answer',
    message: `127.0.0.1:${port} answered HTTP 403.`,
    hint: expect.stringContaining('WebSocket'),
  });
  // It is told once, and of the host where it failed first: perhaps a proxy.
  const other = new Error('another reason');
  expect(takeWebSocketFailure(address, other)).toBe(other);
  takeWebSocketFailure('ws://later.example/link', other);
  expect([findFailedHost(other), findFailedHost(new Error('elsewhere'))]).toEqual([
    `127.0.0.1:${port}`,
    undefined,
  ]);
});

test('a port that speaks no TLS is not told as a certificate', async () => {
  const port = await listen(createHttp());
  expect(await explain(`https://127.0.0.1:${port}`)).toMatchObject({
    kind: 'tls',
    message: `127.0.0.1:${port} does not speak TLS as the bot does (ERR_SSL_WRONG_VERSION_NUMBER).`,
    hint: expect.not.stringContaining('NODE_EXTRA_CA_CERTS'),
  });
});

const withCode = (code: string): Error => Object.assign(new Error('inside'), { code });

test.each([
  [{ cause: withCode('UND_ERR_CONNECT_TIMEOUT') }, 'timeout'],
  [{ cause: new AggregateError([withCode('ETIMEDOUT')]) }, 'timeout'],
  [{ cause: withCode('CERT_HAS_EXPIRED') }, 'certificate'],
  [{ cause: withCode('ERR_TLS_CERT_ALTNAME_INVALID') }, 'certificate'],
  [{ cause: withCode('UNABLE_TO_GET_ISSUER_CERT_LOCALLY') }, 'certificate'],
  [{ cause: withCode('EPROTO') }, 'tls'],
  [{ cause: withCode('EAI_AGAIN') }, 'name'],
  [{ cause: withCode('UND_ERR_SOCKET') }, 'closed'],
])('an error of fetch by its cause: %j', (cause, kind) => {
  const failure = explainNetworkFailure(new TypeError('fetch failed', cause), 'https://slack.com');
  expect(failure?.kind).toBe(kind);
  expect(JSON.stringify(failure)).not.toMatch(/\bkey\b|token/u);
});

test('what a proxy refuses is told of the proxy, and only where there is one', async () => {
  const cause = new Error('Proxy response (407) !== 200 when HTTP Tunneling');
  const error = new TypeError('fetch failed', { cause });
  const explainIt = () => explainNetworkFailure(error, 'https://slack.com');
  expect(explainIt()).toBeUndefined();
  const proxy = 'http://proxy.example:3128';
  onTestFinished(await useProxy({ http: proxy, https: proxy, exceptions: '' }));
  expect(explainIt()).toMatchObject({
    kind: 'proxy',
    message: expect.stringContaining('proxy.example:3128'),
  });
  expect(explainNetworkFailure(error)).toBeUndefined();
  expect(explainNetworkFailure(withCode('ENOTFOUND'), 'https://slack.com')?.hint).toContain('NO_PROXY');
});

test.each([
  ['CERT_HAS_EXPIRED', 'slack.com is not valid today', 'clock'],
  ['CERT_NOT_YET_VALID', 'slack.com is not valid today', 'clock'],
  ['ERR_TLS_CERT_ALTNAME_INVALID', 'slack.com is for another name', 'address'],
])('a certificate that no authority mends: %s', (code, message, hint) => {
  const told = explainNetworkFailure(withCode(code), 'https://slack.com');
  expect(told?.message).toContain(message);
  expect(told?.hint).toContain(hint);
  expect(told?.hint).not.toContain('NODE_EXTRA_CA_CERTS');
});

test('an error of another sort is not explained', () => {
  expect(explainNetworkFailure(new Error('no'), 'https://slack.com')).toBeUndefined();
  expect(explainNetworkFailure('no', 'https://slack.com')).toBeUndefined();
});
