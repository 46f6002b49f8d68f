import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { connect, disconnect } from '../../support/bot.ts';
import { readStable } from '../../support/words.ts';
import {
  type ApprovalWorkspace,
  alice,
  configure,
  ops,
  reason,
  startApprovalWorkspace,
} from './workspace.ts';

let team: ApprovalWorkspace;
beforeAll(async () => {
  team = await startApprovalWorkspace();
});
afterEach(async () => {
  await configure(team.carol, { operators: [alice] });
  team.bot.cdn.faults.clear();
  while (team.alice.modal()) await team.alice.closeModal();
});
afterAll(() => team.bot.stop());

/** Submits the open form and returns the form that comes back. */
async function submitAgain(values: Record<string, unknown>) {
  const { hash, callback_id: id } = team.alice.modal() ?? {};
  await team.alice.submit(values);
  return team.alice.waitForModal((view) => view.callback_id === id && view.hash !== hash);
}

async function openVolumeForm(): Promise<string> {
  const { appId, volumeId } = team.addVolume();
  await team.alice.slash(`volume delete ${appId} ${volumeId}`);
  await team.alice.waitForModal('volumes:submit');
  return volumeId;
}

test('a failing CDN leaves the form as it was, and the next submission replaces the failure', async () => {
  const confirmVolumeId = await openVolumeForm();
  team.bot.cdn.faults.add({ times: Infinity, status: 404 });
  const back = await submitAgain({ confirmVolumeId, reason });
  expect(back.state.values['reason']?.['reason']).toMatchObject({ value: reason });
  expect(back.state.values['confirmVolumeId']?.['confirmVolumeId']).toMatchObject({ value: confirmVolumeId });
  const again = await submitAgain({});
  expect(again.blocks).toHaveLength(back.blocks.length);
});

test('a right that is gone since the form was opened leaves what was typed', async () => {
  const confirmVolumeId = await openVolumeForm();
  await configure(team.carol, { operators: [] });
  const back = await submitAgain({ confirmVolumeId, reason });
  expect(back.state.values['reason']?.['reason']).toMatchObject({ value: reason });
  expect(readStable(back.reads).slice(0, 300)).toMatchSnapshot();
});

test('a value that may be a secret is not sent back, the ids are', async () => {
  await team.alice.slash('variable 301 7');
  await team.alice.waitForModal('variables:submit');
  await configure(team.carol, { operators: [] });
  const back = await submitAgain({ defaultValue: 'hidden-value-of-it' });
  expect(back.state.values['variableId']?.['variableId']).toMatchObject({ value: '7' });
  expect(JSON.stringify(back)).not.toContain('hidden-value-of-it');
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

const longName = 'Checkout of the EU';

test('of a form that is closed by then the failure says what was typed', async () => {
  const app = team.bot.cdn.data.apps[0]?.id ?? '';
  await team.alice.slash(`name app ${app}`);
  await team.alice.waitForModal('names:submit');
  await disconnect(team.alice);
  const before = team.alice.messages().length;
  await team.alice.submit({ name: longName });
  await expect.poll(() => team.alice.messages().length).toBeGreaterThan(before);
  expect(team.alice.messages().at(-1)?.reads).toContain(longName);
  await connect(team.bot, alice, ops);
});
