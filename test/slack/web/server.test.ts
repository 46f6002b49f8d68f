import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterEach, describe, expect, test } from 'vitest';
import { findFreePort } from '../../../simulator/free-port.ts';
import { createEgress } from '../../../src/slack/send/egress.ts';
import { createWeb } from '../../../src/slack/web/server.ts';
import { createPublicUrl, startBot, useBot } from '../../support/bot.ts';
import { createMemoryLog } from '../../support/engines.ts';
import { commandForm, sign } from '../signed.ts';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;
function retainedBytes(): number {
  collectGarbage();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}

const env = { ...(await createPublicUrl()), METRICS_PORT: String(await findFreePort()) };
const bot = await useBot({ transport: 'http', env }, []);
const port = bot.app.port() ?? 0;
const operatorUrl = `http://127.0.0.1:${env.METRICS_PORT}`;
let visitors: Socket[] = [];
afterEach(() => {
  for (const visitor of visitors) visitor.destroy();
  visitors = [];
});

/** A visitor who sends these bytes and keeps the connection. */
async function visit(text: string): Promise<Socket> {
  const socket = connect(port, '127.0.0.1');
  visitors.push(socket);
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

const statusOf = async (address: string): Promise<number> => (await fetch(address)).status;

test('/metrics is on METRICS_PORT, beside health alone', async () => {
  expect(await (await fetch(`${operatorUrl}/metrics`)).text()).toContain('chatops_');
  expect(await statusOf(`${operatorUrl}/readyz`)).toBe(200);
  expect(await statusOf(`${operatorUrl}/slack/install`)).toBe(404);
  expect(await statusOf(`${env.PUBLIC_URL}/metrics`)).toBe(404);
  expect(await statusOf(`${env.PUBLIC_URL}/readyz`)).toBe(200);
});

type WebOptions = Parameters<typeof createWeb>[0];
const createOwnWeb = (own: Pick<WebOptions, 'port'> & Partial<WebOptions>) =>
  createWeb({
    isPublic: false,
    egress: createEgress({ log: createMemoryLog() }),
    log: createMemoryLog(),
    metrics: { contentType: 'text/plain', render: async () => '' },
    unready: () => Promise.reject(new Error('broken')),
    ...own,
  });

test.each([
  ['PORT', { port }],
  ['METRICS_PORT', { port: 0, metricsPort: port }],
])('a taken %s is named at the start, with its variable', async (variable, ports) => {
  const own = createOwnWeb(ports);
  await expect(own.listen()).rejects.toMatchObject({
    name: 'UserError',
    message: expect.stringContaining(String(port)),
    hint: expect.stringContaining(` ${variable} `),
  });
  await own.close(Promise.resolve());
});

test('a request that fails is answered', async () => {
  const own = createOwnWeb({ port: 0 });
  expect(await statusOf(`http://127.0.0.1:${await own.listen()}/readyz`)).toBe(500);
  await own.close(Promise.resolve());
});

test.each([
  ['the database at corp.internal:5432 refuses (ECONNREFUSED)', 'the database refuses (ECONNREFUSED)'],
  ['the database at [fd00::5]:5432 refuses', 'the database refuses'],
  ['the name corp.internal was not found', 'the name was not found'],
  ['the proxy 10.0.0.5 does not answer for 15 s: 0.5 GB', 'the proxy does not answer for 15 s: 0.5 GB'],
  ['the keyring /srv/chatops/keys is missing', 'the keyring is missing'],
])('strangers read why it is not ready without addresses: %s', async (reason, told) => {
  const own = createOwnWeb({ port: 0, isPublic: true, unready: async () => [reason] });
  const response = await fetch(`http://127.0.0.1:${await own.listen()}/readyz`);
  expect([response.status, await response.text()]).toEqual([503, `${told}\n`]);
  await own.close(Promise.resolve());
});

const come = async (count: number, text: string): Promise<void> => {
  // Fewer at once than wait in the kernel to be accepted.
  for (let left = count; left > 0; left -= 100) {
    await Promise.all(Array.from({ length: Math.min(left, 100) }, () => visit(text)));
  }
};
const sendCommand = (triggerId: string, text?: string): Promise<Response> => {
  const body = commandForm(triggerId, text);
  const headers = sign(body, bot.slack.signingSecret);
  return fetch(`http://127.0.0.1:${port}/slack/events`, { method: 'POST', headers, body });
};

describe('strangers', () => {
  test.each([
    { who: 'one connection with a made-up signature', count: 1, chunks: 500_000, headers: madeUpSignature },
    { who: '200 connections without a signature', count: 200, chunks: 2_500, headers: () => [] },
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
    await come(60, post(length(1_000_000), ...madeUpSignature()));
    for (const visitor of visitors) {
      visitor.once('data', (answer: Buffer) => {
        if (String(answer).startsWith('HTTP/1.1 413')) refused += 1;
      });
      visitor.write(Buffer.alloc(400_000));
    }
    // 24 MB were sent.
    await expect.poll(() => refused).toBeGreaterThan(15);
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

test('a stop does not wait for visitors who are still sending, and ends every port', {
  timeout: 10_000,
}, async () => {
  await visit(`${post(length(1000), ...madeUpSignature())}half`);
  await visit('GET /healthz HTTP/1.1\r\nhost:');
  await visit('');
  // All of them have arrived when a later one is answered.
  expect(await statusOf(`http://127.0.0.1:${port}/healthz`)).toBe(200);
  await bot.app.stop();
  await expect(fetch(`${operatorUrl}/metrics`)).rejects.toThrow('fetch failed');
});

test('/metrics is all that a worker serves', async () => {
  await using worker = await startBot({ role: 'worker', env });
  expect(worker.app.port()).toBeUndefined();
  expect(await statusOf(`${operatorUrl}/metrics`)).toBe(200);
  expect(await statusOf(`${operatorUrl}/readyz`)).toBe(200);
  await expect(fetch(`${env.PUBLIC_URL}/healthz`)).rejects.toThrow('fetch failed');
});
