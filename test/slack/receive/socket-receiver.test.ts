import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { expect, test } from 'vitest';
import { WebSocketServer } from 'ws';
import { Secret } from '../../../src/secrets/secret.ts';
import { createSocketReceiver } from '../../../src/slack/receive/socket-receiver.ts';
import { createLibraryLog } from '../../../src/slack/send/clients.ts';
import { createMemoryLog } from '../../support/engines.ts';

/** A receiver of a Slack that sends these frames to each connection. */
async function setUp(...frames: object[]) {
  const slack = new WebSocketServer({ port: 0, host: '127.0.0.1' });
  await once(slack, 'listening');
  let opened = 0;
  const acknowledged: unknown[] = [];
  slack.on('connection', (socket) => {
    opened += 1;
    socket.on('message', (data: Buffer) => acknowledged.push(JSON.parse(data.toString())));
    for (const frame of frames) socket.send(JSON.stringify(frame));
  });
  const url = `ws://127.0.0.1:${(slack.address() as AddressInfo).port}`;
  const log = createMemoryLog();
  const receiver = createSocketReceiver({
    appToken: new Secret('xapp-1'),
    apiUrl: 'https://slack.invalid/api/',
    deliver: async (body, ack) => {
      if ('isFailing' in body) throw new Error('the database is away');
      await ack();
    },
    logger: createLibraryLog(log),
    log,
    fetch: async () => Response.json({ ok: true, url }),
  });
  const close = async (): Promise<void> => {
    await receiver.stop();
    slack.close();
    for (const client of slack.clients) client.terminate();
  };
  /** Cuts the next connection once it is open. */
  const cut = (): void => void slack.once('connection', (socket) => socket.terminate());
  return { receiver, log, frames, acknowledged, opened: () => opened, cut, close };
}

test.each([
  ['link_disabled', 'Socket Mode'],
  ['too_many_websockets', 'ten connections'],
])('a start that Slack ends before its hello says why: %s', async (reason, nextStep) => {
  const { receiver, close } = await setUp({ type: 'disconnect', reason });
  await expect(receiver.start()).rejects.toMatchObject({
    message: `Slack closes connections at once (${reason}).`,
    hint: expect.stringContaining(nextStep),
  });
  await close();
});

test('a WebSocket that opens and is cut before its hello was not refused', async () => {
  const { receiver, cut, close } = await setUp();
  const started = receiver.start();
  cut();
  await expect(started).rejects.toMatchObject({
    message: expect.stringMatching(/^127\.0\.0\.1:\d+ closed the connection \(ECONNRESET\)\.$/u),
  });
  await close();
});

test.each([
  { hello: 'after its hello', reason: 'too_many_websockets' },
  { hello: 'without another hello', reason: 'link_disabled' },
])(
  'connections that Slack closes at once $hello are reopened with pauses, and why is told once',
  async ({ hello, reason }) => {
    const { receiver, log, frames, opened, close } = await setUp(
      { type: 'hello' },
      { type: 'disconnect', reason },
    );
    await receiver.start();
    if (hello === 'without another hello') frames.shift();
    const tellings = () =>
      log.entries.filter(({ message }) => message === 'Slack connection failed, retrying');
    await expect.poll(() => opened() > 5 && tellings().length > 0, { timeout: 20_000 }).toBe(true);
    const why = `Slack closes connections at once (${reason})`;
    expect(tellings().map(({ fields }) => String((fields as { problem?: string }).problem))).toEqual([
      expect.stringContaining(why),
    ]);
    expect(receiver.problem()).toContain(why);
    // Without pauses there would be some hundred by now.
    expect(opened()).toBeLessThan(16);
    await close();
  },
);

test('Slack’s word that it drops events is acknowledged and logged once a minute, in both of its forms, and what follows is taken', async () => {
  const { receiver, log, acknowledged, close } = await setUp(
    { type: 'hello' },
    { type: 'app_rate_limited', envelope_id: 'bare' },
    { type: 'events_api', envelope_id: 'wrapped', payload: { type: 'app_rate_limited' } },
    { type: 'slash_commands', envelope_id: 'fine', payload: { text: '"app_rate_limited"' } },
  );
  await receiver.start();
  await expect.poll(() => acknowledged.length).toBe(6);
  expect(new Set(acknowledged.map((one) => (one as { envelope_id: string }).envelope_id))).toEqual(
    new Set(['bare', 'wrapped', 'fine']),
  );
  expect(log.entries.filter(({ message }) => message.includes('app_rate_limited'))).toHaveLength(1);
  await close();
});

test('what fails is not acknowledged, so that Slack sends it again', async () => {
  const { receiver, acknowledged, close } = await setUp(
    { type: 'hello' },
    { type: 'slash_commands', envelope_id: 'failing', payload: { isFailing: true } },
    { type: 'slash_commands', envelope_id: 'fine', payload: {} },
  );
  await receiver.start();
  // Both connections get them.
  await expect.poll(() => acknowledged.length).toBe(2);
  expect(acknowledged).toEqual([1, 2].map(() => expect.objectContaining({ envelope_id: 'fine' })));
  await close();
});
