import { afterEach, beforeEach, expect, test } from 'vitest';
import { type SlackSimulator, startSlack } from '../../../simulator/slack/server.ts';
import { callWebApi, type Received, type Reply, startStubApp } from './stub-app.ts';

let slack: SlackSimulator;
let peer: { received: Received[]; close(): Promise<void> };
let clock = 1_800_000_000_000;
let reply: (received: Received) => Reply;

beforeEach(async () => {
  reply = () => ({});
  slack = await startSlack({ now: () => clock });
  peer = await startStubApp(slack, (received) => reply(received));
});
afterEach(async () => {
  await peer.close();
  await slack.close();
});

const plain = (text: string) => ({ type: 'plain_text', text });
const field = (name: string, element: object = { type: 'plain_text_input' }, more: object = {}) => ({
  type: 'input',
  block_id: name,
  label: plain(name),
  element: { action_id: name, ...element },
  ...more,
});
const modal = (title: string, more: object = {}) => ({
  type: 'modal',
  callback_id: 'form',
  title: plain(title),
  submit: plain('Send'),
  blocks: [
    field('name'),
    {
      type: 'actions',
      block_id: 'more',
      elements: [{ type: 'button', action_id: 'deeper', text: plain('Deeper') }],
    },
  ],
  ...more,
});

async function trigger(userId = 'U0ALICE00'): Promise<string> {
  await slack.as(userId).slash('form');
  return String(peer.received.at(-1)?.body['trigger_id']);
}

test('a trigger id works once, within three seconds, and must be known', async () => {
  const first = await trigger();
  clock += 3000;
  expect(await callWebApi(slack, 'views.open', { trigger_id: first, view: modal('One') })).toMatchObject({
    ok: true,
    view: { type: 'modal' },
  });
  expect(await callWebApi(slack, 'views.open', { trigger_id: first, view: modal('Two') })).toMatchObject({
    error: 'exchanged_trigger_id',
  });
  const second = await trigger();
  clock += 3001;
  expect(await callWebApi(slack, 'views.open', { trigger_id: second, view: modal('Three') })).toMatchObject({
    error: 'expired_trigger_id',
  });
  expect(await callWebApi(slack, 'views.open', { trigger_id: 'made.up', view: modal('Four') })).toMatchObject(
    {
      error: 'invalid_trigger_id',
    },
  );
  expect(slack.as('U0ALICE00').modals()).toHaveLength(1);
});

test('views.update wants the newest hash, and finds a view by id or external_id of its own workspace', async () => {
  const opened = await callWebApi(slack, 'views.open', {
    trigger_id: await trigger(),
    view: modal('One', { external_id: 'mine' }),
  });
  const { id, hash } = opened['view'] as { id: string; hash: string };
  expect(await callWebApi(slack, 'views.update', { view_id: id, hash, view: modal('Two') })).toMatchObject({
    ok: true,
  });
  expect(await callWebApi(slack, 'views.update', { view_id: id, hash, view: modal('Three') })).toMatchObject({
    error: 'hash_conflict',
  });
  expect(await callWebApi(slack, 'views.update', { view_id: 'V0', view: modal('Three') })).toMatchObject({
    error: 'not_found',
  });
  const beta = await callWebApi(
    slack,
    'views.update',
    { view_id: id, view: modal('Three') },
    slack.workspaces.beta.botToken,
  );
  expect(beta).toMatchObject({ error: 'not_found' });
  expect(slack.as('U0ALICE00').modal()?.reads).toContain('Two');
});

test.each([
  [
    { response_action: 'errors', errors: { more: 'x' } },
    'an error for "more", which is not the block_id of an input',
  ],
  [{ response_action: 'errors', errors: {} }, 'response_action errors without errors'],
  [
    { response_action: 'update', view: modal('x'.repeat(25)) },
    'invalid_arguments [ERROR] must be less than 25 characters [json-pointer:/view/title/text]',
  ],
  [{ response_action: 'shout' }, 'unknown response_action "shout"'],
  ['thanks', 'the acknowledgement must be empty or carry a response_action'],
])('a wrong acknowledgement of a submission is a problem: %j', async (body, problem) => {
  await callWebApi(slack, 'views.open', { trigger_id: await trigger(), view: modal('One') });
  reply = () => ({ body });
  await slack.as('U0ALICE00').submit({ name: 'x' });
  expect(slack.problems).toEqual([`view_submission "form": ${problem}`]);
});
