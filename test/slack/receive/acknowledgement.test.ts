import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { App } from '@slack/bolt';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Secret } from '../../../src/secrets/secret.ts';
import { createHttpReceiver } from '../../../src/slack/receive/http-receiver.ts';
import { createEgress } from '../../../src/slack/send/egress.ts';
import { createMemoryLog } from '../../support/engines.ts';

const signingSecret = 'signing-0123456789abcdef';
let server: Server;
/** What Bolt does with the next delivery. */
let bolt: (delivery: { ack: (reply?: unknown) => Promise<void> }) => Promise<void>;

beforeAll(async () => {
  const log = createMemoryLog();
  const receiver = createHttpReceiver({
    signingSecret: new Secret(signingSecret),
    egress: createEgress({ log }),
    log,
    now: () => new Date(),
  });
  receiver.init({ processEvent: async (delivery: never) => bolt(delivery) } as unknown as App);
  server = createServer((request, response) => void receiver.handle(request, response));
  await once(server.listen(0, '127.0.0.1'), 'listening');
});
afterAll(() => {
  server.close();
  server.closeAllConnections();
});

async function deliver(form: Record<string, string>): Promise<{ status: number; text: string }> {
  const body = new URLSearchParams(form).toString();
  const timestamp = Math.floor(Date.now() / 1000);
  const signature = createHmac('sha256', signingSecret).update(`v0:${timestamp}:${body}`).digest('hex');
  const response = await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, {
    method: 'POST',
    headers: {
      'content-type': 'application/x-www-form-urlencoded',
      'x-slack-request-timestamp': String(timestamp),
      'x-slack-signature': `v0=${signature}`,
    },
    body,
  });
  return { status: response.status, text: await response.text() };
}

const payload = (type: string) => ({ payload: JSON.stringify({ type }) });

test.each([
  ['a command', { command: '/cdn', text: 'help' }],
  ['a press', payload('block_actions')],
  ['a shortcut', payload('shortcut')],
  ['a shortcut of a message', payload('message_action')],
])('%s is acknowledged while Bolt still works, and once', async (_, form) => {
  const begun = Promise.withResolvers<void>();
  const released = Promise.withResolvers<void>();
  bolt = async ({ ack }) => {
    begun.resolve();
    await released.promise;
    await ack('later');
  };
  expect(await deliver(form)).toEqual({ status: 200, text: '' });
  await begun.promise;
  released.resolve();
});

test.each(['view_submission', 'block_suggestion'])('%s is answered with what Bolt says', async (type) => {
  bolt = ({ ack }) => ack({ options: [] });
  expect(await deliver(payload(type))).toEqual({ status: 200, text: '{"options":[]}' });
});
