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

test('a trigger of one workspace is worth nothing to another, and using it so is a problem', async () => {
  const { beta } = slack.workspaces;
  const answer = await callWebApi(
    slack,
    'views.open',
    { trigger_id: await trigger(), view: modal('One') },
    beta.botToken,
  );
  expect(answer).toMatchObject({ error: 'invalid_trigger_id' });
  expect(slack.problems).toEqual(['views.open: the token of T0BETA000 was used with a trigger of T0ACME000']);
});

test('three views may lie on each other, a fourth is refused', async () => {
  const alice = slack.as('U0ALICE00');
  await callWebApi(slack, 'views.open', { trigger_id: await trigger(), view: modal('One') });
  for (const title of ['Two', 'Three', 'Four']) {
    await alice.press('deeper');
    const pressed = peer.received.at(-1)?.body as {
      trigger_id: string;
      view: { title: unknown };
    };
    const pushed = await callWebApi(slack, 'views.push', {
      trigger_id: pressed.trigger_id,
      view: modal(title),
    });
    expect(pushed['error']).toBe(title === 'Four' ? 'push_limit_reached' : undefined);
    expect(pressed.view).toMatchObject({
      type: 'modal',
      state: { values: { name: { name: { type: 'plain_text_input', value: null } } } },
    });
  }
  const titles = alice.modals().map((view) => (view['title'] as { text: string }).text);
  expect(titles).toEqual(['One', 'Two', 'Three']);
  const [root, second] = alice.modals();
  expect(second).toMatchObject({ root_view_id: root?.id, previous_view_id: root?.id });
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

test('typed values stay through an update as long as the input is the same', async () => {
  const opened = await callWebApi(slack, 'views.open', { trigger_id: await trigger(), view: modal('One') });
  const { id } = opened['view'] as { id: string };
  const alice = slack.as('U0ALICE00');
  alice.type({ name: 'shop' });
  await callWebApi(slack, 'views.update', { view_id: id, view: modal('Two') });
  await alice.submit();
  expect(peer.received.at(-1)?.body).toMatchObject({
    type: 'view_submission',
    view: {
      callback_id: 'form',
      state: { values: { name: { name: { type: 'plain_text_input', value: 'shop' } } } },
    },
  });
  expect(alice.modal()).toBeUndefined();
});

test('every kind of input arrives as Slack sends it', async () => {
  const options = ['a', 'b'].map((value) => ({ text: plain(value.toUpperCase()), value }));
  const blocks = [
    field('select', { type: 'static_select', options }),
    field('boxes', { type: 'checkboxes', options }),
    field('radio', { type: 'radio_buttons', options, initial_option: options[1] }),
    field('day', { type: 'datepicker' }),
    field('time', { type: 'timepicker' }),
    field('who', { type: 'multi_users_select' }),
    field('where', { type: 'conversations_select', response_url_enabled: true }),
    field('count', { type: 'number_input', is_decimal_allowed: false }),
  ];
  await callWebApi(slack, 'views.open', { trigger_id: await trigger(), view: modal('One', { blocks }) });
  const typed = {
    select: 'a',
    boxes: ['a', 'b'],
    day: '2026-11-21',
    time: '09:30',
    who: ['U0BOB0000'],
    where: 'C0DEPLOY0',
    count: '7',
  };
  await slack.as('U0ALICE00').submit(typed);
  const body = peer.received.at(-1)?.body as { view: { state: { values: unknown } }; response_urls: unknown };
  expect(body.view.state.values).toEqual({
    select: { select: { type: 'static_select', selected_option: options[0] } },
    boxes: { boxes: { type: 'checkboxes', selected_options: options } },
    radio: { radio: { type: 'radio_buttons', selected_option: options[1] } },
    day: { day: { type: 'datepicker', selected_date: '2026-11-21' } },
    time: { time: { type: 'timepicker', selected_time: '09:30' } },
    who: { who: { type: 'multi_users_select', selected_users: ['U0BOB0000'] } },
    where: { where: { type: 'conversations_select', selected_conversation: 'C0DEPLOY0' } },
    count: { count: { type: 'number_input', value: '7' } },
  });
  expect(body.response_urls).toMatchObject([
    { block_id: 'where', action_id: 'where', channel_id: 'C0DEPLOY0' },
  ]);
  expect(slack.problems).toEqual([]);
});

test('an acknowledgement can show field errors, update, push and clear', async () => {
  const alice = slack.as('U0ALICE00');
  await callWebApi(slack, 'views.open', { trigger_id: await trigger(), view: modal('One') });
  reply = () => ({ body: { response_action: 'errors', errors: { name: 'Unknown zone.' } } });
  expect((await alice.submit({ name: 'x' })).errors).toEqual({ name: 'Unknown zone.' });
  reply = () => ({ body: { response_action: 'update', view: modal('Two') } });
  await alice.submit();
  expect(alice.modals().map(({ reads }) => reads.split('\n')[0])).toEqual(['Two']);
  reply = () => ({ body: { response_action: 'push', view: modal('Three') } });
  await alice.submit();
  expect(alice.modals()).toHaveLength(2);
  reply = () => ({ body: { response_action: 'clear' } });
  await alice.submit({ name: 'y' });
  expect(alice.modals()).toEqual([]);
  expect(slack.problems).toEqual([]);
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

test('closing sends view_closed where the view asked for it', async () => {
  const alice = slack.as('U0ALICE00');
  await callWebApi(slack, 'views.open', {
    trigger_id: await trigger(),
    view: modal('One', { notify_on_close: true, private_metadata: 'm' }),
  });
  await alice.closeModal();
  expect(peer.received.at(-1)?.body).toMatchObject({
    type: 'view_closed',
    is_cleared: false,
    view: { private_metadata: 'm' },
  });
  await callWebApi(slack, 'views.open', { trigger_id: await trigger(), view: modal('Two') });
  const before = peer.received.length;
  await alice.closeModal();
  expect([alice.modal(), peer.received.length]).toEqual([undefined, before]);
});

test('a picker of several keeps what was chosen from an earlier list', async () => {
  const picker = field('zones', { type: 'multi_external_select', min_query_length: 1 });
  await callWebApi(slack, 'views.open', {
    trigger_id: await trigger(),
    view: modal('One', { blocks: [picker] }),
  });
  const alice = slack.as('U0ALICE00');
  reply = () => ({ body: { options: [{ text: plain('shop'), value: '7' }] } });
  await alice.suggest('zones', 'sh');
  reply = () => ({ body: { options: [{ text: plain('docs'), value: '8' }] } });
  await alice.suggest('zones', 'do');
  await alice.choose('zones', ['7', '8']);
  await expect(alice.choose('zones', ['7', '9'])).rejects.toThrow('it has: 7, 8');
  reply = () => ({});
  await alice.submit();
  expect(peer.received.at(-1)?.body).toMatchObject({
    view: { state: { values: { zones: { zones: { selected_options: [{ value: '7' }, { value: '8' }] } } } } },
  });
});

test('a picker with search asks the app, checks what comes, and only that can be chosen', async () => {
  const picker = field('zone', { type: 'external_select', min_query_length: 1 });
  await callWebApi(slack, 'views.open', {
    trigger_id: await trigger(),
    view: modal('One', { blocks: [picker] }),
  });
  const alice = slack.as('U0ALICE00');
  reply = () => ({ body: { options: [{ text: plain('shop'), value: '7' }] } });
  expect(await alice.suggest('zone', '')).toEqual([]);
  expect(await alice.suggest('zone', 'sh')).toMatchObject([{ value: '7' }]);
  expect(peer.received.at(-1)?.body).toMatchObject({
    type: 'block_suggestion',
    action_id: 'zone',
    block_id: 'zone',
    value: 'sh',
  });
  await expect(alice.choose('zone', '8')).rejects.toThrow('zone has no option "8"; it has: 7');
  await alice.choose('zone', '7');
  reply = () => ({});
  await alice.submit();
  expect(peer.received.at(-1)?.body).toMatchObject({
    view: { state: { values: { zone: { zone: { selected_option: { value: '7' } } } } } },
  });
  expect(slack.problems).toEqual([]);
});

test('the Home tab is published for one person and may have buttons', async () => {
  const home = {
    type: 'home',
    blocks: [
      { type: 'actions', elements: [{ type: 'button', action_id: 'zones:show', text: plain('Zones') }] },
    ],
  };
  const published = await callWebApi(slack, 'views.publish', { user_id: 'U0BOB0000', view: home });
  const bob = slack.as('U0BOB0000');
  expect(bob.home()?.reads).toBe('Zones');
  await bob.press('zones:show');
  const { hash } = published['view'] as { hash: string };
  expect(peer.received.at(-1)?.body).toMatchObject({
    container: { type: 'view' },
    view: { type: 'home', hash },
  });
  await callWebApi(slack, 'views.publish', { user_id: 'U0BOB0000', view: home });
  expect(await callWebApi(slack, 'views.publish', { user_id: 'U0BOB0000', hash, view: home })).toMatchObject({
    error: 'hash_conflict',
  });
  expect(await callWebApi(slack, 'views.publish', { user_id: 'U0NOBODY0', view: home })).toMatchObject({
    error: 'user_not_found',
  });
  expect(slack.as('U0CAROL00').home()).toBeUndefined();
});
