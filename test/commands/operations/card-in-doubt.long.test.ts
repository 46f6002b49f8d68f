import { afterAll, beforeAll, expect, test } from 'vitest';
import { says } from './words.ts';
import { type ApprovalWorkspace, countDeleteRequests, reason, startApprovalWorkspace } from './workspace.ts';

let team: ApprovalWorkspace;
beforeAll(async () => {
  team = await startApprovalWorkspace();
});
afterAll(async () => {
  await team.bot.stop();
});

// Long: the outbox looks for a post twenty seconds after it got no answer.
test('a card whose post got no answer is found by its marker and kept up to date', async () => {
  const volume = team.addVolume();
  const { script } = team.bot.slack;
  await team.alice.slash(`volume delete ${volume.appId} ${volume.volumeId}`);
  await team.alice.waitForModal('volumes:submit');
  // The requester's own message and the card are posted, and neither answer arrives.
  script.drop('chat.postMessage', 2);
  await team.alice.submit({ confirmVolumeId: volume.volumeId, reason });
  await team.alice.waitForModal(says.needsOneApproval);
  const card = await team.bob.waitForMessage(says.asksToDelete(volume.volumeId), 20_000);
  await team.bob.press('approvals:approve', { ts: card.ts });
  const { reads } = await team.bob.waitForMessage(
    ({ ts, reads }) => ts === card.ts && says.deleted(volume.volumeId).test(reads),
    60_000,
  );
  expect(reads).not.toContain(says.waits);
  expect(countDeleteRequests(team, volume.volumeId)).toBe(1);
});
