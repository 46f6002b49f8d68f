import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { PassThrough } from 'node:stream';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Secret } from '../../../src/secrets/secret.ts';
import { createHttpReceiver } from '../../../src/slack/receive/http-receiver.ts';
import {
  createRateLimit,
  findVisitor,
  limitConnections,
  markVerified,
  readBody,
} from '../../../src/slack/web/limits.ts';
import { createLogger } from '../../../src/telemetry/log.ts';
import { sign } from '../signed.ts';

let server: Server;
let ms = 0;
/** Requests below `/wait`, which are answered by hand. */
let waiting: ServerResponse[] = [];
const sockets: Socket[] = [];

const signingSecret = 'signing-0123456789abcdef';
const log = createLogger('silent');
const receive = createHttpReceiver({
  signingSecret: new Secret(signingSecret),
  deliver: async () => undefined,
  log,
  now: () => new Date(),
});

beforeEach(async () => {
  server = createServer((request, response) => {
    if (request.url === '/slack/events') return void receive(request, response);
    if (request.url?.endsWith('verified')) markVerified(request);
    if (request.url?.startsWith('/wait')) waiting.push(response);
    else response.end();
  });
  limitConnections(server, { max: 3, now: () => ms });
  await once(server.listen(0), 'listening');
});
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy();
  waiting = [];
  server.closeAllConnections();
  server.close();
});

/** A connection that has been accepted, a second after the one before it. */
async function open(): Promise<Socket> {
  const accepted = once(server, 'connection');
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  sockets.push(socket);
  socket.on('error', () => undefined);
  await accepted;
  ms += 1_000;
  return socket;
}

async function ask(socket: Socket, path: string): Promise<void> {
  const next = path.startsWith('/wait') ? once(server, 'request') : once(socket, 'data');
  socket.write(`GET ${path} HTTP/1.1\r\nhost: bot\r\n\r\n`);
  await next;
}

/** Which of these connections the server has ended. */
async function findEnded(...all: Socket[]): Promise<boolean[]> {
  // What the server ended has reached its other end when a later connection is answered.
  await new Promise((resolve) => server.getConnections(resolve));
  await expect.poll(() => all.some(({ destroyed }) => destroyed)).toBe(true);
  return all.map(({ destroyed }) => destroyed);
}

test('a stranger who has been quiet for longest makes room, whatever else is idle', async () => {
  const genuine = await open();
  await ask(genuine, '/verified');
  const [older, younger] = [await open(), await open()];
  await ask(older, '/');
  ms += 1;
  const newcomer = await open();
  expect(await findEnded(genuine, older, younger, newcomer)).toEqual([false, false, true, false]);
});

test('the connection of a request that Slack signed stays, and that of a stranger makes room', async () => {
  const body = '{"type":"url_verification","challenge":"c1"}';
  const signature = sign(body, signingSecret, { type: 'application/json' });
  const headers = Object.entries({ host: 'bot', 'content-length': body.length, ...signature });
  const lines = headers.map(([name, value]) => `${name}: ${value}`);
  const signed = await open();
  signed.write(['POST /slack/events HTTP/1.1', ...lines, '', body].join('\r\n'));
  await once(signed, 'data');
  const [older, younger] = [await open(), await open()];
  ms += 1;
  expect(await findEnded(signed, older, younger, await open())).toEqual([false, true, false, false]);
});

test('a verified connection that is idle makes room for one that may still prove itself', async () => {
  const [first, second] = [await open(), await open()];
  await ask(first, '/verified');
  await ask(second, '/wait/verified');
  const newcomer = await open();
  ms -= 500;
  const next = await open();
  expect(await findEnded(first, second, newcomer, next)).toEqual([true, false, false, false]);
});

test('where every request under way is verified, the newcomer is ended', async () => {
  const busy = [await open(), await open(), await open()];
  for (const socket of busy) await ask(socket, '/wait/verified');
  const newcomer = await open();
  expect(await findEnded(...busy, newcomer)).toEqual([false, false, false, true]);
});

test('a connection is verified by its latest request alone', async () => {
  const [first, second, third] = [await open(), await open(), await open()];
  for (const socket of [second, third]) await ask(socket, '/verified');
  await ask(first, '/verified');
  await ask(first, '/wait');
  ms += 2_000;
  expect(await findEnded(second, third, first, await open())).toEqual([false, false, true, false]);
});

test('a connection may ask again once it was answered', async () => {
  const socket = await open();
  await ask(socket, '/wait');
  const answered = once(socket, 'data');
  waiting[0]?.end();
  await answered;
  await ask(socket, '/');
  expect(socket.destroyed).toBe(false);
});

test('a body that drips ends after ten seconds, whatever still comes', async () => {
  vi.useFakeTimers();
  try {
    const request = Object.assign(new PassThrough(), { headers: {}, complete: false });
    const body = readBody(request as never, 1000);
    for (let second = 0; second < 11; second += 1) {
      request.write('x');
      await vi.advanceTimersByTimeAsync(1_000);
    }
    expect(await body).toBe('too-slow');
  } finally {
    vi.useRealTimers();
  }
});

test('a body that says it is too large is not waited for', async () => {
  const headers = { 'content-length': '1001' };
  const request = Object.assign(new PassThrough(), { headers, complete: false });
  expect(await readBody(request as never, 1000)).toBe('too-large');
});

test('a key has so many uses in any minute, and says when there is room', () => {
  let at = 0;
  const limit = createRateLimit({ most: 3, perMs: 60_000, maxKeys: 10, now: () => new Date(at) });
  const take = (key: string): number | undefined => limit.take(key);
  expect([take('a'), take('a')]).toEqual([undefined, undefined]);
  at += 20_000;
  expect([take('a'), take('a'), limit.find('a')]).toEqual([undefined, 40, 40]);
  expect([limit.find('b'), take('b')]).toEqual([undefined, undefined]);
  at += 40_000;
  expect([take('a'), take('a'), take('a')]).toEqual([undefined, undefined, 20]);
  at += 3600_000;
  expect([take('a'), take('a'), take('a'), take('a')]).toEqual([undefined, undefined, undefined, 60]);
});

test('a clock that is set back neither frees a key nor blocks it for longer', () => {
  let at = 100_000;
  const limit = createRateLimit({ most: 1, perMs: 60_000, maxKeys: 10, now: () => new Date(at) });
  expect(limit.take('a')).toBeUndefined();
  at = 0;
  expect(limit.take('a')).toBe(60);
  at = 60_000;
  expect(limit.take('a')).toBeUndefined();
});

test('a flood of keys is bounded and does not free an active key', () => {
  const limit = createRateLimit({ most: 1, perMs: 60_000, maxKeys: 100, now: () => new Date(0) });
  for (let nth = 0; nth < 10_000; nth += 1) {
    limit.take(`visitor ${nth}`);
    limit.take('the loud one');
  }
  expect(limit.size()).toBe(100);
  expect(limit.take('the loud one')).toBe(60);
});

test.each([
  ['203.0.113.7', '203.0.113.7'],
  ['::ffff:203.0.113.7', '203.0.113.7'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2'],
  ['2001:db8:1:2::6', '2001:db8:1:2'],
  ['2001:db8::6', '2001:db8:0:0'],
  ['::1', '0:0:0:0'],
  ['fe80::1%eth0', 'fe80:0:0:0'],
  [undefined, 'unknown'],
])('%s counts as the visitor %s', (address, visitor) => {
  expect(findVisitor(address)).toBe(visitor);
});
