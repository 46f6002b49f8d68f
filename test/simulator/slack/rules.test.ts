import { request } from 'node:http';
import { beforeEach, describe, expect, test } from 'vitest';
import { type SlackSimulator, startSlack } from '../../../simulator/slack/server.ts';
import type { DeclaredStep } from '../../../simulator/slack/steps.ts';
import { alice, ops } from '../../support/people.ts';
import {
  callWebApi,
  openSlack,
  postJson,
  type Received,
  type Reply,
  slackSays,
  startStubApp,
} from './stub-app.ts';

const mention = '<@U0CDNBOT0>';
const look: DeclaredStep = {
  title: 'Look',
  description: 'Looks for somebody',
  input_parameters: {
    properties: { person: { type: 'slack#/types/user_context' }, zone: { type: 'string', title: 'Zone' } },
    required: ['person', 'zone'],
  },
  output_parameters: {
    properties: { count: { type: 'integer' }, by: { type: 'slack#/types/user_id' } },
    required: ['count'],
  },
};
const words = { name: 'Name', description: 'What it does' };
const shortcuts = [
  { callbackId: 'a:global', kind: 'global', ...words },
  { callbackId: 'a:message', kind: 'message', ...words },
] as const;

let slack: SlackSimulator;
let app: Awaited<ReturnType<typeof startStubApp>>;
let reply: (received: Received) => Reply;
let clock = 1_800_000_000_000;

beforeEach(async () => {
  reply = () => ({});
  slack = await openSlack({ now: () => clock, steps: { 'a:look': look }, shortcuts });
  app = await startStubApp(slack, (received) => reply(received));
});

const call = (...given: readonly [method: string, args?: Record<string, unknown>, token?: string]) =>
  callWebApi(slack, ...given);
/** `ok`, or the error that Slack answers. */
const outcomeOf = async (...given: Parameters<typeof call>) => {
  const { ok, error } = await call(...given);
  return ok === true ? 'ok' : error;
};

const post = (channel: string) => outcomeOf('chat.postMessage', { channel, text: 'x' });

const announce = async (length: number): Promise<{ id: string; uploadUrl: string }> => {
  const about = { filename: 'events.csv', length: String(length) };
  const answer = await call('files.getUploadURLExternal', about);
  return { id: String(answer['file_id']), uploadUrl: String(answer['upload_url']) };
};

const completeUpload = (id: string, args: Record<string, unknown> = {}) =>
  outcomeOf('files.completeUploadExternal', { files: [{ id, title: 'Events' }], channel_id: ops, ...args });

async function slashUrl(): Promise<string> {
  await slack.as(alice).slash('zones');
  return String(app.received.at(-1)?.body['response_url']);
}

const plain = (text: string) => ({ type: 'plain_text', text });
const nameInput = { type: 'plain_text_input', action_id: 'name' };
const deeper = { type: 'button', action_id: 'deeper', text: plain('Deeper') };
const modal = (title: string) => ({
  type: 'modal',
  callback_id: 'form',
  title: plain(title),
  submit: plain('Send'),
  blocks: [
    { type: 'input', block_id: 'name', label: plain('name'), element: nameInput },
    { type: 'actions', block_id: 'more', elements: [deeper] },
  ],
});
const trigger = async (): Promise<string> => {
  await slack.as(alice).slash('form');
  return String(app.received.at(-1)?.body['trigger_id']);
};
const openView = (triggerId: string) => call('views.open', { trigger_id: triggerId, view: modal('One') });
const updateView = (about: object, title = 'Three', token?: string) =>
  outcomeOf('views.update', { ...about, view: modal(title) }, token);

const completeStep = (id: string, outputs: object, token?: string) =>
  outcomeOf('functions.completeSuccess', { function_execution_id: id, outputs }, token);

describe('the Web API', () => {
  test('a call needs a known token of the right kind; no record holds one', async () => {
    expect(await outcomeOf('auth.test', {}, '')).toBe('not_authed');
    expect(await outcomeOf('auth.test', {}, 'xoxb-stolen')).toBe('invalid_auth');
    expect(await call('auth.test', { token: slack.botToken }, '')).toMatchObject({ ok: true });
    expect(await outcomeOf('auth.test', {}, slack.appToken)).toBe('not_allowed_token_type');
    expect(await outcomeOf('apps.connections.open')).toBe('not_allowed_token_type');
    expect(await outcomeOf('rtm.start')).toBe('unknown_method');
    expect(slack.calls.map(({ token }) => token)).toEqual(['none', 'wrong', 'bot', 'app', 'bot', 'bot']);
    expect(JSON.stringify(slack.calls)).not.toContain('xoxb');
  });

  test('a post goes where the bot is, to a person as a DM, and nowhere else', async () => {
    expect(await post('C0RANDOM0')).toBe('not_in_channel');
    expect(await post('C0NOWHERE')).toBe('channel_not_found');
    expect(await post('U0BOB0000')).toBe('ok');
    expect(await post('U0GRACE00')).toBe('channel_not_found');
    expect(slack.as('U0BOB0000').messages()).toMatchObject([{ channel: 'DU0BOB0000' }]);
    expect(slack.as(alice).messages()).toEqual([]);
    expect(slack.problems).toEqual([]);
    await post('#ops');
    expect(slack.problems).toEqual([
      'chat.postMessage: channel "#ops" is a name; channels are addressed by id',
    ]);
  });

  test("one workspace's token about another's channel is an error and a problem", async () => {
    expect(await post('C0BETAOPS')).toBe('channel_not_found');
    expect(await outcomeOf('users.list', { team_id: 'T0BETA000' })).toBe('team_access_not_granted');
    expect(slack.problems).toEqual([
      'chat.postMessage: the token of T0ACME000 was used for channel C0BETAOPS of T0BETA000',
      'users.list: the token of T0ACME000 was used with team_id T0BETA000',
    ]);
  });

  test('more calls of a method than its tier answers in a minute are 429, for this installation alone', async () => {
    const { acme, beta } = slack.workspaces;
    const read = (method: string, token: string) =>
      fetch(`${slack.url}/api/${method}`, { headers: { authorization: `Bearer ${token}` } });
    for (const [method, most] of [
      ['usergroups.list', 20],
      ['users.info?user=U0ALICE00', 100],
    ] as const) {
      for (let n = 0; n < most; n += 1) expect((await read(method, acme.botToken)).status).toBe(200);
      const limited = await read(method, acme.botToken);
      expect(limited.status).toBe(429);
      expect(Number(limited.headers.get('retry-after'))).toBeGreaterThan(50);
      expect((await read(method, beta.botToken)).status).toBe(200);
    }
  });
});

describe('files', () => {
  test('a different number of bytes than announced is refused and cannot be completed', async () => {
    const { id, uploadUrl } = await announce(10);
    expect((await fetch(uploadUrl, { method: 'POST', body: 'too short' })).status).toBe(400);
    expect(await completeUpload(id)).toBe('file_not_found');
    expect(slack.problems).toEqual(['files.upload: 9 bytes came, 10 were announced']);
  });

  test('an upload that breaks off is aborted: never visible, never completed', async () => {
    const { id, uploadUrl } = await announce(1000);
    await new Promise<void>((resolve) => {
      const outgoing = request(uploadUrl, { method: 'POST', headers: { 'content-length': 1000 } });
      outgoing.on('error', () => resolve());
      outgoing.write('half', () => outgoing.destroy(new Error('cut')));
    });
    await expect.poll(() => slack.calls.some(({ error }) => error === 'aborted')).toBe(true);
    expect(await completeUpload(id)).toBe('file_not_found');
    expect(await outcomeOf('files.info', { file: id })).toBe('file_not_found');
  });

  test('an upload address works once and takes no token', async () => {
    const { uploadUrl } = await announce(3);
    const headers = { authorization: `Bearer ${slack.botToken}` };
    for (const status of [200, 404])
      expect((await fetch(uploadUrl, { method: 'POST', body: 'abc', headers })).status).toBe(status);
    expect(slack.problems).toEqual([
      'files.upload: a token was sent to the upload address, which takes none',
    ]);
  });

  test('a file goes only where the bot is; without a channel nobody sees it', async () => {
    const { id, uploadUrl } = await announce(3);
    await fetch(uploadUrl, { method: 'POST', body: 'abc' });
    expect(await completeUpload(id, { channel_id: 'C0RANDOM0' })).toBe('not_in_channel');
    expect(await completeUpload(id, { channel_id: 'C0NOWHERE' })).toBe('channel_not_found');
    expect(await completeUpload(id, { channel_id: '' })).toBe('channel_not_found');
    expect(await completeUpload(id, { channel_id: 'U0BOB0000', thread_ts: '1.2' })).toBe('ok');
    expect(slack.as('U0BOB0000').messages()).toMatchObject([
      { channel: 'DU0BOB0000', threadTs: '1.2', files: [{ name: 'events.csv' }] },
    ]);
    const { botToken } = slack.workspaces.beta;
    expect(await outcomeOf('files.info', { file: id }, botToken)).toBe('file_not_found');
  });

  test('blocks beside a comment are ignored by Slack and a problem here', async () => {
    const { id, uploadUrl } = await announce(3);
    await fetch(uploadUrl, { method: 'POST', body: 'abc' });
    await completeUpload(id, { initial_comment: 'Hello', blocks: [{ type: 'divider' }] });
    expect(slack.as('U0BOB0000').messages()).toMatchObject([{ text: 'Hello', blocks: [] }]);
    expect(slack.problems).toEqual([
      'files.completeUploadExternal: blocks is ignored beside initial_comment',
    ]);
  });
});

describe('a response_url', () => {
  test('a response_url takes five uses, the sixth is refused', async () => {
    const url = await slashUrl();
    for (const text of ['1', '2', '3', '4', '5']) expect((await postJson(url, { text })).status).toBe(200);
    const used = '{"ok":false,"error":"used_url"}';
    expect(await postJson(url, { text: '6' })).toEqual({ status: 404, text: used });
    expect(slack.as(alice).messages()).toMatchObject(['1', '2', '3', '4', '5'].map((text) => ({ text })));
  });

  test('a response_url expires after 30 minutes', async () => {
    const url = await slashUrl();
    clock += 30 * 60 * 1000;
    expect((await postJson(url, { text: 'just in time' })).status).toBe(200);
    clock += 1;
    const expired = '{"ok":false,"error":"expired_url"}';
    expect(await postJson(url, { text: 'too late' })).toEqual({ status: 404, text: expired });
    expect((await postJson(`${slack.url}/response/T0ACME000/unknown`, { text: 'x' })).status).toBe(404);
  });

  test('an ephemeral message cannot be made public, nor changed by chat.update', async () => {
    const person = slack.as(alice);
    const url = await slashUrl();
    await postJson(url, { text: 'secret' });
    const ts = String(person.messages()[0]?.ts);
    expect(await outcomeOf('chat.update', { channel: 'C0OPS0000', ts, text: 'x' })).toBe('message_not_found');
    await postJson(url, { text: 'open', replace_original: true, response_type: 'in_channel' });
    expect(slack.as('U0BOB0000').messages()).toEqual([]);
    expect(slack.problems).toEqual([
      'chat.update: an ephemeral message can only be changed through its response_url',
      'response_url: an ephemeral message cannot be made public by replacing it',
    ]);
  });
});

describe('writing', () => {
  test('what people say to each other, and what the app may not hear, is no event', async () => {
    expect(await slack.as(alice, ops).say('hello').heard).toBeUndefined();
    expect(await slack.as(alice, 'C0RANDOM0').say(`${mention} zones`).heard).toBeUndefined();
    expect(slack.as(alice, 'C0RANDOM0').notices()).toHaveLength(1);
    slack.script.withholdScopes(['app_mentions:read']);
    expect(await slack.as(alice, ops).say(`${mention} zones`).heard).toBeUndefined();
    expect((await slack.as(alice, `D${alice}`).say('zones').heard)?.status).toBe(200);
    slack.script.withholdScopes(['im:history', 'users:read']);
    expect(await slack.as(alice, `D${alice}`).say('zones').heard).toBeUndefined();
    expect(await outcomeOf('users.info', { user: alice })).toBe('missing_scope');
    slack.script.withholdScopes([]);
    expect(await call('users.info', { user: alice })).toMatchObject({ ok: true });
  });

  test('an ephemeral message is seen in threads that have replies, and in no others', async () => {
    const person = slack.as(alice, ops);
    const { ts } = person.say('The shop is slow');
    const whisper = (thread = ts) =>
      call('chat.postEphemeral', { channel: ops, user: alice, text: 'psst', thread_ts: thread });
    await whisper();
    expect(slack.problems).toHaveLength(1);
    const reply = person.say('Since when?', { thread: ts });
    await whisper();
    expect(slack.problems).toHaveLength(1);
    await whisper(reply.ts);
    expect(slack.problems).toHaveLength(2);
  });

  test('typed text becomes what Slack keeps: mentions, links and hostnames are marked', async () => {
    const typed = { user: alice, channel: ops, text: '@cdn errors shop.example.com & <more>' };
    expect((await postJson(`${slack.url}/ui/say`, typed)).status).toBe(200);
    const text = `${mention} errors <http://shop.example.com|shop.example.com> &amp; &lt;more&gt;`;
    expect(slack.as(alice, ops).messages().at(-1)?.text).toBe(text);
  });
});

describe('shortcuts', () => {
  test('a shortcut that the manifest does not declare, or of another kind, cannot be chosen', async () => {
    const person = slack.as(alice, ops);
    const { ts } = person.say('hello');
    await expect(person.shortcut('a:other')).rejects.toThrow('declares no global shortcut a:other');
    await expect(person.shortcut('a:message')).rejects.toThrow('no global shortcut a:message');
    await expect(person.shortcut('a:global', { ts })).rejects.toThrow('no message shortcut a:global');
    expect(app.received).toEqual([]);
  });
});

describe('views', () => {
  test('a trigger id works once, within three seconds, and must be known', async () => {
    const first = await trigger();
    clock += 3000;
    expect(await openView(first)).toMatchObject({ ok: true, view: { type: 'modal' } });
    expect(await openView(first)).toMatchObject({ error: 'exchanged_trigger_id' });
    const second = await trigger();
    clock += 3001;
    expect(await openView(second)).toMatchObject({ error: 'expired_trigger_id' });
    expect(await openView('made.up')).toMatchObject({ error: 'invalid_trigger_id' });
    expect(slack.as(alice).modals()).toHaveLength(1);
  });

  test('views.update wants the newest hash, and finds a view by its id in its own workspace', async () => {
    const { view } = await openView(await trigger());
    const { id, hash } = view as { id: string; hash: string };
    expect(await updateView({ view_id: id, hash }, 'Two')).toBe('ok');
    expect(await updateView({ view_id: id, hash })).toBe('hash_conflict');
    expect(await updateView({ view_id: 'V0' })).toBe('not_found');
    const { botToken } = slack.workspaces.beta;
    expect(await updateView({ view_id: id }, 'Three', botToken)).toBe('not_found');
    expect(slack.as(alice).modal()?.reads).toContain('Two');
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
    await openView(await trigger());
    reply = () => ({ body });
    await slack.as(alice).submit({ name: 'x' });
    expect(slack.problems).toEqual([`view_submission "form": ${problem}`]);
  });
});

describe('steps of workflows', () => {
  test('a workflow cannot fill in the person, leave out what is required, or give another type', async () => {
    await expect(slack.step('a:look', { zone: 'shop', person: { id: alice } })).rejects.toThrow('Only Slack');
    await expect(slack.step('a:look', { zone: 'shop' })).rejects.toThrow('person is missing');
    await expect(slack.step('a:look', { zone: 5 }, { by: alice })).rejects.toThrow('zone is no string');
    await expect(slack.step('a:other', {})).rejects.toThrow('declares no function a:other');
    expect(app.received).toEqual([]);
  });

  test('a step is completed once, with the outputs of its definition', async () => {
    const { executionId, ended } = await slack.step('a:look', { zone: 'shop' }, { by: alice });
    for (const outputs of [{}, { count: 'five' }, { count: 5, by: 'nobody' }, { count: 5, other: 1 }])
      expect(await completeStep(executionId, outputs)).toBe('parameter_validation_failed');
    expect(slack.problems.splice(0)).toHaveLength(4);
    expect(await completeStep(executionId, { count: 5, by: alice })).toBe('ok');
    expect(await ended()).toEqual({ outputs: { count: 5, by: alice } });
    const late = { function_execution_id: executionId, error: 'too late' };
    expect(await completeStep(executionId, { count: 5 })).toBe('execution_not_in_running_state');
    expect(await outcomeOf('functions.completeError', late)).toBe('execution_not_in_running_state');
    expect(slack.problems).toEqual([]);
  });

  test('an unknown run, one of another installation, and the token of the step itself are refused', async () => {
    expect(await completeStep('Fx0', { count: 5 })).toBe('function_execution_not_found');
    const { executionId, secrets } = await slack.step('a:look', { zone: 'shop' }, { by: alice });
    expect(await completeStep(executionId, { count: 5 }, secrets[1])).toBe('invalid_auth');
    const { botToken } = slack.workspaces.beta;
    expect(await completeStep(executionId, { count: 5 }, botToken)).toBe('access_denied');
    expect(slack.problems.splice(0)).toHaveLength(1);
  });

  test('a manifest with wrong functions is refused', async () => {
    const { input_parameters: inputs } = look;
    const refused: [object, string][] = [
      [{ ...look, description: '' }, 'no description'],
      [{ ...look, callback_id: 'x' }, 'no member callback_id'],
      [{ ...look, output_parameters: {} }, 'no properties in output_parameters'],
      [{ ...look, input_parameters: { ...inputs, required: ['day'] } }, 'requires day'],
      [{ ...look, input_parameters: { properties: { zone: { type: 'text' } } } }, 'zone has the type text'],
    ];
    for (const [step, problem] of refused)
      await expect(startSlack({ steps: { 'a:look': step as DeclaredStep } })).rejects.toThrow(problem);
    const many = Object.fromEntries(Array.from({ length: 51 }, (_, at) => [`a:${at}`, look]));
    await expect(startSlack({ steps: many })).rejects.toThrow('more than 50');
  });
});

describe('deliveries', () => {
  test('an unacknowledged command tells the person that the app did not respond, and a late acknowledgement is a problem', async () => {
    const acknowledgement = Promise.withResolvers<Reply>();
    const impatient = await openSlack({ ackTimeoutMs: 20 });
    const late = await startStubApp(impatient, () => acknowledgement.promise);
    const person = impatient.as(alice);
    expect(await person.slash('zones')).toMatchObject({ timedOut: true, status: 0 });
    expect(person.notices()).toEqual([slackSays.noAnswer]);
    expect(impatient.problems).toEqual([expect.stringContaining('no acknowledgement within 20 ms')]);
    acknowledgement.resolve({});
    await expect.poll(() => impatient.problems[1]).toMatch(/acknowledged after \d+ ms, later than 20 ms/);
    expect(late.received).toHaveLength(1);
  });

  test.each([
    { events: ['message.im', 'app_mention'], heard: ['app_mention', 'message'] },
    { events: ['function_executed'], heard: ['function_executed'] },
  ])(
    'of all events only those that the manifest subscribes to are sent: $events',
    async ({ events, heard }) => {
      const own = await openSlack({ steps: { 'a:look': look }, events });
      const stub = await startStubApp(own);
      const about = { text: 'hi', user: alice };
      await own.event({ type: 'app_mention', ...about, channel: ops });
      await own.event({ type: 'message', channel_type: 'im', ...about, channel: `D${alice}` });
      await own.event({ type: 'message', channel_type: 'channel', ...about, channel: ops });
      await own.event({ type: 'user_change', user: { id: alice } });
      await own.step('a:look', { zone: 'shop' }, { by: alice });
      expect(stub.received.map(({ body }) => (body['event'] as { type: string }).type)).toEqual(heard);
    },
  );
});
