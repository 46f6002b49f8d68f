import { beforeEach, expect, onTestFinished, test } from 'vitest';
import { WebSocket } from 'ws';
import type { SlackSimulator } from '../../../simulator/slack/server.ts';
import { callWebApi, openSlack } from './stub-app.ts';

type Frame = Record<string, unknown>;
let slack: SlackSimulator;
beforeEach(async () => {
  slack = await openSlack({ ackTimeoutMs: 50 });
});

/** A connection that ends with its test. */
function open(address: string): WebSocket {
  const socket = new WebSocket(address);
  onTestFinished(() => socket.terminate());
  return socket;
}

/** A connection that records envelopes and acknowledges them as given. */
async function connect(
  ack: (frame: Frame) => unknown = () => ({}),
): Promise<{ frames: Frame[]; socket: WebSocket; closed: Promise<void> }> {
  const { url } = await callWebApi(slack, 'apps.connections.open', {}, slack.appToken);
  const socket = open(String(url));
  const frames: Frame[] = [];
  const closed = new Promise<void>((resolve) => void socket.on('close', () => resolve()));
  await new Promise<void>((resolve, reject) => {
    socket.on('error', reject);
    socket.on('message', (data: Buffer) => {
      const frame = JSON.parse(data.toString()) as Frame;
      frames.push(frame);
      if (frame['type'] === 'hello') return resolve();
      const payload = typeof frame['envelope_id'] === 'string' ? ack(frame) : undefined;
      if (payload !== undefined) socket.send(JSON.stringify({ envelope_id: frame['envelope_id'], payload }));
    });
  });
  return { frames, socket, closed };
}

test('an address works once, and there is no connection without one', async () => {
  const { url } = await callWebApi(slack, 'apps.connections.open', {}, slack.appToken);
  expect(await attempt(String(url))).toBe('open');
  expect(await attempt(String(url))).toContain('401');
});

test('several connections take turns, and one that got its disconnect notice gets nothing more', async () => {
  const first = await connect();
  const second = await connect();
  await Promise.all(['1', '2', '3', '4'].map((text) => slack.as('U0ALICE00').slash(text)));
  expect([first.frames.length, second.frames.length]).toEqual([3, 3]);
  const refreshed = slack.socket.refresh();
  await Promise.all(['5', '6'].map((text) => slack.as('U0ALICE00').slash(text)));
  await expect
    .poll(() => first.frames.at(-1))
    .toMatchObject({ type: 'disconnect', reason: 'refresh_requested' });
  expect(second.frames).toHaveLength(5);
  first.socket.close();
  await refreshed;
  expect(slack.socket.connections()).toBe(1);
});

test('a second acknowledgement, or one of nothing, is a problem', async () => {
  const { socket, frames } = await connect();
  await slack.as('U0ALICE00').slash('zones');
  socket.send(JSON.stringify({ envelope_id: frames[1]?.['envelope_id'], payload: {} }));
  socket.send(JSON.stringify({ envelope_id: 'made-up' }));
  await expect
    .poll(() => slack.problems)
    .toEqual([
      'slash "/cdn zones": acknowledged a second time',
      'Socket Mode: acknowledged an envelope that was never sent',
    ]);
});

/** 'open', or why the connection failed. */
function attempt(address: string): Promise<string> {
  return new Promise((resolve) => {
    const socket = open(address);
    socket.on('open', () => resolve('open'));
    socket.on('error', (error) => resolve(error.message));
  });
}
