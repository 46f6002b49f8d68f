import { afterAll, expect, test } from 'vitest';
import { personInput } from '../../../src/commands/steps.ts';
import { connect, startBot } from '../../support/bot.ts';
import { commandForm, deliverSigned, interactionForm, sign } from '../signed.ts';
import { alice, ops, says } from '../words.ts';

const cdnAnswers = Promise.withResolvers<void>();
const bot = await startBot({ transport: 'http', zones: 3 });
await connect(bot, alice, ops);
bot.cdn.faults.add({ times: Infinity, until: cdnAnswers.promise });
afterAll(() => {
  cdnAnswers.resolve();
  return bot.stop();
});

const deliver = (body: string): Promise<string> => deliverSigned(bot, body);
const interact = (body: object): Promise<string> => deliver(interactionForm(body));
const press = (nth: string, more: object = {}): Promise<string> => {
  const pressed = { action_id: 'help:run', value: 'zones', type: 'button', action_ts: nth };
  const where = { trigger_id: nth, channel: { id: ops }, container: {} };
  return interact({ type: 'block_actions', actions: [pressed], ...where, ...more });
};
const countRefusals = (): number => bot.logs.filter((line) => line.includes('too much is under way')).length;

test('of a press with a large message only what its work needs is kept', async () => {
  const message = { ts: '1.1', blocks: Array.from({ length: 20 }, () => ({ text: 'x'.repeat(50_000) })) };
  // 20 of 1 MB are more than one person may have.
  for (let nth = 0; nth < 20; nth += 1) expect(await press(`2.${nth}`, { message })).toBe('');
  expect(countRefusals()).toBe(0);
});

const deliverStep = async (): Promise<number> => {
  const event = {
    type: 'function_executed',
    function: { callback_id: 'zones_needing_attention', input_parameters: [personInput] },
    inputs: { [personInput.name]: { id: alice, secret: 'a-secret' } },
    function_execution_id: 'Fx0WORKED',
  };
  const body = JSON.stringify({ type: 'event_callback', team_id: 'T0ACME000', event_id: 'Ev0STEP', event });
  const headers = sign(body, bot.slack.signingSecret, { type: 'application/json' });
  const address = `http://127.0.0.1:${bot.app.port()}/slack/events`;
  return (await fetch(address, { method: 'POST', headers, body })).status;
};

/** Slack knows them: whom it does not know is answered at once. */
function addPerson(id: string): string {
  const record = bot.slack.world.people.find((person) => person.id === alice);
  if (record) (bot.slack.world.people as unknown[]).push({ ...record, id, name: id.toLowerCase() });
  return id;
}

let flooding = 0;

/** Takes all there is, for less than the ten seconds for which the CDN is waited for. */
async function flood(): Promise<void> {
  // Of many people, since one leaves as much as they have. Large ones first, so that a few dozen take all there is.
  const accessKey = { accessKey: { type: 'plain_text_input', value: 'key-of-nobody' } };
  for (const length of [1024 * 1024, 64 * 1024, 0])
    for (let isAccepted = true; isAccepted; ) {
      const nth = (flooding += 1);
      const blocks = [{ text: 'x'.repeat(length) }];
      const view = {
        id: `V${nth}`,
        callback_id: 'connect:submit',
        blocks,
        state: { values: { accessKey } },
      };
      const form = { type: 'view_submission', user: { id: addPerson(`U0FLOOD${nth}`) }, view };
      isAccepted = !(await interact(form)).includes(says.busy);
    }
}

test('what is too much is refused in its acknowledgement, of every kind', async () => {
  expect(await deliverStep()).toBe(200);
  await flood();
  const command = await deliver(commandForm('busy.more', 'zones'));
  expect(JSON.parse(command)).toEqual({ response_type: 'ephemeral', text: says.busy });

  const values = { zone: { 'zones:pick': { type: 'plain_text_input', value: 'shop' } } };
  const view = { id: 'V1', hash: '1', type: 'modal', callback_id: 'zones:submit', state: { values } };
  const form = await interact({ type: 'view_submission', trigger_id: '1.1.f', view });
  expect(JSON.parse(form)).toEqual({ response_action: 'errors', errors: { zone: says.busy } });
  const empty = await interact({ type: 'view_submission', view: { ...view, state: { values: {} } } });
  expect(JSON.parse(empty)).toMatchObject({ response_action: 'update', view: { type: 'modal' } });
  expect(await interact({ type: 'block_suggestion', action_id: 'zones:pick', value: 'sh' })).toContain(
    says.busyMenu,
  );

  await flood();
  for (const nth of ['1.1', '1.2', '1.3']) expect(await press(nth)).toBe('');
  const notices = () =>
    bot.slack
      .as(alice, ops)
      .messages()
      .filter(({ text }) => text === says.busy);
  await expect.poll(() => notices().length).toBe(1);

  await flood();
  // Slack sends again what is worked on already: that run goes on.
  expect(await deliverStep()).toBe(200);
  const step = await bot.slack.step('zones_needing_attention', {}, { by: 'U0BOB0000' });
  expect(await step.ended(15_000)).toMatchObject({
    error: expect.stringMatching(/^The bot is busy/u) as string,
  });
  expect(notices()).toHaveLength(1);
  const ended = bot.slack.calls.filter(({ method }) => method === 'functions.completeError');
  expect(ended.map(({ args }) => args['function_execution_id'])).not.toContain('Fx0WORKED');
  // Once for everybody: the flood writes no line for each.
  expect(countRefusals()).toBe(1);
});
