import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { readStable } from '../../support/words.ts';
import { says } from './words.ts';
import {
  type ApprovalWorkspace,
  configure,
  countDeleteRequests,
  requestDeletion,
  startApprovalWorkspace,
  type Volumes,
} from './workspace.ts';

function isAnswerToApproval({ reads }: { readonly reads: string }): boolean {
  return says.approved().test(reads) || says.decided.test(reads);
}

describe.each(['socket', 'http'] as const)('decisions over %s', (transport) => {
  let team: ApprovalWorkspace;
  beforeAll(async () => {
    team = await startApprovalWorkspace({ transport });
  });
  afterAll(async () => {
    await team.bot.stop();
  });

  async function card({ volumeId }: Volumes): Promise<{ ts: string }> {
    const { ts } = await team.bob.waitForMessage(says.asksToDelete(volumeId));
    return { ts };
  }

  test('40 approvals at once send one request, and each press is answered', async () => {
    const volume = team.addVolume();
    await requestDeletion(team, volume);
    const at = await card(volume);
    const countAnswers = (): number =>
      [team.bob, team.dave].flatMap((member) => member.messages().filter(isAnswerToApproval)).length;
    const before = countAnswers();
    const presses = Array.from({ length: 40 }, (_, index) =>
      (index % 2 === 0 ? team.bob : team.dave).press('approvals:approve', at),
    );
    await Promise.all(presses);
    await team.alice.waitForMessage(says.deleted(volume.volumeId), 20_000);
    await expect.poll(() => countAnswers() - before, { timeout: 20_000 }).toBe(40);
    expect(countDeleteRequests(team, volume.volumeId)).toBe(1);
  });

  test('two of two approvals come from two people, neither the requester', async () => {
    await configure(team.carol, { destroyApprovals: '2' });
    const volume = team.addVolume();
    await requestDeletion(team, volume);
    const at = await card(volume);
    await team.bob.press('approvals:approve', at);
    await team.bob.waitForMessage(says.counted);
    await team.bob.press('approvals:approve', at);
    const { reads } = await team.bob.waitForMessage(says.countedBefore);
    expect(reads).toContain('1 of 2');
    await team.alice.press('approvals:approve', at);
    await team.alice.waitForMessage(says.ownRequest);
    expect(countDeleteRequests(team, volume.volumeId)).toBe(0);
    await team.dave.press('approvals:approve', at);
    await team.alice.waitForMessage(says.deleted(volume.volumeId));
    expect(countDeleteRequests(team, volume.volumeId)).toBe(1);
  });

  test('an admin who is no approver is refused', async () => {
    const volume = team.addVolume();
    await requestDeletion(team, volume);
    const at = await card(volume);
    await team.carol.press('approvals:approve', at);
    await team.carol.waitForMessage(says.notAnApprover);
    expect(countDeleteRequests(team, volume.volumeId)).toBe(0);
  });

  test('a press by a person of another organisation does nothing and is answered', async () => {
    const volume = team.addVolume();
    await requestDeletion(team, volume);
    const at = await card(volume);
    // The channel is shared with theirs after the card was posted.
    const { channels } = team.bot.slack.world;
    const channel = channels.get('C0DEPLOY0');
    const members = channel?.members ?? new Set();
    const visitors = [...members, ...(channels.get('C0SHARED0')?.members ?? [])];
    Object.assign(channel ?? {}, { shared: true, members: new Set(visitors) });
    onTestFinished(() => void Object.assign(channel ?? {}, { shared: false, members }));
    const visitor = team.bot.slack.as('U0EVE0000', 'C0DEPLOY0');
    await visitor.press('approvals:approve', at);
    await visitor.waitForMessage(says.foreignOrganisation);
    await visitor.press('approvals:deny', at);
    expect(visitor.modal()).toBeUndefined();
    expect(countDeleteRequests(team, volume.volumeId)).toBe(0);
  });

  test('a made-up id is answered with not found', async () => {
    const volume = team.addVolume();
    await requestDeletion(team, volume);
    const at = await card(volume);
    await team.bob.press('approvals:approve', { ...at, value: 'abcdefghijkmnpqr' });
    await team.bob.waitForMessage(says.noSuchRequest);
    expect(countDeleteRequests(team, volume.volumeId)).toBe(0);
  });

  test('settings that ask for more approvals void a waiting request', async () => {
    await configure(team.carol, { destroyApprovals: '1' });
    const volume = team.addVolume();
    await requestDeletion(team, volume);
    const at = await card(volume);
    await configure(team.carol, { destroyApprovals: '2' });
    await team.bob.press('approvals:approve', at);
    const { reads } = await team.bob.waitForMessage(says.isVoid);
    expect(reads).toMatch(says.moreApprovalsNow);
    await team.alice.waitForMessage(says.voided(volume.volumeId));
    expect(countDeleteRequests(team, volume.volumeId)).toBe(0);
  });

  test('a quorum that cannot be reached is refused before the request is made', async () => {
    await configure(team.carol, { destroyApprovals: '3' });
    const volume = team.addVolume();
    await team.alice.slash(`volume delete ${volume.appId} ${volume.volumeId}`);
    const modal = await team.alice.waitForModal(says.tooFewApprovers);
    expect(readStable(modal)).toMatchInlineSnapshot(`
      "That did not work
      :warning: This needs 3 approvals, and only 2 other people can give one. Nothing was requested.
      An admin names approvers in /cdn settings. Requesters never approve their own requests.
      Reference <reference>
      Close"
    `);
    const isCard = ({ reads }: { readonly reads: string }): boolean =>
      says.asksToDelete(volume.volumeId).test(reads);
    expect(team.bob.messages().some(isCard)).toBe(false);
    await team.alice.closeModal();
  });

  test('no message or form breaks a limit of Slack', () => {
    expect(team.bot.slack.problems).toEqual([]);
  });
});
