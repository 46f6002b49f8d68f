import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import type { App } from '@slack/bolt';
import { expect, test } from 'vitest';
import { WebSocketServer } from 'ws';
import { Secret } from '../../../src/secrets/secret.ts';
import { createBoltLog } from '../../../src/slack/receive/bolt.ts';
import { createSocketReceiver } from '../../../src/slack/receive/socket-receiver.ts';
import { createEgress } from '../../../src/slack/send/egress.ts';
import { createMemoryLog } from '../../support/engines.ts';

test('connections that Slack closes at once are reopened with pauses, and the reason is told once', async () => {
  const slack = new WebSocketServer({ port: 0, host: '127.0.0.1' });
  await once(slack, 'listening');
  let opened = 0;
  slack.on('connection', (socket) => {
    opened += 1;
    socket.send(JSON.stringify({ type: 'hello' }));
    socket.send(JSON.stringify({ type: 'disconnect', reason: 'too_many_websockets' }));
  });
  const url = `ws://127.0.0.1:${(slack.address() as AddressInfo).port}`;
  const log = createMemoryLog();
  const receiver = createSocketReceiver({
    appToken: new Secret('xapp-1'),
    apiUrl: 'https://slack.invalid/api/',
    egress: createEgress({ log }),
    logger: createBoltLog(log),
    log,
    fetch: async () => Response.json({ ok: true, url }),
  });
  receiver.init({ processEvent: async () => undefined } as unknown as App);
  await receiver.start();
  const tellings = () => log.entries.filter(({ message }) => message.includes('closes connections at once'));
  // One for each of the two that are kept open.
  await expect.poll(() => tellings().length).toBe(2);
  expect(tellings()[0]?.fields).toEqual({ reason: 'too_many_websockets' });
  expect(receiver.problem()).toBe('Slack closes connections at once (too_many_websockets)');
  // Without pauses there would be some hundred by now.
  expect(opened).toBeLessThan(16);
  await receiver.stop();
  slack.close();
  for (const client of slack.clients) client.terminate();
});
