import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import { findFreePort } from '../../../simulator/free-port.ts';
import { type Bot, createPublicUrl, startBot } from '../../support/bot.ts';

let bot: Bot | undefined;
afterEach(() => bot?.stop());

/** A visitor who sends these bytes and keeps the connection. */
async function visit(port: number, head: string): Promise<Socket> {
  const socket = connect(port, '127.0.0.1');
  socket.on('error', () => undefined);
  await once(socket, 'connect');
  socket.write(head);
  return socket;
}

const post = (length: number): string =>
  [
    'POST /slack/events HTTP/1.1',
    'host: bot',
    `content-length: ${length}`,
    `x-slack-request-timestamp: ${Math.floor(Date.now() / 1000)}`,
    'x-slack-signature: v0=guessed',
    '\r\n',
  ].join('\r\n');

test('a stop does not wait for visitors who are still sending', { timeout: 10_000 }, async () => {
  bot = await startBot({ transport: 'http' });
  const port = bot.app.port() ?? 0;
  const visitors = [
    await visit(port, `${post(1000)}half`),
    await visit(port, 'GET /healthz HTTP/1.1\r\nhost:'),
    await visit(port, ''),
  ];
  // All of them have arrived when a later one is answered.
  expect((await fetch(`http://127.0.0.1:${port}/healthz`)).status).toBe(200);
  await bot.app.stop();
  for (const visitor of visitors) visitor.destroy();
});

test('bodies of strangers fill no more than a fixed memory, and Slack is answered meanwhile', async () => {
  bot = await startBot({ transport: 'http' });
  const port = bot.app.port() ?? 0;
  const mebibyte = 1024 * 1024;
  let refused = 0;
  const visitors = await Promise.all(
    Array.from({ length: 60 }, async () => {
      const visitor = await visit(port, post(3 * mebibyte));
      visitor.on('data', (answer: Buffer) => {
        if (String(answer).startsWith('HTTP/1.1 413')) refused += 1;
      });
      visitor.write(Buffer.alloc(2 * mebibyte));
      return visitor;
    }),
  );
  // 120 MiB were sent, and 32 may be kept.
  await expect.poll(() => refused, { timeout: 8_000 }).toBeGreaterThanOrEqual(60 - 16);
  expect(await bot.slack.as('U0ALICE00', 'C0OPS0000').slash('help')).toMatchObject({ status: 200 });
  for (const visitor of visitors) visitor.destroy();
});

const statusOf = async (address: string): Promise<number> => (await fetch(address)).status;

describe('/metrics', () => {
  test('is not on a port that is reached from outside', async () => {
    const env = await createPublicUrl();
    bot = await startBot({ env });
    expect(await statusOf(`${env.PUBLIC_URL}/metrics`)).toBe(404);
    expect(await statusOf(`${env.PUBLIC_URL}/readyz`)).toBe(200);
  });

  test('is on METRICS_PORT, beside health alone', async () => {
    const env = { ...(await createPublicUrl()), METRICS_PORT: String(await findFreePort()) };
    bot = await startBot({ env });
    const own = `http://127.0.0.1:${env.METRICS_PORT}`;
    expect(await (await fetch(`${own}/metrics`)).text()).toContain('chatops_');
    expect(await statusOf(`${own}/readyz`)).toBe(200);
    expect(await statusOf(`${own}/slack/install`)).toBe(404);
    expect(await statusOf(`${env.PUBLIC_URL}/metrics`)).toBe(404);
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
