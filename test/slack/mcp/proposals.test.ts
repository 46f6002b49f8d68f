import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Assistant } from '../../../simulator/slack/assistant.ts';
import {
  type ApprovalWorkspace,
  alice,
  bob,
  configure,
  countDeleteRequests,
  startApprovalWorkspace,
} from '../../commands/operations/workspace.ts';
import { createPublicUrl } from '../../support/bot.ts';
import { saveSettings } from '../../support/settings.ts';
import { readStable } from '../../support/words.ts';

let team: ApprovalWorkspace;
let own: Assistant;
/** Of the bot's clock: so many calls are too many for a minute. */
let aheadMs = 0;
const reason = 'The node is gone, says the runbook';

async function start(settings: Record<string, unknown>): Promise<void> {
  const env = await createPublicUrl();
  team = await startApprovalWorkspace({
    transport: 'http',
    env,
    now: () => new Date(Date.now() + aheadMs),
    settings: { assistant: 'proposing', ...settings },
  });
  own = team.bot.slack.assistant(alice, { origin: env.PUBLIC_URL });
}

async function stop(): Promise<void> {
  await own.close();
  await team.bot.stop();
}

type Data = { request: string; state: string };
const dataOf = ({ facts }: { readonly facts: object | undefined }): Data => (facts as { data: Data }).data;

const listIds = async (): Promise<string[]> => {
  const { facts } = await own.call('list_my_requests');
  return (facts as unknown as { data: { requests: Data[] } }).data.requests.map(({ request }) => request);
};

/** The arguments that ask for the deletion of a new volume. */
const nameVolume = () => {
  const { appId: app, volumeId: volume } = team.addVolume();
  return { app, volume, reason };
};
const askForDeletion = (args: object = nameVolume()) => own.call('propose_volume_deletion', args);

const askForForm = (variable: string) =>
  own.call('propose_variable_change', { script: '301', variable, new_value: true, reason });

/** Requests to the CDN that are not reads. */
const countWrites = (): number => team.bot.cdn.requests.filter(({ method }) => method !== 'GET').length;

describe('where an approver decides', () => {
  beforeAll(() => start({ destroyApprovals: 1, changeApprovals: 1 }));
  afterAll(stop);

  test('a deletion is asked for, marked as the assistant’s, and runs when another person approves', async () => {
    const { app, volume } = nameVolume();
    const asked = dataOf(await askForDeletion({ app, volume, reason }));
    expect(asked).toMatchObject({ state: 'waits_for_approval', approvals: { needed: 1, given: 0 } });
    const card = await team.bob.waitForMessage(({ reads }) => reads.includes(volume));
    expect(readStable(card, { volume, app })).toMatchSnapshot('card');
    const mine = await team.alice.waitForMessage(({ reads }) => reads.startsWith('Your request'));
    expect(readStable(mine, { volume, app })).toMatchSnapshot('own message');

    await team.alice.press('approvals:approve', { ts: card.ts });
    expect(countDeleteRequests(team, volume)).toBe(0);
    await team.bob.press('approvals:approve', { ts: card.ts });
    await expect
      .poll(async () => dataOf(await own.call('get_request', { request: asked.request })).state)
      .toBe('succeeded');
    expect(countDeleteRequests(team, volume)).toBe(1);
  });

  test('a value that its person typed is asked for in the assistant’s words, too', async () => {
    await askForForm('12');
    const offer = await team.alice.waitForMessage(({ reads }) => reads.includes('Type the value'));
    await team.alice.press('variables:type', { ts: offer.ts });
    await team.alice.waitForModal('variables:submit');
    await team.alice.submit({ defaultValue: 'typed by alice' });
    const card = await team.bob.waitForMessage(({ reads }) => reads.includes('set variable 12'));
    expect(readStable(card)).toMatchSnapshot('card');
    while (team.alice.modal()) await team.alice.closeModal();
    await team.bob.press('approvals:deny', { ts: card.ts });
    const form = await team.bob.waitForModal('approvals:deny-submit');
    expect(JSON.stringify(form.blocks)).toContain('Slack’s assistant, for <@U0ALICE00>, asks to');
    const before = countWrites();
    await team.bob.closeModal();
    await team.bob.press('approvals:approve', { ts: card.ts });
    await expect.poll(() => countWrites()).toBe(before + 1);
  });

  test('ten equal asks are one request, one card; a fourth one that waits is refused', async () => {
    const asked = nameVolume();
    const answers = await Promise.all(Array.from({ length: 10 }, () => askForDeletion(asked)));
    expect(new Set(answers.map((answer) => dataOf(answer).request)).size).toBe(1);
    await team.bob.waitForMessage(({ reads }) => reads.includes(asked.volume));
    expect(team.bob.messages().filter(({ reads }) => reads.includes(asked.volume))).toHaveLength(1);
    for (let nth = 0; nth < 2; nth += 1) expect(await askForDeletion()).toMatchObject({ isError: false });
    const refused = await askForDeletion();
    expect({ isError: refused.isError, text: readStable(refused.text) }).toMatchSnapshot();
  });

  test('requests of others are not told', async () => {
    const [request] = await listIds();
    const others = team.bot.slack.assistant(bob, { origin: team.bot.env['PUBLIC_URL'] ?? '' });
    const answer = await others.call('get_request', { request });
    await others.close();
    expect({ isError: answer.isError, text: readStable(answer.text) }).toMatchSnapshot();
  });

  test('each call that asks was put to the person', () => {
    expect(new Set(own.asked.map(({ tool }) => tool))).toEqual(
      new Set(['propose_volume_deletion', 'propose_variable_change']),
    );
  });
});

describe('where nobody else has to approve', () => {
  beforeAll(() => start({ destroyApprovals: 0, changeApprovals: 0 }));
  afterAll(stop);

  test('a deletion waits for a press of its person, and of nobody else', async () => {
    const { app, volume } = nameVolume();
    const asked = dataOf(await askForDeletion({ app, volume, reason }));
    expect(asked.state).toBe('waits_for_you');
    const message = await team.alice.waitForMessage(({ reads }) => reads.startsWith('Your request'));
    expect(readStable(message, { volume, app })).toMatchSnapshot();
    expect(countDeleteRequests(team, volume)).toBe(0);
    // The value of the button is an id, which anybody could send.
    await team.bob
      .press('approvals:confirm', { ts: message.ts, value: asked.request })
      .catch(() => undefined);
    expect(countDeleteRequests(team, volume)).toBe(0);
    await team.alice.press('approvals:confirm', { ts: message.ts });
    await expect
      .poll(async () => dataOf(await own.call('get_request', { request: asked.request })).state)
      .toBe('succeeded');
    await team.alice.press('approvals:confirm', { ts: message.ts }).catch(() => undefined);
    expect(countDeleteRequests(team, volume)).toBe(1);
  });

  test('a variable is changed after the press, and its value never passes a model', async () => {
    const change = { script: '301', variable: '12', required: true, reason };
    const before = countWrites();
    const asked = dataOf(await own.call('propose_variable_change', change));
    expect(asked.state).toBe('waits_for_you');
    const message = await team.alice.waitForMessage(({ reads }) => reads.startsWith('Your request: set'));
    expect(countWrites()).toBe(before);
    await team.alice.press('approvals:confirm', { ts: message.ts });
    await expect.poll(() => countWrites()).toBe(before + 1);

    const listed = (await own.tools()).find(({ name }) => name === 'propose_variable_change');
    expect(JSON.stringify(listed?.['inputSchema'])).not.toMatch(/"value"|default/u);
    const form = { script: '301', variable: '12', new_value: true, required: false, reason };
    for (let nth = 0; nth < 3; nth += 1)
      expect(dataOf(await own.call('propose_variable_change', form)).request).toBeNull();
    const offer = await team.alice.waitForMessage(({ reads }) => reads.includes('Type the value'));
    await team.alice.press('variables:type', { ts: offer.ts });
    const view = await team.alice.waitForModal('variables:submit');
    const filled = JSON.stringify(view.state.values);
    expect([filled.includes('301'), filled.includes('"12"')]).toEqual([true, true]);
    const writes = countWrites();
    const value = 'a value that no model sees';
    await team.alice.submit({ defaultValue: value });
    await expect.poll(() => countWrites()).toBe(writes + 1);
    const sentBody = team.bot.cdn.requests.findLast(({ method }) => method !== 'GET')?.body;
    expect(sentBody).toMatchObject({ Required: false });
    const typed = await team.alice.waitForMessage(({ reads }) =>
      /^Your request: set .*a new value[\s\S]*:white_check_mark:/u.test(reads),
    );
    expect(readStable(typed)).toMatchSnapshot('the value was typed');
    while (team.alice.modal()) await team.alice.closeModal();
    expect(readStable(offer)).toMatchSnapshot('the form is offered');
    expect(team.alice.messages().filter(({ reads }) => reads.includes('Type the value'))).toHaveLength(1);
    const all = JSON.stringify([team.bot.logs, team.alice.messages(), await own.call('list_my_requests')]);
    expect(all).not.toContain(value);
  });

  test('a person has three open forms at most, and one of each variable', async () => {
    const before = team.alice.messages().length;
    for (const variable of ['21', '22', '23', '21']) expect((await askForForm(variable)).isError).toBe(false);
    const { isError, text } = await askForForm('24');
    expect({ isError, text: readStable(text) }).toMatchSnapshot();
    await expect.poll(() => team.alice.messages().length).toBe(before + 3);
    // A form that nobody filled in is open as long as a request would be.
    aheadMs += 31 * 60_000;
    expect((await askForForm('24')).isError).toBe(false);
  });

  test('a call that is delivered again makes no second request, whatever became of the first', async () => {
    aheadMs += 24 * 60 * 60_000;
    const call = nameVolume();
    const { app, volume } = call;
    const first = dataOf(await askForDeletion(call));
    const message = await team.alice.waitForMessage(
      ({ reads }) => reads.startsWith('Your request') && reads.includes(volume),
    );
    await team.alice.press('approvals:cancel', { ts: message.ts });
    const again = await askForDeletion(call);
    expect(dataOf(again)).toMatchObject({ request: first.request, state: 'cancelled' });
    expect(
      readStable(String((again.facts as { summary?: string }).summary), { volume, app }),
    ).toMatchSnapshot();
    aheadMs += 6 * 60_000;
    expect(dataOf(await askForDeletion(call)).request).not.toBe(first.request);
  });

  test('nothing is asked for with a key that the CDN refuses', async () => {
    const { data, key } = team.bot.cdn;
    const rights = data.accessKeys.get(key) ?? 'full';
    data.accessKeys.delete(key);
    const before = await listIds();
    const change = { script: '301', variable: '31', reason };
    const answers = [
      await askForDeletion(),
      await own.call('propose_variable_change', { ...change, required: true }),
      await own.call('propose_variable_change', { ...change, new_value: true }),
    ];
    data.accessKeys.set(key, rights);
    expect(new Set(answers.map(({ text }) => readStable(text)))).toMatchSnapshot();
    await team.alice.waitForMessage((message) => JSON.stringify(message).includes('connect:open'));
    expect(await listIds()).toEqual(before);
  });

  test('while assistants may only read, both are refused', async () => {
    await configure(team.carol, { assistant: 'reading' });
    const answer = await askForDeletion();
    expect({ isError: answer.isError, text: readStable(answer.text) }).toMatchSnapshot();
  });

  test('a change of the settings that waits for a second admin is not told to a model', async () => {
    const { slack } = team.bot;
    for (const person of slack.world.people) if (person.id === alice) Object.assign(person, { admin: true });
    await slack.event({ type: 'user_change', user: { id: alice, deleted: false } });
    const before = await listIds();
    const waiting = await saveSettings(team.alice, { approvers: [alice, bob] });
    const request = /"value":"([a-z\d]{16})"/u.exec(JSON.stringify(waiting.blocks))?.[1];
    expect(await listIds()).toEqual(before);
    expect((await own.call('get_request', { request })).isError).toBe(true);
  });
});
