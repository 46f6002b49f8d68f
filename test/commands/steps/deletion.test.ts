import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Step } from '../../../simulator/slack/server.ts';
import { connect, startBot } from '../../support/bot.ts';
import { readStable } from '../../support/words.ts';
import { says as ledgerSays } from '../operations/words.ts';
import {
  type ApprovalWorkspace,
  alice,
  bob,
  configure,
  countDeleteRequests,
  ops,
  startApprovalWorkspace,
  type Volumes,
} from '../operations/workspace.ts';
import { says } from './words.ts';

type Outputs = Record<string, string | number>;
const outputsOf = async (step: Step): Promise<Outputs> =>
  ((await step.ended(10_000)) as { outputs: Outputs }).outputs;

function run(
  team: ApprovalWorkspace,
  { appId, volumeId }: Volumes,
  more: { by?: string; reason?: string } = {},
) {
  const { by = alice, reason = 'The node is gone' } = more;
  return team.bot.slack.step('delete_volume', { app: appId, volume: volumeId, reason }, { by });
}

describe('a step that asks for a deletion', () => {
  let team: ApprovalWorkspace;
  beforeAll(async () => {
    team = await startApprovalWorkspace();
  });
  afterAll(() => team.bot.stop());

  test('it waits, runs once it is approved, and says who decided', async () => {
    const volume = team.addVolume();
    const step = await run(team, volume);
    await team.bot.slack.redeliver();
    const card = await team.bob.waitForMessage(ledgerSays.asksToDelete(volume.volumeId));
    expect(card.reads).toMatch(says.byWorkflow('The node is gone'));
    expect(step.end).toBeUndefined();
    expect(countDeleteRequests(team, volume.volumeId)).toBe(0);
    await team.bob.press('approvals:approve', { ts: card.ts });
    const { reference, summary, ...outputs } = await outputsOf(step);
    expect(outputs).toEqual({ outcome: 'deleted', decided_by: bob });
    expect(summary).toContain(`${volume.volumeId}-1`);
    expect(countDeleteRequests(team, volume.volumeId)).toBe(1);
    const cards = team.bob.messages().filter(({ reads }) => reads.includes(volume.volumeId));
    expect(cards.filter(({ ts }) => ts === card.ts)).toHaveLength(1);
    expect(JSON.stringify(team.bot.logs)).not.toContain(String(step.secrets[0]));
    expect(reference).toMatch(/^[a-z0-9]{16}$/);
  });

  test('is refused to people without the right, and says what is wrong with its inputs', async () => {
    const volume = team.addVolume();
    const said: Record<string, string> = {};
    for (const [name, step] of Object.entries({
      'no operator': await run(team, volume, { by: bob }),
      'a wrong id': await run(team, { ...volume, volumeId: 'a/b' }),
      'an unknown app': await run(team, { ...volume, appId: 'app0nowhere0001' }),
      'a long reason': await run(team, volume, { reason: 'x'.repeat(501) }),
    })) {
      const end = await step.ended();
      said[name] = readStable('error' in end ? end.error : 'it did not fail');
    }
    expect(said).toMatchSnapshot();
    expect(countDeleteRequests(team, volume.volumeId)).toBe(0);
  });
});

describe('a deletion that no approver has to approve', () => {
  let team: ApprovalWorkspace;
  beforeAll(async () => {
    team = await startApprovalWorkspace({ settings: { destroyApprovals: '0' } });
  });
  afterAll(() => team.bot.stop());

  const ask = async (volume: Volumes) => {
    const step = await run(team, volume);
    const { ts, ...asked } = await team.alice.waitForMessage(ledgerSays.yourRequest(volume.volumeId));
    expect(countDeleteRequests(team, volume.volumeId)).toBe(0);
    return { step, asked, press: (id: string) => team.alice.press(id, { ts }) };
  };

  test('waits for the requester, who has written nothing', async () => {
    const volume = team.addVolume();
    const { step, asked, press } = await ask(volume);
    expect(
      readStable(asked, { ...volume }).replace(/cost [\d.]+(?= a month)/, 'cost <cost>'),
    ).toMatchSnapshot();
    await press('approvals:confirm');
    expect(await outputsOf(step)).toMatchObject({ outcome: 'deleted', decided_by: alice });
    expect(countDeleteRequests(team, volume.volumeId)).toBe(1);
  });

  test('is not sent when the requester says no', async () => {
    const volume = team.addVolume();
    const { step, press } = await ask(volume);
    await Promise.all([press('approvals:cancel'), press('approvals:cancel')]);
    expect(await outputsOf(step)).toMatchObject({ outcome: 'cancelled', decided_by: alice });
    expect(countDeleteRequests(team, volume.volumeId)).toBe(0);
  });

  test('is void where the settings ask for approvers by then', async () => {
    const volume = team.addVolume();
    const { step, press } = await ask(volume);
    await configure(team.carol, { destroyApprovals: '1' });
    await press('approvals:confirm');
    expect(await outputsOf(step)).toMatchObject({ outcome: 'failed' });
    expect(countDeleteRequests(team, volume.volumeId)).toBe(0);
  });
});

test('a step whose work died ends with an error', async () => {
  // Ten minutes of the bot's clock end in a second of the queue's.
  await using bot = await startBot({ zones: 1, now: () => new Date(Date.now() - 599_000) });
  await connect(bot, alice, ops);
  const held = Promise.withResolvers<void>();
  bot.cdn.faults.add({ until: held.promise, times: Number.POSITIVE_INFINITY });
  const step = await bot.slack.step('zones_needing_attention', {}, { by: alice });
  expect(await step.ended(10_000)).toMatchSnapshot();
  held.resolve();
});
