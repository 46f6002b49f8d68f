import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import {
  type ApprovalWorkspace,
  countDeleteRequests,
  requestDeletion,
  startApprovalWorkspace,
} from '../../operations/workspace.ts';

describe('a volume is deleted', () => {
  let team: ApprovalWorkspace;
  beforeAll(async () => {
    team = await startApprovalWorkspace();
  });
  afterEach(async () => {
    for (const member of [team.alice, team.bob, team.dave]) while (member.modal()) await member.closeModal();
  });
  afterAll(async () => {
    await team.bot.stop();
  });

  test('an approved deletion runs, and its messages say so', async () => {
    const volume = team.addVolume();
    await team.alice.slash(`volume delete ${volume.appId} ${volume.volumeId}`);
    const form = await team.alice.waitForModal('volumes:submit');
    expect(form.reads).toMatch(/cannot be undone/);
    expect(form.reads).toMatch(/1 other person has to approve within 30 minutes; 2 people can/);
    await team.alice.submit({ confirmVolumeId: volume.volumeId, reason: 'The node is gone' });
    await team.alice.waitForModal(/It needs 1 approval/);
    const card = await team.bob.waitForMessage(
      new RegExp(`asks to delete every instance of volume ${volume.volumeId}`),
    );
    expect(card.reads).toMatch(/The node is gone/);
    await team.alice.waitForMessage(/Your request.*waits for approval/s);
    expect(countDeleteRequests(team, volume.volumeId)).toBe(0);

    await team.bob.press('approvals:approve', { ts: card.ts });
    await team.bob.waitForMessage(/Approved\. It runs now/);
    await team.alice.waitForMessage(/Your request.*done.*2 instances deleted/s);
    await team.bob.waitForMessage(
      ({ ts, reads }) => ts === card.ts && /done.*2 instances deleted/s.test(reads),
    );
    expect(countDeleteRequests(team, volume.volumeId)).toBe(1);
    const done = await team.alice.waitForMessage(/Your request.*done.*2 instances deleted/s);
    const log = team.bot.logs.find((line) => line.includes('operation executed'));
    for (const instance of [`${volume.volumeId}-1`, `${volume.volumeId}-2`]) {
      expect(done.reads).toContain(instance);
      expect(log).toContain(instance);
    }

    await team.alice.slash('approvals');
    expect((await team.alice.waitForMessage(/What you asked for/)).reads).toMatch(/done/);
  });

  test('a confirmation that differs is an error of that field', async () => {
    const volume = team.addVolume();
    await team.alice.slash(`volume delete ${volume.appId} ${volume.volumeId}`);
    await team.alice.waitForModal('volumes:submit');
    const { errors } = await team.alice.submit({ confirmVolumeId: 'another', reason: 'x' });
    expect(errors).toEqual({ confirmVolumeId: 'This is not the volume id above. Type exactly the same id.' });
  });

  test('a form filled in by hand shows the consequences before it proposes', async () => {
    const volume = team.addVolume();
    await team.alice.slash('volume delete');
    const form = await team.alice.waitForModal('volumes:submit');
    expect(form.reads).not.toMatch(/cannot be undone/);
    await expect
      .poll(async () => JSON.stringify(await team.alice.suggest('appId', volume.appId)))
      .toContain(volume.appId);
    await team.alice.choose('appId', volume.appId);
    const { volumeId } = volume;
    await team.alice.submit({ volumeId, confirmVolumeId: volumeId, reason: 'Not needed' });
    const preview = await team.alice.waitForModal(/cannot be undone/);
    expect(preview.callback_id).toBe('volumes:submit');
    await team.alice.submit();
    await team.alice.waitForModal(/It needs 1 approval/);
  });

  test('the requester cannot approve, and can cancel', async () => {
    const volume = team.addVolume();
    await requestDeletion(team, volume);
    const card = await team.alice.waitForMessage(
      new RegExp(`asks to delete every instance of volume ${volume.volumeId}`),
    );
    await team.alice.press('approvals:approve', { ts: card.ts });
    await team.alice.waitForMessage(/You asked for this yourself/);
    await team.alice.press('approvals:cancel');
    await team.alice.waitForMessage(/Cancelled\. Nothing was sent/);
    await team.bob.waitForMessage(({ ts, reads }) => ts === card.ts && /cancelled by/.test(reads));
    await team.bob.slash('approvals');
    expect((await team.bob.waitForMessage(/for your approval/)).reads).not.toMatch(volume.volumeId);
    expect(countDeleteRequests(team, volume.volumeId)).toBe(0);
  });

  test('the requester reads the reason of a denial', async () => {
    const volume = team.addVolume();
    await requestDeletion(team, volume);
    const card = await team.bob.waitForMessage(
      new RegExp(`asks to delete every instance of volume ${volume.volumeId}`),
    );
    await team.bob.press('approvals:deny', { ts: card.ts });
    await team.bob.waitForModal('approvals:deny-submit');
    await team.bob.submit({ reason: 'It is <needed> until Friday' });
    await team.alice.waitForMessage(new RegExp(`${volume.volumeId}[^]*denied by[^]*needed[^]*until Friday`));
    expect(countDeleteRequests(team, volume.volumeId)).toBe(0);
    // The buttons are gone from the card; one that was drawn before still answers.
    expect(JSON.stringify((await team.dave.waitForMessage(/denied/)).blocks)).not.toContain(
      'approvals:approve',
    );
  });

  test('an attached instance: nothing is deleted, and the message says what to do first', async () => {
    const volume = team.addVolume({ attached: true });
    await requestDeletion(team, volume);
    const card = await team.bob.waitForMessage(
      new RegExp(`asks to delete every instance of volume ${volume.volumeId}`),
    );
    await team.bob.press('approvals:approve', { ts: card.ts });
    const told = await team.alice.waitForMessage(
      new RegExp(`${volume.volumeId}[^]*still attached\\. Detach first`),
    );
    expect(JSON.stringify(told.blocks)).toContain('approvals:again');
    expect(countDeleteRequests(team, volume.volumeId)).toBe(1);
  });

  test('a lost answer: the outcome is unknown until a person confirms it', async () => {
    const volume = team.addVolume();
    team.bot.cdn.faults.add({ match: { method: 'DELETE' }, drop: 'after-processing' });
    await requestDeletion(team, volume);
    const card = await team.bob.waitForMessage(
      new RegExp(`asks to delete every instance of volume ${volume.volumeId}`),
    );
    await team.bob.press('approvals:approve', { ts: card.ts });
    await team.alice.waitForMessage(new RegExp(`${volume.volumeId}[^]*outcome unknown`));
    await team.alice.press('approvals:check');
    await team.alice.waitForModal('approvals:check-submit');
    await team.alice.submit({ seen: 'succeeded' });
    await team.alice.waitForMessage(/Noted: it was done/);
    await team.bob.waitForMessage(
      ({ ts, reads }) => ts === card.ts && /done.*@Alice Adams looked/s.test(reads),
    );
    expect(countDeleteRequests(team, volume.volumeId)).toBe(1);
  });

  test('a person who is no operator is refused in the form', async () => {
    await team.bob.slash('volume delete');
    const { reads } = await team.bob.waitForModal(/not an operator/);
    expect(reads).toMatch(/Why\?/);
  });

  test('an impossible id is an error of its field; made-up buttons find nothing', async () => {
    const { appId } = team.addVolume();
    for (const volumeId of ['..', '%2e%2e', 'a%2Fb']) {
      await team.alice.slash(`volume delete ${appId} x`);
      await team.alice.waitForModal('volumes:submit');
      const { errors } = await team.alice.submit({ volumeId, confirmVolumeId: volumeId, reason: 'x' });
      expect(errors).toEqual({ volumeId: 'This cannot be an id.' });
      await team.alice.closeModal();
    }
    const volume = team.addVolume();
    await requestDeletion(team, volume);
    const wanted = new RegExp(`asks to delete every instance of volume ${volume.volumeId}`);
    const { ts } = await team.bob.waitForMessage(wanted);
    await team.bob.press('approvals:approve', { ts, value: '\u0000' });
    await team.bob.waitForMessage(/There is no such request here any more/);
    await team.carol.press('approvals:deny', { ts });
    await team.carol.waitForModal(/not an approver/);
    await team.carol.closeModal();
  });

  test('an approval in the list renders the list again', async () => {
    const volume = team.addVolume();
    await requestDeletion(team, volume);
    await team.bob.slash('approvals');
    await team.bob.waitForMessage(new RegExp(`for your approval[^]*${volume.volumeId}`));
    const listed = team.bob.messages().findLast(({ reads }) => /for your approval/.test(reads));
    const value = JSON.stringify(listed?.blocks).match(
      new RegExp(`${volume.volumeId}[^]*?"value":"(\\w{16})"`),
    )?.[1];
    await team.bob.press('approvals:approve-listed', { ts: listed?.ts ?? '', value: value ?? '' });
    const { reads } = await team.bob.waitForMessage(/Approved\. It runs now[^]*for your approval/);
    expect(reads.split('for your approval')[1]?.split('What you asked for')[0]).not.toContain(
      volume.volumeId,
    );
  });

  test('the audit names the people, the volume and the seal, and no secret', async () => {
    await team.carol.slash('audit 50');
    const { reads } = await team.carol.waitForMessage(/records in all/);
    expect(reads).toMatch(/@Alice Adams asked for the deletion \w{16}.*\(seal \w{12}\)/);
    expect(reads).toMatch(/volume data-\d+ of app app0api00000001/);
    expect(reads).toMatch(/@Bob Brown approved the deletion/);
    expect(reads).not.toContain('The node is gone');
  });

  test('no message or form breaks a limit of Slack', () => {
    expect(team.bot.slack.problems).toEqual([]);
  });
});
