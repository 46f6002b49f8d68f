import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { connect, disconnect } from '../../support/bot.ts';
import { says } from './words.ts';
import {
  type ApprovalWorkspace,
  alice,
  countDeleteRequests,
  ops,
  requestDeletion,
  startApprovalWorkspace,
  type Volumes,
} from './workspace.ts';

describe('requests end with the requester’s key', () => {
  let team: ApprovalWorkspace;
  beforeAll(async () => {
    team = await startApprovalWorkspace();
  });
  afterAll(async () => {
    await team.bot.stop();
  });

  const asksFor = async (volume: Volumes) => {
    await requestDeletion(team, volume);
    return team.bob.waitForMessage(says.asksToDelete(volume.volumeId));
  };

  test('disconnecting cancels the request, and its card says so', async () => {
    const volume = team.addVolume();
    const card = await asksFor(volume);
    await disconnect(team.alice);
    await team.alice.waitForMessage(says.cancelledWithKey);
    await team.bob.waitForMessage(({ ts, reads }) => ts === card.ts && /cancelled/.test(reads));
    await connect(team.bot, alice, ops);
    expect(countDeleteRequests(team, volume.volumeId)).toBe(0);
  });

  test('deactivating a person cancels their request', async () => {
    const volume = team.addVolume();
    const card = await asksFor(volume);
    const { acme } = team.bot.slack.workspaces;
    const user = { id: alice, team_id: acme.id, deleted: true };
    await team.bot.slack.event({ type: 'user_change', user }, { teamId: acme.id });
    await team.bob.waitForMessage(({ ts, reads }) => ts === card.ts && /cancelled/.test(reads));
    expect(countDeleteRequests(team, volume.volumeId)).toBe(0);
  });

  test('no message breaks a limit of Slack', () => {
    expect(team.bot.slack.problems).toEqual([]);
  });
});
