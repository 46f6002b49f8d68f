import { afterEach, expect, test } from 'vitest';
import { findElements } from '../../../simulator/slack/block-ids.ts';
import { ask, followMessages, startBot, useBot } from '../../support/bot.ts';
import { deploys, random } from '../../support/people.ts';
import { openSettings, saveSettings } from '../../support/settings.ts';
import { readStable } from '../../support/words.ts';
import { carol, configure, type Member, ops } from '../operations/workspace.ts';

/* Carol is an admin by the configuration, Alice by Slack. */

const alice = 'U0ALICE00';
const bob = 'U0BOB0000';

const bot = await useBot({ zones: 1, transport: 'http', env: { ADMIN_USER_IDS: carol } }, []);
const { slack } = bot;
const people = { alice: slack.as(alice, ops), bob: slack.as(bob, ops), carol: slack.as(carol, ops) };
/** Their own conversations with the bot. */
const [inbox, aliceInbox] = [slack.as(carol, `D${carol}`), slack.as(alice, `D${alice}`)];
afterEach(async () => {
  for (const person of Object.values(people)) while (person.modal()) await person.closeModal();
});

type View = NonNullable<ReturnType<Member['modal']>>;

const hasAction = ({ blocks }: Pick<View, 'blocks'>, id: string): boolean =>
  findElements(blocks).some(({ element }) => element['action_id'] === id);

const card = () => inbox.waitForMessage((message) => hasAction(message, 'settings:confirm'));

const isApprover = async (person: Member): Promise<boolean> =>
  (await ask(person, 'whoami')).reads.includes('may approve');

async function pressed(person: Member, action: string, ts: string): Promise<string> {
  const { next } = followMessages(person);
  await person.press(action, { ts });
  return readStable(await next());
}

test('an admin who names herself an approver waits for another admin, who confirms', async () => {
  await configure(people.alice, { approvalChannel: ops });
  const waiting = await saveSettings(people.alice, { approvers: [alice] });
  expect(readStable(waiting)).toMatchSnapshot('not saved yet');
  const asked = await card();
  expect(readStable(asked)).toMatchSnapshot('the card of the other admin');
  expect(await isApprover(people.alice)).toBe(false);

  expect(await pressed(inbox, 'settings:confirm', asked.ts)).toMatchSnapshot('confirmed');
  expect(await isApprover(people.alice)).toBe(true);
  const announced = await people.bob.waitForMessage(({ reads }) => reads.includes('version 2'));
  expect(readStable(announced)).toMatchSnapshot('the channel is told of both');
  const outcome = await aliceInbox.waitForMessage(/Your request[^]*Saved/u);
  expect(readStable(outcome)).toMatchSnapshot('the author is told');
  const over = await inbox.waitForMessage(
    ({ ts, blocks }) => ts === asked.ts && !hasAction({ blocks }, 'settings:confirm'),
  );
  expect(readStable(over)).toMatchSnapshot('the card afterwards');
});

test('an undo that lowers approvals waits too, and a rejection leaves things as they are', async () => {
  await configure(people.alice, { changeApprovals: '2' });
  await people.alice.slash('settings');
  await people.alice.waitForModal('settings:summary');
  await people.alice.press('settings:undo');
  await people.alice.waitForModal((view) => hasAction(view, 'approvals:cancel'));
  const asked = await card();
  expect(await pressed(inbox, 'settings:reject', asked.ts)).toMatchSnapshot('rejected');
  const outcome = await aliceInbox.waitForMessage(/Your request[^]*denied/u);
  expect(readStable(outcome)).toMatchSnapshot('the author hears of the rejection');
  await people.alice.closeModal();
  await people.alice.slash('settings');
  const form = await people.alice.waitForModal('settings:summary');
  expect(form.reads).toContain('2 for a change');
});

test('its author takes it back where it was asked for', async () => {
  const waiting = await saveSettings(people.alice, { operators: [alice] });
  expect(hasAction(waiting, 'approvals:cancel')).toBe(true);
  await people.alice.press('approvals:cancel');
  const back = await people.alice.waitForModal(/Cancelled/u);
  expect(readStable(back)).toMatchSnapshot('taken back');
});

test.each([
  ['that would be saved', { expiryMinutes: '45', approvalChannel: random }],
  ['that a second admin would confirm', { changeApprovals: '0', approvalChannel: deploys }],
])('a change %s is refused where another is saved meanwhile', async (_, values) => {
  await openSettings(people.alice, 'approvalChannel');
  const held = bot.slack.script.hold('conversations.info', 'before', values.approvalChannel);
  const submitted = people.alice.submit(values);
  await held.reached;
  await configure(people.carol, { exportKeepDays: String(Object.keys(values).join('').length) });
  held.release();
  await submitted;
  const refused = await people.alice.waitForModal((view) => hasAction(view, 'help:run:0'));
  expect(hasAction(refused, 'approvals:cancel')).toBe(false);
});

test('one admin alone decides', async () => {
  await using alone = await startBot({ zones: 1 });
  const admin = alone.slack.as(alice, ops);
  const saved = await saveSettings(admin, { approvers: [alice], destroyApprovals: '0' });
  expect(hasAction(saved, 'settings:undo')).toBe(true);
});
