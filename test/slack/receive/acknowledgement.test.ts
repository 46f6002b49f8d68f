import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { App } from '@slack/bolt';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Secret } from '../../../src/secrets/secret.ts';
import { createHttpReceiver } from '../../../src/slack/receive/http-receiver.ts';
import { createEgress } from '../../../src/slack/send/egress.ts';
import { createMemoryLog } from '../../support/engines.ts';
import { sign } from '../signed.ts';

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
  const response = await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, {
    method: 'POST',
    headers: sign(body, signingSecret),
    body,
  });
  return { status: response.status, text: await response.text() };
}

const payload = (type: string) => ({ payload: JSON.stringify({ type }) });

test('a delivery is acknowledged once, with what Bolt says first', async () => {
  bolt = async ({ ack }) => {
    await ack('first');
    await ack('second');
  };
  expect(await deliver({ command: '/cdn', text: 'help' })).toEqual({ status: 200, text: 'first' });
});

test('a kind without a listener gets an empty 200', async () => {
  bolt = async () => undefined;
  expect(await deliver(payload('view_closed'))).toEqual({ status: 200, text: '' });
});

test('a signed body that cannot be read gets a 400', async () => {
  expect(await deliver({ payload: '{' })).toMatchObject({ status: 400 });
});

test('a delivery that fails before its acknowledgement gets a 500, so that Slack sends it again', async () => {
  bolt = async () => {
    throw new Error('the database does not answer');
  };
  expect(await deliver(payload('event_callback'))).toMatchObject({ status: 500 });
});

test.each(['view_submission', 'block_suggestion'])('%s is answered with what Bolt says', async (type) => {
  bolt = ({ ack }) => ack({ options: [] });
  expect(await deliver(payload(type))).toEqual({ status: 200, text: '{"options":[]}' });
});
