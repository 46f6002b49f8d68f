import { afterEach, expect, test } from 'vitest';
import { type Bot, connect, startBot } from '../../support/bot.ts';
import { commandForm, sign } from '../signed.ts';
import { says } from '../words.ts';

const alice = 'U0ALICE00';
const bob = 'U0BOB0000';
const ops = 'C0OPS0000';

let bot: Bot;
afterEach(() => bot.stop());

const postTo = (body: string): Promise<Response> =>
  fetch(`http://127.0.0.1:${bot.app.port()}/slack/events`, {
    method: 'POST',
    headers: sign(body, bot.slack.signingSecret),
    body,
  });
const payload = (body: object): string =>
  new URLSearchParams({
    payload: JSON.stringify({ user: { id: alice }, team: { id: 'T0ACME000', domain: 'acme' }, ...body }),
  }).toString();

/** More of Alice's commands than one person may have under way: the CDN answers none of them. */
async function fill(): Promise<number> {
  bot = await startBot({ transport: 'http', zones: 3 });
  await connect(bot, alice, ops);
  bot.cdn.faults.add({ times: Infinity, until: new Promise(() => undefined) });
  let accepted = 0;
  for (;;) {
    const answer = await postTo(commandForm(`busy.${accepted}`, 'zones'));
    if ((await answer.text()) !== '') return accepted;
    accepted += 1;
  }
}

test('what is too much is refused in its acknowledgement, of every kind, and others are answered', async () => {
  expect(await fill()).toBe(500);
  const command = await postTo(commandForm('busy.more', 'zones'));
  expect(await command.json()).toEqual({ response_type: 'ephemeral', text: says.busy });

  const values = { zone: { 'zones:pick': { type: 'plain_text_input', value: 'shop' } } };
  const view = { id: 'V1', hash: '1', type: 'modal', callback_id: 'zones:submit', state: { values } };
  const form = await postTo(payload({ type: 'view_submission', trigger_id: '1.1.f', view }));
  expect(await form.json()).toEqual({ response_action: 'errors', errors: { zone: says.busy } });
  const empty = await postTo(payload({ type: 'view_submission', view: { ...view, state: { values: {} } } }));
  expect(await empty.json()).toMatchObject({ response_action: 'update', view: { type: 'modal' } });

  const menu = await postTo(payload({ type: 'block_suggestion', action_id: 'zones:pick', value: 'sh' }));
  expect(JSON.stringify(await menu.json())).toContain(says.busyMenu);

  const pressed = { action_id: 'help:run', value: 'zones', type: 'button', action_ts: '1.1' };
  const press = { type: 'block_actions', actions: [pressed], channel: { id: ops }, container: {} };
  for (const nth of [1, 2, 3]) {
    const answer = await postTo(payload({ ...press, trigger_id: `1.${nth}.p` }));
    expect([answer.status, await answer.text()]).toEqual([200, '']);
  }
  const notices = () =>
    bot.slack
      .as(alice, ops)
      .messages()
      .filter(({ text }) => text === says.busy);
  await expect.poll(() => notices().length).toBe(1);

  // Once for everybody: the flood writes no line for each.
  expect(bot.logs.filter((line) => line.includes('too much is under way'))).toHaveLength(1);
  await bot.slack.as(bob, ops).slash('help');
  await bot.slack.as(bob, ops).waitForMessage(/cdn/iu);
  expect(notices()).toHaveLength(1);
});

test('of a press with a large message only what its work needs is kept', async () => {
  bot = await startBot({ transport: 'http', zones: 3 });
  await connect(bot, alice, ops);
  bot.cdn.faults.add({ times: Infinity, until: new Promise(() => undefined) });
  const message = { ts: '1.1', blocks: Array.from({ length: 50 }, () => ({ text: 'x'.repeat(2_400) })) };
  const pressed = { action_id: 'help:run', value: 'zones', type: 'button' };
  const press = (nth: number): string =>
    payload({
      type: 'block_actions',
      trigger_id: `2.${nth}.p`,
      actions: [{ ...pressed, action_ts: `2.${nth}` }],
      channel: { id: ops },
      container: {},
      message,
    });
  // 300 of 120 kB are 36 MB; their limit is 32 MB.
  for (let nth = 0; nth < 300; nth += 1) expect((await postTo(press(nth))).status).toBe(200);
  expect(bot.logs.filter((line) => line.includes('too much is under way'))).toEqual([]);
});

test('a step of a workflow that is too much ends at once, and says so in the workflow', async () => {
  bot = await startBot({ transport: 'http', zones: 3 });
  await connect(bot, alice, ops);
  bot.cdn.faults.add({ times: Infinity, until: new Promise(() => undefined) });
  // Large ones first, so that a few dozen take all there is.
  for (const length of [1024 * 1024, 64 * 1024, 0])
    for (let nth = 0, isAccepted = true; isAccepted; nth += 1) {
      const answer = await postTo(commandForm(`large.${length}.${nth}`, `zones${'+'.repeat(length)}`));
      isAccepted = (await answer.text()) === '';
    }
  const step = await bot.slack.step('zones_needing_attention', {}, { by: bob });
  expect(await step.ended(15_000)).toMatchObject({
    error: expect.stringMatching(/^The bot is busy/u) as string,
  });
});
