import { App, HTTPReceiver } from '@slack/bolt';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type SlackSimulator, startSlack } from '../../../simulator/slack/server.ts';

let slack: SlackSimulator;
let app: App;

beforeEach(async () => {
  slack = await startSlack();
  const receiver = new HTTPReceiver({ signingSecret: slack.signingSecret });
  app = new App({
    receiver,
    token: slack.botToken,
    deferInitialization: true,
    convoStore: false,
    clientOptions: { slackApiUrl: `${slack.url}/api/` },
  });
  await app.init();
  const server = await receiver.start(0);
  const address = server.address();
  if (typeof address !== 'object' || address === null) throw new Error('the app has no port');
  slack.deliverTo(`http://127.0.0.1:${address.port}/slack/events`);
});

afterEach(async () => {
  await app.stop();
  await slack.close();
});

test('a real Bolt app takes a signed slash command and answers through response_url, for that person alone', async () => {
  app.command('/cdn', async ({ ack, respond, command }) => {
    await ack();
    await respond({
      text: `You typed ${command.text}`,
      blocks: [{ type: 'section', text: { type: 'mrkdwn', text: `*${command.text}*` } }],
    });
  });
  const alice = slack.as('U0ALICE00');
  expect(await alice.slash('zones')).toMatchObject({ status: 200, timedOut: false });
  const answer = await alice.waitForMessage('zones');
  expect(answer).toMatchObject({ ephemeral: true, channel: 'C0OPS0000', reads: 'zones', bot: true });
  expect(slack.as('U0BOB0000').messages()).toEqual([]);
  expect(slack.problems).toEqual([]);
});

test('a command opens a modal, its submission closes it, and a field error keeps it open', async () => {
  app.command('/cdn', async ({ ack, client, command }) => {
    await ack();
    await client.views.open({
      trigger_id: command.trigger_id,
      view: {
        type: 'modal',
        callback_id: 'connect:submit',
        title: { type: 'plain_text', text: 'Connect' },
        submit: { type: 'plain_text', text: 'Link' },
        blocks: [
          {
            type: 'input',
            block_id: 'accessKey',
            label: { type: 'plain_text', text: 'API key' },
            element: { type: 'plain_text_input', action_id: 'accessKey' },
          },
        ],
      },
    });
  });
  app.view('connect:submit', async ({ ack, view }) => {
    const typed = view.state.values['accessKey']?.['accessKey']?.value;
    await (typed === 'good'
      ? ack()
      : ack({ response_action: 'errors', errors: { accessKey: 'This key is refused.' } }));
  });
  const alice = slack.as('U0ALICE00');
  await alice.slash('connect');
  await alice.waitForModal('API key');
  expect((await alice.submit()).errors).toEqual({ accessKey: 'Please complete this required field.' });
  expect((await alice.submit({ accessKey: 'bad' })).errors).toEqual({ accessKey: 'This key is refused.' });
  expect(alice.modal()?.reads).toContain('This key is refused.');
  expect((await alice.submit({ accessKey: 'good' })).errors).toBeUndefined();
  expect(alice.modal()).toBeUndefined();
  expect(slack.problems).toEqual([]);
});

test('in the conversation with the app a command is typed as anywhere else', async () => {
  app.command('/cdn', async ({ ack }) => ack('Hello'));
  const alice = slack.as('U0ALICE00', 'DU0ALICE00');
  expect((await alice.slash('zones')).status).toBe(200);
  expect((await alice.waitForMessage('Hello')).ephemeral).toBe(true);
});
