import { afterEach, beforeEach, expect, test } from 'vitest';
import { openSettings } from '../../support/settings.ts';
import { readStable } from '../../support/words.ts';
import {
  type ApprovalWorkspace,
  carol,
  countDeleteRequests,
  ops,
  requestDeletion,
  startApprovalWorkspace,
} from '../operations/workspace.ts';

/* Carol approves as a member of a group; Dave may approve nothing. */

let team: ApprovalWorkspace;
beforeEach(async () => {
  team = await startApprovalWorkspace({ settings: { approvers: [] } });
  const admin = team.bot.slack.as(carol, ops);
  await openSettings(admin, 'approverGroups');
  await admin.suggest('approverGroups', '');
  await admin.choose('approverGroups', ['S0APPROVE']);
  await admin.submit({});
  await admin.waitForModal('settings:done');
  await admin.closeModal();
});
afterEach(async () => {
  await team.bot.stop();
});

/** A request for a deletion, as its card has it. */
async function ask() {
  const volume = team.addVolume();
  await requestDeletion(team, volume);
  const card = await team.carol.waitForMessage(
    ({ reads, blocks }) =>
      reads.includes(volume.volumeId) && JSON.stringify(blocks).includes('approvals:approve'),
  );
  return { ...volume, card };
}

async function answerTo(person: ApprovalWorkspace['carol'], ts: string) {
  const before = new Set(person.messages().map((message) => message.ts));
  await person.press('approvals:approve', { ts });
  return person.waitForMessage((message) => !before.has(message.ts));
}

test.each<[string, () => void]>([
  ['429', () => team.bot.slack.script.rateLimit('usergroups.users.list', 1, 2)],
  ['503', () => team.bot.slack.script.fail('usergroups.users.list', 'service_unavailable', 4, 503)],
  ['no answer', () => team.bot.slack.script.drop('usergroups.users.list', 4)],
])('a press that Slack does not judge (%s) says so and moves nothing, whoever pressed', async (_, fail) => {
  const { card, volumeId } = await ask();
  fail();
  const refused = await answerTo(team.dave, card.ts);
  expect(readStable(refused)).toMatchInlineSnapshot(`
    ":warning: Slack does not answer right now who is an admin or in a user group, so this cannot be decided.
    Nothing was changed. Try again in a minute.
    Reference <reference>"
  `);
  expect(team.carol.messages().find(({ ts }) => ts === card.ts)?.reads).toBe(card.reads);
  expect(countDeleteRequests(team, volumeId)).toBe(0);

  await expect
    .poll(async () => readStable(await answerTo(team.carol, card.ts)), { timeout: 10_000, interval: 300 })
    .not.toBe(readStable(refused));
  await expect.poll(() => countDeleteRequests(team, volumeId), { timeout: 10_000 }).toBe(1);
});

test('an approved request whose rights Slack does not tell is run by the next attempt of its job', async () => {
  const { card, volumeId } = await ask();
  const held = team.bot.slack.script.hold('usergroups.users.list', 'after');
  await team.carol.press('approvals:approve', { ts: card.ts });
  await held.reached;
  // The press was judged; the execution's own look-up fails.
  team.bot.slack.script.fail('usergroups.users.list', 'internal_error', 1);
  held.release();
  await expect.poll(() => countDeleteRequests(team, volumeId), { timeout: 30_000 }).toBe(1);
  expect(team.bot.slack.problems).toEqual([]);
}, 40_000);
