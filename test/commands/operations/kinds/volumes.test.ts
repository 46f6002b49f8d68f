import { afterAll, afterEach, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { connect, disconnect } from '../../../support/bot.ts';
import { readStable } from '../../../support/words.ts';
import { says } from '../words.ts';
import {
  type ApprovalWorkspace,
  alice,
  bob,
  configure,
  countDeleteRequests,
  ops,
  reason,
  requestDeletion,
  startApprovalWorkspace,
  type Volumes,
} from '../workspace.ts';

/** The CDN's costs grow with its clock, and its request ids count. */
function stable(answer: { readonly reads: string }, volume: Volumes): string {
  const reads = answer.reads
    .replace(/cost [\d.]+(?= a month)/, 'cost <cost>')
    .replace(/\b0{20}\w+/, '<request id>');
  return readStable(reads, { ...volume });
}

describe('a volume is deleted', () => {
  let team: ApprovalWorkspace;
  beforeAll(async () => {
    team = await startApprovalWorkspace();
  });
  afterEach(async () => {
    team.rest();
    for (const member of [team.alice, team.bob, team.dave]) while (member.modal()) await member.closeModal();
  });
  afterAll(async () => {
    await team.bot.stop();
  });

  async function openForm({ appId, volumeId }: Volumes) {
    await team.alice.slash(`volume delete ${appId} ${volumeId}`);
    return team.alice.waitForModal('volumes:submit');
  }

  /** Asks for the deletion; answers with its card. */
  async function askFor(volume: Volumes) {
    await requestDeletion(team, volume);
    return team.bob.waitForMessage(says.asksToDelete(volume.volumeId));
  }

  test('an approved deletion runs, and its messages say so', async () => {
    const volume = team.addVolume();
    const form = await openForm(volume);
    expect(stable(form, volume)).toMatchSnapshot('the form');
    await team.alice.submit({ confirmVolumeId: volume.volumeId, reason });
    expect(stable(await team.alice.waitForModal(says.needsOneApproval), volume)).toMatchSnapshot('sent');
    const card = await team.bob.waitForMessage(says.asksToDelete(volume.volumeId));
    expect(stable(card, volume)).toMatchSnapshot('the card');
    expect(JSON.stringify(card.blocks)).toMatch(says.confirms(volume.volumeId));
    await team.alice.waitForMessage(says.yourRequest(volume.volumeId, says.waits));
    expect(countDeleteRequests(team, volume.volumeId)).toBe(0);

    await team.bob.press('approvals:approve', { ts: card.ts });
    await team.bob.waitForMessage(says.approved(volume.volumeId));
    const done = await team.alice.waitForMessage(says.yourRequest(volume.volumeId, says.done));
    const updated = await team.bob.waitForMessage(
      ({ ts, reads }) => ts === card.ts && reads.includes(says.done),
    );
    expect(stable(updated, volume)).toMatchSnapshot('the card afterwards');
    expect(stable(done, volume)).toMatchSnapshot('the message of the requester');
    expect(countDeleteRequests(team, volume.volumeId)).toBe(1);
    const metrics = await (await fetch(`http://127.0.0.1:${team.bot.app.port()}/metrics`)).text();
    for (const state of ['proposed', 'approved', 'executing', 'succeeded'])
      expect(metrics).toContain(`chatops_operation_transitions_total{state="${state}"} 1`);
    const log = team.bot.logs.find((line) => line.includes('operation executed'));
    for (const instance of [`${volume.volumeId}-1`, `${volume.volumeId}-2`]) {
      expect(done.reads).toContain(instance);
      expect(log).toContain(instance);
    }

    await team.alice.slash('approvals');
    expect(stable(await team.alice.waitForMessage(says.waitingList), volume)).toMatchSnapshot('the list');
  });

  test('a form filled in by hand shows the consequences before it proposes', async () => {
    const volume = team.addVolume();
    await team.alice.slash('volume delete');
    const form = await team.alice.waitForModal('volumes:submit');
    expect(form.reads).not.toMatch(says.consequences);
    await expect
      .poll(async () => JSON.stringify(await team.alice.suggest('appId', volume.appId)))
      .toContain(volume.appId);
    await team.alice.choose('appId', volume.appId);
    const { volumeId } = volume;
    // What the CDN says of a field stands above the form.
    const message = 'Only letters and digits';
    const errors = [{ field: 'appId', message }];
    const body = { title: 'Bad Request', status: 400, detail: 'Validation failed', errors, id: 'x' };
    team.bot.cdn.faults.add({ match: { path: /summary/ }, status: 400, body });
    await team.alice.submit({ volumeId, confirmVolumeId: volumeId, reason: 'Not needed' });
    await team.alice.waitForModal(({ reads }) => reads.includes(message));
    await team.alice.submit();
    const preview = await team.alice.waitForModal(says.consequences);
    expect(preview.callback_id).toBe('volumes:submit');
    await team.alice.submit();
    await team.alice.waitForModal(says.needsOneApproval);
  });

  test('the requester cannot approve, and can cancel', async () => {
    const volume = team.addVolume();
    await requestDeletion(team, volume);
    const card = await team.alice.waitForMessage(says.asksToDelete(volume.volumeId));
    await team.alice.press('approvals:approve', { ts: card.ts });
    await team.alice.waitForMessage(says.ownRequest);
    await team.alice.press('approvals:cancel');
    await team.alice.waitForMessage(says.cancelled);
    await team.bob.waitForMessage(({ ts, reads }) => ts === card.ts && reads.includes('cancelled by'));
    await team.bob.slash('approvals');
    expect((await team.bob.waitForMessage(says.waitingList)).reads).not.toMatch(volume.volumeId);
    expect(countDeleteRequests(team, volume.volumeId)).toBe(0);
  });

  test('the requester reads the reason of a denial', async () => {
    const volume = team.addVolume();
    const card = await askFor(volume);
    await team.alice.slash('approvals');
    const list = await team.alice.waitForMessage(({ blocks }) =>
      JSON.stringify(blocks).includes('"value":"approvals:cancel '),
    );
    expect(list.reads).toContain(volume.volumeId);
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

  test('an attached instance: nothing is deleted, and the message says what to do first and offers the form again', async () => {
    const volume = team.addVolume({ attached: true });
    const card = await askFor(volume);
    await team.bob.press('approvals:approve', { ts: card.ts });
    const told = await team.alice.waitForMessage(says.yourRequest(volume.volumeId, says.notDone));
    expect(stable(told, volume)).toMatchSnapshot();
    // Once it is detached, the form opens with both IDs.
    await team.alice.press('help:run:0', { ts: told.ts });
    const form = await team.alice.waitForModal('volumes:submit');
    for (const id of [volume.appId, volume.volumeId]) expect(JSON.stringify(form.blocks)).toContain(id);
    expect(countDeleteRequests(team, volume.volumeId)).toBe(1);
  });

  test('a lost answer: the outcome is unknown until a person confirms it', async () => {
    const volume = team.addVolume();
    team.bot.cdn.faults.add({ match: { method: 'DELETE' }, drop: 'after-processing' });
    const card = await askFor(volume);
    await team.bob.press('approvals:approve', { ts: card.ts });
    await team.alice.waitForMessage(says.yourRequest(volume.volumeId, says.outcomeUnknown));
    await team.bob.waitForMessage(
      ({ ts, blocks }) => ts === card.ts && JSON.stringify(blocks).includes('approvals:check'),
    );
    await team.carol.press('approvals:check', { ts: card.ts });
    expect((await team.carol.waitForModal(says.notAnApprover)).callback_id).not.toBe(
      'approvals:check-submit',
    );
    await team.carol.closeModal();
    await team.alice.press('approvals:check');
    await team.alice.waitForModal('approvals:check-submit');
    await team.alice.submit({ seen: 'succeeded' });
    await team.alice.waitForMessage(says.noted);
    const updated = await team.bob.waitForMessage(
      ({ ts, reads }) => ts === card.ts && reads.includes(says.done),
    );
    expect(stable(updated, volume)).toMatchSnapshot();
    expect(countDeleteRequests(team, volume.volumeId)).toBe(1);
  });

  test('a person who is no operator is refused in the form', async () => {
    await team.bob.slash('volume delete');
    const refusal = await team.bob.waitForModal(says.notAnOperator);
    expect(refusal.reads).toMatch(/Why, and who/);
  });

  test.each([
    ['a confirmation that differs', 'data', 'another'],
    ['a part of a path', '..', '..'],
    ['an encoded part of a path', '%2e%2e', '%2e%2e'],
    ['an encoded slash', 'a%2Fb', 'a%2Fb'],
  ])('%s is an error of its field', async (_, volumeId, confirmVolumeId) => {
    await team.alice.slash(`volume delete ${team.addVolume().appId} x`);
    await team.alice.waitForModal('volumes:submit');
    const { errors } = await team.alice.submit({ volumeId, confirmVolumeId, reason });
    expect(errors).toMatchSnapshot();
  });

  test('made-up buttons find nothing, and who is no approver is refused', async () => {
    const { ts } = await askFor(team.addVolume());
    await team.bob.press('approvals:approve', { ts, value: '\u0000' });
    await team.bob.waitForMessage(says.noSuchRequest);
    await team.bob.press('approvals:deny', { ts, value: '\u0000' });
    await team.bob.waitForModal(says.noSuchRequest);
    await team.alice.press('approvals:deny', { ts });
    await team.alice.waitForModal(says.ownDenial);
    await team.carol.press('approvals:approve', { ts });
    await team.carol.waitForMessage(says.notAnApprover);
    await team.carol.press('approvals:deny', { ts });
    expect((await team.carol.waitForModal(says.notAnApprover)).callback_id).not.toBe('approvals:deny-submit');
    await team.carol.closeModal();
  });

  test('the id of an app wins over a name, which the form shows with its id', async () => {
    const named = team.addVolume();
    const [app, worker] = team.bot.cdn.data.apps;
    if (!app || !worker) throw new Error('the CDN has too few apps');
    await connect(team.bot, bob, ops);
    await team.bob.slash(`name app ${named.appId} shop-app`);
    await team.bob.waitForMessage(/shop-app/u);
    await team.alice.slash(`volume delete shop-app ${named.volumeId}`);
    const form = await team.alice.waitForModal('volumes:submit');
    expect(form.reads).toMatch(new RegExp(`App ${named.appId} is called shop-app here, by @Bob`, 'u'));
    await team.alice.closeModal();

    // The name was given first; now the CDN has an app with this id.
    team.bot.cdn.data.apps.push({
      ...worker,
      id: 'shop-app',
      volumes: { 'vol-9': [{ id: 'vi-9', detached: true }] },
    });
    await requestDeletion(team, { appId: 'shop-app', volumeId: 'vol-9' });
    const card = await team.bob.waitForMessage(says.asksToDelete('vol-9'));
    expect(card.reads).toContain('shop-app');
    await team.bob.press('approvals:approve', { ts: card.ts });
    await team.alice.waitForMessage(says.yourRequest('vol-9', says.done));
    const [request] = team.bot.cdn.requests.filter(({ path }) => path.includes('vol-9'));
    expect(request?.path).toBe('/mc/apps/shop-app/volumes/vol-9');
  });

  test.each(['a disconnected key', 'a deactivated person'])(
    '%s cancels the request, and its card says so',
    async (why) => {
      const volume = team.addVolume();
      await requestDeletion(team, volume);
      const card = await team.bob.waitForMessage(says.asksToDelete(volume.volumeId));
      await team.alice.waitForMessage(says.yourRequest(volume.volumeId));
      const { id: team_id } = team.bot.slack.workspaces.acme;
      const user = { id: alice, team_id, deleted: true };
      if (why === 'a disconnected key') await disconnect(team.alice);
      else await team.bot.slack.event({ type: 'user_change', user }, { teamId: team_id });
      await team.bob.waitForMessage(({ ts, reads }) => ts === card.ts && /cancelled/.test(reads));
      if (why === 'a disconnected key') await team.alice.waitForMessage(says.cancelledWithKey);
      await connect(team.bot, alice, ops);
      expect(countDeleteRequests(team, volume.volumeId)).toBe(0);
    },
  );

  test('a quorum that cannot be reached is refused before the request is made', async () => {
    await configure(team.carol, { destroyApprovals: '3' });
    onTestFinished(() => configure(team.carol, { destroyApprovals: '1' }));
    const volume = team.addVolume();
    await team.alice.slash(`volume delete ${volume.appId} ${volume.volumeId}`);
    const modal = await team.alice.waitForModal(says.tooFewApprovers);
    expect(readStable(modal)).toMatchSnapshot();
    const isCard = ({ reads }: { readonly reads: string }): boolean =>
      says.asksToDelete(volume.volumeId).test(reads);
    expect(team.bob.messages().some(isCard)).toBe(false);
  });

  describe('what was typed stays', () => {
    afterEach(() => configure(team.carol, { operators: [alice] }));

    test('a right that is gone since the form was opened leaves what was typed', async () => {
      const volume = team.addVolume();
      const { hash, callback_id: form } = await openForm(volume);
      await configure(team.carol, { operators: [] });
      await team.alice.submit({ confirmVolumeId: volume.volumeId, reason });
      const back = await team.alice.waitForModal((view) => view.callback_id === form && view.hash !== hash);
      expect(back.state.values['reason']?.['reason']).toMatchObject({ value: reason });
      expect(readStable(back.reads).slice(0, 300)).toMatchSnapshot();
    });

    test('a press in a form that is refused leaves what was chosen', async () => {
      await team.alice.slash('export 501');
      const opened = await team.alice.waitForModal('event-logs:submit');
      await configure(team.carol, { operators: [] });
      await team.alice.press('event-logs:window:1h');
      const back = await team.alice.waitForModal(
        ({ hash, callback_id: id }) => id === opened.callback_id && hash !== opened.hash,
      );
      expect(Object.keys(back.state.values)).toEqual(Object.keys(opened.state.values));
    });
  });
});
