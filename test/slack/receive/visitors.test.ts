import { expect, test } from 'vitest';
import { features } from '../../../src/commands/registry.ts';
import { personInput, steps } from '../../../src/commands/steps.ts';
import { useBot } from '../../support/bot.ts';
import { commandForm, deliverSigned, interactionForm } from '../signed.ts';
import { bob, eve, ops, says } from '../words.ts';

// Of another organization, in a channel that is shared with it. Nothing in these deliveries says so but her profile.
const shared = 'C0SHARED0';
let nth = 0;

const bot = await useBot({ transport: 'http' }, []);

const trigger = (): string => `${++nth}.1.a`;

/** What a person can deliver, each with what it answers at once. */
function knocksOf(person: string, channel: string) {
  const interact = (body: object) => {
    const where = { channel: { id: channel }, container: { type: 'message', channel_id: channel } };
    return deliverSigned(
      bot,
      interactionForm({ user: { id: person }, ...where, trigger_id: trigger(), ...body }),
    );
  };
  const event = (inner: object) => {
    const authorizations = [{ team_id: 'T0ACME000', user_id: bot.slack.workspaces.acme.botUserId }];
    const about = { type: 'event_callback', team_id: 'T0ACME000', event_id: `Ev${++nth}`, authorizations };
    return deliverSigned(
      bot,
      JSON.stringify({ ...about, event: { user: person, ...inner } }),
      'application/json',
    );
  };
  return {
    event,
    command: (text: string) =>
      deliverSigned(bot, commandForm(trigger(), text, { user_id: person, channel_id: channel })),
    press(id: string, value = '1') {
      const pressed = { action_id: id, type: 'button', value, action_ts: '1' };
      return interact({ type: 'block_actions', actions: [pressed] });
    },
    submit(id: string, values: object = {}) {
      const shown = { id: `V${++nth}`, hash: 'h', type: 'modal', title: { text: 'CDN' } };
      return interact({ type: 'view_submission', view: { ...shown, callback_id: id, state: { values } } });
    },
    shortcut: (id: string) => interact({ type: 'shortcut', callback_id: id }),
    suggest: (id: string) => interact({ type: 'block_suggestion', action_id: id, block_id: 'b', value: '1' }),
    step(id: string) {
      const { name, type } = personInput;
      return event({
        type: 'function_executed',
        function: { callback_id: id, input_parameters: [{ name, type }] },
        inputs: { [name]: { id: person, secret: 'a-secret' } },
        function_execution_id: `Fx${++nth}`,
        bot_access_token: 'xwfp-of-this-step',
      });
    },
  };
}

const visitor = knocksOf(eve, shared);
const ways: readonly (() => Promise<string>)[] = [
  () => visitor.event({ type: 'message', channel: `D${eve}`, channel_type: 'im', text: 'whoami', ts: '1.1' }),
  () => visitor.event({ type: 'app_mention', channel: shared, text: '<@U0BOT> whoami', ts: '1.2' }),
  () => visitor.event({ type: 'app_home_opened', tab: 'home', channel: `D${eve}` }),
  ...features.flatMap(({ commands, actions = [], forms = [], shortcuts = [] }) => [
    ...commands.map(
      ({ name }) =>
        () =>
          visitor.command(name),
    ),
    ...actions.map(
      ({ id }) =>
        () =>
          visitor.press(id),
    ),
    ...forms.map(
      ({ id }) =>
        () =>
          visitor.submit(id),
    ),
    ...shortcuts.map(
      ({ id }) =>
        () =>
          visitor.shortcut(id),
    ),
  ]),
  ...steps.map(
    ({ id }) =>
      () =>
        visitor.step(id),
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
    const options = await visitor.suggest(id);
    expect(options).toMatch(says.ownPeopleOnly);
  },
);

const isGuarded = (one: {
  readonly needs: string;
  readonly needsFor?: unknown;
  readonly runsCommand?: true;
}) => one.needs !== 'none' && !one.needsFor && !one.runsCommand;

test('whatever needs a right or a key is refused to a member who has neither, in every kind of delivery', async () => {
  const member = knocksOf(bob, ops);
  const chosen = { type: 'external_select', selected_option: { value: '1001' } };
  const zone = { zone: { 'zones:pick': chosen } };
  const knocks = [
    ...features.flatMap(({ commands, actions = [], pickers = [] }) => [
      ...commands.filter(isGuarded).map(({ name }) => member.command(name)),
      ...commands.filter(isGuarded).map(({ name }) => member.press('help:run:0', name)),
      ...actions.filter(isGuarded).map(({ id }) => member.press(id)),
      ...pickers.filter(isGuarded).map(({ id }) => member.suggest(id)),
    ]),
    ...steps.map(({ id }) => member.step(id)),
    member.submit('zones:submit', zone),
    member.event({ type: 'message', channel: `D${bob}`, channel_type: 'im', text: 'zones', ts: '1.1' }),
  ];
  const begun = bot.logs.length;
  const before = countDeliveries();
  await Promise.all(knocks);
  await expect.poll(countDeliveries, { timeout: 20_000 }).toBeGreaterThanOrEqual(before + knocks.length);
  const done = bot.logs
    .slice(begun)
    .filter((line) => line.includes('"delivery done"'))
    .map((line) => JSON.parse(line) as { kind: string; feature: string; outcome: string });
  // A form that opens before anything is decided fails here: no trigger is genuine.
  expect(done.filter(({ outcome }) => !['refused', 'failed'].includes(outcome))).toEqual([]);
  const refused = done.flatMap(({ kind, outcome }) => (outcome === 'refused' ? [kind] : []));
  expect(new Set(refused)).toEqual(new Set(['command', 'action', 'picker', 'step', 'form', 'message']));
  expect(bot.cdn.requests).toEqual([]);
});

test('where Slack does not say who somebody is, what needs a role is not decided', async () => {
  bot.slack.script.fail('users.info', 'internal_error', 9);
  const carol = knocksOf('U0CAROL00', ops);
  const before = countDeliveries();
  for (const name of ['audit', 'whoami']) await carol.command(name);
  await expect.poll(countDeliveries).toBe(before + 2);
  expect(bot.logs.filter((line) => line.includes('"delivery done"')).slice(-2)).toEqual([
    expect.stringContaining('"outcome":"refused"'),
    expect.stringContaining('"outcome":"refused"'),
  ]);
});

test('without profiles anybody without a key may be a visitor where other organizations read, and nowhere else', async () => {
  bot.slack.script.clear();
  bot.slack.script.withholdScopes(['users:read']);
  const before = countDeliveries();
  for (const channel of [shared, ops]) await knocksOf('U0DAVE000', channel).command('whoami');
  await expect.poll(countDeliveries).toBe(before + 2);
  bot.slack.script.withholdScopes([]);
  const done = bot.logs.filter((line) => line.includes('"delivery done"')).slice(-2);
  const outcomes = done.map((line) => (JSON.parse(line) as { outcome: string }).outcome);
  expect(outcomes.toSorted()).toEqual(['answered', 'refused']);
});
