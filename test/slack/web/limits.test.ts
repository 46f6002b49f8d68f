import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { PassThrough } from 'node:stream';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { limitConnections, markVerified, readBody } from '../../../src/slack/web/limits.ts';

let server: Server;
let ms = 0;
/** Requests below `/wait`, which are answered by hand. */
let waiting: ServerResponse[] = [];
const sockets: Socket[] = [];

beforeEach(async () => {
  server = createServer((request, response) => {
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
