import { afterEach, expect, test } from 'vitest';
import { type SlackSimulator, startSlack } from '../../../simulator/slack/server.ts';
import type { DeclaredStep } from '../../../simulator/slack/steps.ts';
import { callWebApi, type Received, type Reply, slackSays, startStubApp } from './stub-app.ts';

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

test('a slash command comes signed and form-encoded, with the fields Slack sends', async () => {
  const received = await start();
  await slack.as('U0BOB0000', 'C0DEPLOY0').slash('zone "my shop" & more');
  expect(received[0]?.headers['content-type']).toBe('application/x-www-form-urlencoded');
  expect(received[0]?.body).toEqual({
    token: expect.any(String),
    team_id: 'T0ACME000',
    team_domain: 'acme',
    channel_id: 'C0DEPLOY0',
    channel_name: 'deploys',
    user_id: 'U0BOB0000',
    user_name: 'bob',
    command: '/cdn',
    text: 'zone "my shop" & more',
    api_app_id: 'A0CDNAPP0',
    is_enterprise_install: 'false',
    response_url: expect.stringContaining(`${slack.url}/response/`),
    trigger_id: expect.any(String),
  });
});

test('a visitor from another organisation brings her own workspace, an org install its enterprise', async () => {
  const received = await start();
  await slack.as('U0EVE0000', 'C0SHARED0').slash('help');
  await slack.as('U0FRANK00').slash('help');
  await slack.as('U0ALICE00', undefined, 'T0BETA000').slash('help');
  expect(
    received.map(({ body }) => [
      body['team_id'],
      body['enterprise_id'],
      body['is_enterprise_install'],
      body['channel_id'],
    ]),
  ).toEqual([
    ['T0RIVAL00', undefined, 'false', 'C0SHARED0'],
    ['T0CORPONE', 'E0CORP0000', 'true', 'C0CORPONE'],
    ['T0BETA000', undefined, 'false', 'C0BETAOPS'],
  ]);
});

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

test('an app that answers with an error, or not at all, is a failed dispatch', async () => {
  await start(() => ({ status: 500 }));
  const alice = slack.as('U0ALICE00');
  expect(await alice.slash('zones')).toMatchObject({ status: 500, timedOut: false });
  slack.deliverTo('http://127.0.0.1:9/slack/events');
  expect(await alice.slash('zones')).toMatchObject({ status: 0, timedOut: false });
  expect(alice.notices()).toEqual(Array(2).fill(slackSays.failed));
});

test('only events are repeated, with the number and the reason of the repetition and the same event id', async () => {
  const statuses = [500, 200];
  const received = await start(() => ({ status: statuses.shift() ?? 200 }));
  expect(
    await slack.event({ type: 'app_mention', text: 'hi', user: 'U0ALICE00', channel: 'C0OPS0000' }),
  ).toMatchObject({ status: 200 });
  expect(
    received.map(({ headers }) => [headers['x-slack-retry-num'], headers['x-slack-retry-reason']]),
  ).toEqual([
    [undefined, undefined],
    ['1', 'http_error'],
  ]);
  expect(received[0]?.headers['content-type']).toBe('application/json');
  expect(received[0]?.body['event_id']).toBe(received[1]?.body['event_id']);
  expect(received[0]?.body).toMatchObject({
    type: 'event_callback',
    team_id: 'T0ACME000',
    authorizations: [{ team_id: 'T0ACME000', is_bot: true }],
  });
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

test("what a visitor presses and submits names both organisations: hers and the app's", async () => {
  const received = await start();
  const button = { type: 'button', action_id: 'zones:page', text: { type: 'plain_text', text: 'Next' } };
  await callWebApi(slack, 'chat.postMessage', {
    channel: 'C0SHARED0',
    text: 'x',
    blocks: [{ type: 'actions', elements: [button] }],
  });
  const eve = slack.as('U0EVE0000', 'C0SHARED0');
  await eve.press('zones:page');
  const pressed = received[0]?.body;
  expect(pressed).toMatchObject({
    team: { id: 'T0ACME000' },
    user: { id: 'U0EVE0000', team_id: 'T0RIVAL00' },
  });
  const view = {
    type: 'modal',
    callback_id: 'form',
    title: { type: 'plain_text', text: 'Form' },
    blocks: [],
  };
  await callWebApi(slack, 'views.open', { trigger_id: pressed?.['trigger_id'], view });
  await eve.submit();
  expect(received[1]?.body).toMatchObject({
    team: { id: 'T0RIVAL00' },
    user: { team_id: 'T0RIVAL00' },
    view: { team_id: 'T0RIVAL00', app_installed_team_id: 'T0ACME000' },
  });
});
