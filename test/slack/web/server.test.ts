import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { findFreePort } from '../../../simulator/free-port.ts';
import { type Bot, createPublicUrl, startBot } from '../../support/bot.ts';
import { commandForm, sign } from '../signed.ts';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;
function retainedBytes(): number {
  collectGarbage();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}

let bot: Bot | undefined;
afterEach(() => bot?.stop());

/** A visitor who sends these bytes and keeps the connection. */
async function visit(port: number, text: string): Promise<Socket> {
  const socket = connect(port, '127.0.0.1');
  socket.on('error', () => undefined);
  await once(socket, 'connect');
  socket.write(text);
  return socket;
}

const post = (...headers: string[]): string =>
  ['POST /slack/events HTTP/1.1', 'host: bot', ...headers, '\r\n'].join('\r\n');
const madeUpSignature = (): string[] => [
  `x-slack-request-timestamp: ${Math.floor(Date.now() / 1000)}`,
  'x-slack-signature: v0=guessed',
];
const length = (bytes: number): string => `content-length: ${bytes}`;

test('a stop does not wait for visitors who are still sending', { timeout: 10_000 }, async () => {
  bot = await startBot({ transport: 'http' });
  const port = bot.app.port() ?? 0;
  const visitors = [
    await visit(port, `${post(length(1000), ...madeUpSignature())}half`),
    await visit(port, 'GET /healthz HTTP/1.1\r\nhost:'),
    await visit(port, ''),
  ];
  // All of them have arrived when a later one is answered.
  expect((await fetch(`http://127.0.0.1:${port}/healthz`)).status).toBe(200);
  await bot.app.stop();
  for (const visitor of visitors) visitor.destroy();
});

describe('strangers', () => {
  let shared: Bot;
  let port: number;
  let visitors: Socket[] = [];
  beforeAll(async () => {
    shared = await startBot({ transport: 'http' });
    port = shared.app.port() ?? 0;
  });
  afterEach(() => {
    for (const visitor of visitors) visitor.destroy();
    visitors = [];
  });
  afterAll(() => shared.stop());

  const come = async (count: number, text: string): Promise<void> => {
    // Fewer at once than wait in the kernel to be accepted.
    for (let left = count; left > 0; left -= 100) {
      const arriving = Array.from({ length: Math.min(left, 100) }, () => visit(port, text));
      visitors.push(...(await Promise.all(arriving)));
    }
  };
  const sendCommand = (triggerId: string, text?: string): Promise<Response> => {
    const body = commandForm(triggerId, text);
    const headers = sign(body, shared.slack.signingSecret);
    return fetch(`http://127.0.0.1:${port}/slack/events`, { method: 'POST', headers, body });
  };
  test.each([
    { who: 'one connection with a made-up signature', count: 1, chunks: 500_000, headers: madeUpSignature },
    { who: '500 connections without a signature', count: 500, chunks: 1_000, headers: () => [] },
  ])('$who cannot fill the memory with chunks of one byte', async ({ count, chunks, headers }) => {
    const before = retainedBytes();
    await come(count, post('transfer-encoding: chunked', ...headers()));
    for (const visitor of visitors) visitor.write('1\r\nx\r\n'.repeat(chunks));
    await expect.poll(() => visitors.reduce((sum, { bufferSize }) => sum + bufferSize, 0)).toBe(0);
    // The answer to a command that was sent later: everything before it was read.
    expect((await sendCommand(`chunks.${count}`)).status).toBe(200);
    expect(retainedBytes() - before).toBeLessThan(60e6);
  });

  test('hold at most 16 MiB of unfinished bodies, and forms of any size pass meanwhile', async () => {
    let refused = 0;
    await come(600, post(length(1_000_000), ...madeUpSignature()));
    for (const visitor of visitors) {
      visitor.once('data', (answer: Buffer) => {
        if (String(answer).startsWith('HTTP/1.1 413')) refused += 1;
      });
      visitor.write(Buffer.alloc(40_000));
    }
    // 24 MB were sent.
    await expect.poll(() => refused).toBeGreaterThan(150);
    for (const size of [100, 20_000, 60_000, 250_000])
      expect((await sendCommand(`form.${size}`, 'x'.repeat(size))).status).toBe(200);
  });

  test('hold at most 2,000 connections, and commands pass meanwhile', async () => {
    let ended = 0;
    await come(1_200, '');
    for (const visitor of visitors) visitor.once('close', () => (ended += 1));
    await come(1_200, 'GET /healthz HTTP/1.1\r\nhost:');
    await expect.poll(() => ended).toBeGreaterThanOrEqual(400);
    expect((await sendCommand('late')).status).toBe(200);
  });

  test.each([
    'GET /readyz HTTP/1.1\r\nhost: bot\r\n\r\n',
    'GET /connect/aaaa HTTP/1.1\r\nhost: bot\r\n\r\n',
    'GET /readyz HTTP/1.1\r\n\r\n',
    'GET /readyz HTTP/1.1\r\nhost: bot\r\nexpect: a miracle\r\n\r\n',
    post(length(0)),
  ])('do not get a second answer before the first: %j', async (pipelined) => {
    await come(1, '');
    const [visitor] = visitors;
    let answers = 0;
    visitor?.on('data', (piece: Buffer) => {
      answers += String(piece).match(/HTTP\/1\.1 \d/gu)?.length ?? 0;
    });
    const closed = new Promise((resolve) => visitor?.once('close', resolve));
    visitor?.write(pipelined.repeat(2_000));
    await closed;
    expect(answers).toBeLessThanOrEqual(1);
  });
});

const statusOf = async (address: string): Promise<number> => (await fetch(address)).status;

describe('/metrics', () => {
  test('is on METRICS_PORT, beside health alone', async () => {
    const env = { ...(await createPublicUrl()), METRICS_PORT: String(await findFreePort()) };
    bot = await startBot({ env });
    const own = `http://127.0.0.1:${env.METRICS_PORT}`;
    expect(await (await fetch(`${own}/metrics`)).text()).toContain('chatops_');
    expect(await statusOf(`${own}/readyz`)).toBe(200);
    expect(await statusOf(`${own}/slack/install`)).toBe(404);
    expect(await statusOf(`${env.PUBLIC_URL}/metrics`)).toBe(404);
    expect(await statusOf(`${env.PUBLIC_URL}/readyz`)).toBe(200);
    await bot.app.stop();
    await expect(fetch(`${own}/metrics`)).rejects.toThrow('fetch failed');
  });

  test('is all that a worker serves', async () => {
    const env = { ...(await createPublicUrl()), METRICS_PORT: String(await findFreePort()) };
    bot = await startBot({ role: 'worker', env });
    const own = `http://127.0.0.1:${env.METRICS_PORT}`;
    expect(await statusOf(`${own}/metrics`)).toBe(200);
    expect(await statusOf(`${own}/readyz`)).toBe(200);
    await expect(fetch(`${env.PUBLIC_URL}/healthz`)).rejects.toThrow('fetch failed');
  });
});
