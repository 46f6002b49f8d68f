import { expect, test } from 'vitest';
import { features } from '../../../src/commands/registry.ts';
import { personInput, steps } from '../../../src/commands/steps.ts';
import { useBot } from '../../support/bot.ts';
import { commandForm, deliverSigned, interactionForm } from '../signed.ts';
import { eve, says } from '../words.ts';

// Of another organization, in a channel that is shared with it. Nothing in these deliveries says so but her profile.
const shared = 'C0SHARED0';
let nth = 0;

const bot = await useBot({ transport: 'http' }, []);

const trigger = (): string => `${++nth}.1.a`;
const command = (text: string) =>
  deliverSigned(bot, commandForm(trigger(), text, { user_id: eve, channel_id: shared }));
const interact = (body: object) => {
  const where = { channel: { id: shared }, container: { type: 'message', channel_id: shared } };
  return deliverSigned(bot, interactionForm({ user: { id: eve }, ...where, trigger_id: trigger(), ...body }));
};
const event = (inner: object) => {
  const authorizations = [{ team_id: 'T0ACME000', user_id: bot.slack.workspaces.acme.botUserId }];
  const about = { type: 'event_callback', team_id: 'T0ACME000', event_id: `Ev${++nth}`, authorizations };
  return deliverSigned(bot, JSON.stringify({ ...about, event: { user: eve, ...inner } }), 'application/json');
};
const press = (id: string) => {
  const pressed = { action_id: id, type: 'button', value: '1', action_ts: '1' };
  return interact({ type: 'block_actions', actions: [pressed] });
};
const submit = (id: string) => {
  const shown = { id: `V${++nth}`, hash: 'h', type: 'modal', title: { text: 'CDN' } };
  return interact({
    type: 'view_submission',
    view: { ...shown, callback_id: id, state: { values: {} } },
  });
};
const runStep = (id: string) => {
  const { name, type } = personInput;
  return event({
    type: 'function_executed',
    function: { callback_id: id, input_parameters: [{ name, type }] },
    inputs: { [name]: { id: eve, secret: 'a-secret' } },
    function_execution_id: `Fx${++nth}`,
    bot_access_token: 'xwfp-of-this-step',
  });
};

const ways: readonly (() => Promise<string>)[] = [
  () => event({ type: 'message', channel: `D${eve}`, channel_type: 'im', text: 'whoami', ts: '1.1' }),
  () => event({ type: 'app_mention', channel: shared, text: '<@U0BOT> whoami', ts: '1.2' }),
  () => event({ type: 'app_home_opened', tab: 'home', channel: `D${eve}` }),
  ...features.flatMap(({ commands, actions = [], forms = [], shortcuts = [] }) => [
    ...commands.map(
      ({ name }) =>
        () =>
          command(name),
    ),
    ...actions.map(
      ({ id }) =>
        () =>
          press(id),
    ),
    ...forms.map(
      ({ id }) =>
        () =>
          submit(id),
    ),
    ...shortcuts.map(
      ({ id }) =>
        () =>
          interact({ type: 'shortcut', callback_id: id }),
    ),
  ]),
  ...steps.map(
    ({ id }) =>
      () =>
        runStep(id),
  ),
];

const countDeliveries = (): number => bot.logs.filter((line) => line.includes('"delivery done"')).length;

test('commands, messages, buttons, forms, shortcuts and steps give people of another organization nothing', async () => {
  const replies = await Promise.all(ways.map((knock) => knock()));
  // What a field lacks is said by the acknowledgement alone.
  const worked = replies.filter((reply) => !reply.includes('"errors"'));
  await expect.poll(countDeliveries, { timeout: 20_000 }).toBe(worked.length);
  const given = bot.slack.calls.filter(({ method }) => !/^(?:auth|users|functions)\./u.test(method));
  expect(given.filter(({ args }) => !says.ownPeopleOnly.test(JSON.stringify(args)))).toEqual([]);
  expect(bot.cdn.requests).toEqual([]);
});

test.each(features.flatMap(({ pickers = [] }) => pickers.map(({ id }) => id)))(
  'the menu %s gives people of another organization nothing',
  async (id) => {
    const options = await interact({ type: 'block_suggestion', action_id: id, block_id: 'b', value: '1' });
    expect(options).toMatch(says.ownPeopleOnly);
  },
);
