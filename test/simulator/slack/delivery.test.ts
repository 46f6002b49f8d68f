import { afterEach, expect, test } from 'vitest';
import { type SlackSimulator, startSlack } from '../../../simulator/slack/server.ts';
import type { DeclaredStep } from '../../../simulator/slack/steps.ts';
import { type Received, type Reply, slackSays, startStubApp } from './stub-app.ts';

let slack: SlackSimulator;
const closing: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

async function start(
  reply?: (received: Received) => Reply,
  options: Parameters<typeof startSlack>[0] = {},
): Promise<Received[]> {
  slack = await startSlack(options);
  closing.push(() => slack.close());
  const peer = await startStubApp(slack, reply);
  closing.push(() => peer.close());
  return peer.received;
}

test('an unacknowledged command tells the person that the app did not respond, and a late acknowledgement is a problem', async () => {
  const { promise: late, resolve: release } = Promise.withResolvers<undefined>();
  slack = await startSlack({ ackTimeoutMs: 20 });
  closing.push(() => slack.close());
  const peer = await startStubApp(slack, async () => {
    await late;
    return {};
  });
  closing.push(() => peer.close());
  const alice = slack.as('U0ALICE00');
  expect(await alice.slash('zones')).toMatchObject({ timedOut: true, status: 0 });
  expect(alice.notices()).toEqual([slackSays.noAnswer]);
  expect(slack.problems).toEqual([expect.stringContaining('no acknowledgement within 20 ms')]);
  release(undefined);
  await expect.poll(() => slack.problems[1]).toMatch(/acknowledged after \d+ ms, later than 20 ms/);
  expect(peer.received).toHaveLength(1);
});

test('an event that the manifest does not subscribe to is not sent, also not that of a workflow step', async () => {
  const step: DeclaredStep = {
    title: 'Look',
    description: 'Looks for somebody',
    input_parameters: { properties: {}, required: [] },
    output_parameters: { properties: {}, required: [] },
  };
  const deliverAll = async (events: readonly string[]): Promise<unknown[]> => {
    const received = await start(undefined, { steps: { 'a:look': step }, events });
    const channel = 'C0OPS0000';
    await slack.event({ type: 'app_mention', text: 'hi', user: 'U0ALICE00', channel });
    await slack.event({
      type: 'message',
      channel_type: 'im',
      text: 'hi',
      user: 'U0ALICE00',
      channel: 'DU0ALICE00',
    });
    await slack.event({ type: 'message', channel_type: 'channel', text: 'hi', user: 'U0ALICE00', channel });
    await slack.event({ type: 'user_change', user: { id: 'U0ALICE00' } });
    await slack.step('a:look', {}, { by: 'U0ALICE00' });
    return received.map(({ body }) => (body['event'] as { type: string }).type);
  };
  expect(await deliverAll(['message.im', 'app_mention'])).toEqual(['app_mention', 'message']);
  expect(await deliverAll(['function_executed'])).toEqual(['function_executed']);
});
