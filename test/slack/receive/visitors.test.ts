import { afterAll, expect, test } from 'vitest';
import { features } from '../../../src/commands/registry.ts';
import { personInput, steps } from '../../../src/commands/steps.ts';
import { startBot } from '../../support/bot.ts';
import { commandForm, deliverSigned, interactionForm } from '../signed.ts';
import { eve, says } from '../words.ts';

// Of another organization, in a channel that is shared with it. Nothing in these deliveries says so but her profile.
const shared = 'C0SHARED0';
let nth = 0;

const bot = await startBot({ transport: 'http' });
afterAll(() => bot.stop());

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
const view = (more: object) => ({
  id: `V${++nth}`,
  hash: 'h',
  type: 'modal',
  title: { text: 'CDN' },
  ...more,
});

type Way = readonly [string, () => Promise<unknown>];
const forEach = (what: string, ids: readonly string[], knock: (id: string) => Promise<unknown>): Way[] =>
  ids.map((id) => [`${what} ${id}`, () => knock(id)]);
const idsOf = (list: readonly { readonly id: string }[] = []): string[] => list.map(({ id }) => id);

const ways: readonly Way[] = [
  ...forEach(
    '/cdn',
    features.flatMap(({ commands }) => commands.map(({ name }) => name)),
    command,
  ),
  [
    'a message',
    () => event({ type: 'message', channel: `D${eve}`, channel_type: 'im', text: 'whoami', ts: '1.1' }),
  ],
  ['a mention', () => event({ type: 'app_mention', channel: shared, text: '<@U0BOT> whoami', ts: '1.2' })],
  ['the Home tab', () => event({ type: 'app_home_opened', tab: 'home', channel: `D${eve}` })],
  ...forEach(
    'the button',
    features.flatMap(({ actions }) => idsOf(actions)),
    (id) => {
      const pressed = { action_id: id, type: 'button', value: '1', action_ts: '1' };
      return interact({ type: 'block_actions', actions: [pressed] });
    },
  ),
  ...forEach(
    'the form',
    features.flatMap(({ forms }) => idsOf(forms)),
    (id) => interact({ type: 'view_submission', view: view({ callback_id: id, state: { values: {} } }) }),
  ),
  ...forEach(
    'the shortcut',
    features.flatMap(({ shortcuts }) => idsOf(shortcuts)),
    (id) => interact({ type: 'shortcut', callback_id: id }),
  ),
  ...forEach('the step', idsOf(steps), (id) => {
    const { name, type } = personInput;
    return event({
      type: 'function_executed',
      function: { callback_id: id, input_parameters: [{ name, type }] },
      inputs: { [name]: { id: eve, secret: 'a-secret' } },
      function_execution_id: `Fx${++nth}`,
      bot_access_token: 'xwfp-of-this-step',
    });
  }),
];

test.each(ways)('%s gives people of another organization nothing', async (_, knock) => {
  const calls = bot.slack.calls.length;
  const delivered = countDeliveries();
  const reply = await knock();
  // What a field lacks is said by the acknowledgement alone.
  if (String(reply).includes('"errors"')) return;
  await expect.poll(countDeliveries, { timeout: 10_000 }).toBe(delivered + 1);
  const given = bot.slack.calls
    .slice(calls)
    .filter(({ method }) => !/^(?:auth|users|functions)\./u.test(method));
  expect(given.filter(({ args }) => !says.ownPeopleOnly.test(JSON.stringify(args)))).toEqual([]);
  expect(bot.cdn.requests).toEqual([]);
});

test.each(features.flatMap(({ pickers }) => idsOf(pickers)))(
  'the menu %s gives people of another organization nothing',
  async (id) => {
    const options = await interact({ type: 'block_suggestion', action_id: id, block_id: 'b', value: '1' });
    expect(options).toMatch(says.ownPeopleOnly);
  },
);

function countDeliveries(): number {
  return bot.logs.filter((line) => line.includes('"delivery done"')).length;
}
