import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { readStable } from '../../support/words.ts';
import { says } from './words.ts';
import {
  type ApprovalWorkspace,
  configure,
  countDeleteRequests,
  requestDeletion,
  startApprovalWorkspace,
} from './workspace.ts';

/** Asks for the deletion of a new volume; answers with its card. */
async function ask(team: ApprovalWorkspace) {
  const volume = team.addVolume();
  await requestDeletion(team, volume);
  const { ts } = await team.bob.waitForMessage(says.asksToDelete(volume.volumeId));
  return { at: { ts }, volumeId: volume.volumeId };
}

/** Forty presses of a card by two people at once; how many of them were answered, and requests sent. */
async function press40Times(team: ApprovalWorkspace) {
  const { at, volumeId } = await ask(team);
  const countAnswers = (): number =>
    [team.bob, team.dave].flatMap((member) =>
      member.messages().filter(({ reads }) => says.approved().test(reads) || says.decided.test(reads)),
    ).length;
  const before = countAnswers();
  const presses = Array.from({ length: 40 }, (_, index) =>
    (index % 2 === 0 ? team.bob : team.dave).press('approvals:approve', at),
  );
  await Promise.all(presses);
  await team.alice.waitForMessage(says.deleted(volumeId), 20_000);
  await expect.poll(() => countAnswers() - before, { timeout: 20_000 }).toBe(40);
  return countDeleteRequests(team, volumeId);
}

test('over HTTP 40 approvals at once send one request, and each press is answered', async () => {
  const team = await startApprovalWorkspace({ transport: 'http' });
  onTestFinished(() => team.bot.stop());
  expect(await press40Times(team)).toBe(1);
  expect(team.bot.slack.problems).toEqual([]);
});

describe('decisions over Socket Mode', () => {
  let team: ApprovalWorkspace;
  beforeAll(async () => {
    team = await startApprovalWorkspace();
  });
  afterAll(async () => {
    const { problems } = team.bot.slack;
    await team.bot.stop();
    if (problems.length > 0) throw new Error(problems.join());
  });

  test('40 approvals at once send one request, and each press is answered', async () => {
    expect(await press40Times(team)).toBe(1);
  });

  test('a press by a person of another organization does nothing and is answered', async () => {
    const { at, volumeId } = await ask(team);
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
    expect(countDeleteRequests(team, volumeId)).toBe(0);
  });

  test('two of two approvals come from two people, neither the requester', async () => {
    await configure(team.carol, { destroyApprovals: '2' });
    const { at, volumeId } = await ask(team);
    await team.bob.press('approvals:approve', at);
    await team.bob.waitForMessage(says.counted);
    await team.bob.press('approvals:approve', at);
    const { reads } = await team.bob.waitForMessage(says.countedBefore);
    expect(reads).toContain('1 of 2');
    await team.alice.press('approvals:approve', at);
    await team.alice.waitForMessage(says.ownRequest);
    expect(countDeleteRequests(team, volumeId)).toBe(0);
    await team.dave.press('approvals:approve', at);
    await team.alice.waitForMessage(says.deleted(volumeId));
    expect(countDeleteRequests(team, volumeId)).toBe(1);
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
  });
});
