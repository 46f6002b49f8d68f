import { expect, test } from 'vitest';
import type { VisibleMessage } from '../../simulator/slack/messages.ts';
import { channels, openForm, users } from './bot.ts';
import { useExportHarness } from './harness.ts';

const { alice } = users;
const { ops } = channels;
// Behind: what is to be looked at again in a quarter of a minute is due at once.
const now = (): Date => new Date(Date.now() - 14_000);
const desk = useExportHarness({ now });
const { bot, exportRequests, callsTo, exportTo, isNew, expectNothingLeft, newFiles, waitForPost } = desk;

/** Messages of exports, which everybody of the place sees. */
function progress(channel: string): VisibleMessage[] {
  const seen = bot().slack.as(alice, channel).messages();
  return seen.filter((message) => isNew(message) && !message.ephemeral && message.files.length === 0);
}

test('a first message that got no answer is found again by its mark: one message, one file', async () => {
  bot().slack.script.drop('chat.postMessage');
  expect(await exportTo(ops)).toMatch(/started/);
  await waitForPost(ops, /in 1 file below/);
  expect(progress(ops)).toHaveLength(1);
  expect(newFiles(ops)).toHaveLength(1);
  expect(callsTo('chat.postMessage')).toHaveLength(1);
});

test('one that Slack never took is posted when that is certain', async () => {
  bot().slack.script.fail('chat.postMessage', 'internal_error');
  expect(await exportTo(ops)).toMatch(/started/);
  await waitForPost(ops, /in 1 file below/);
  expect(progress(ops)).toHaveLength(1);
  expect(newFiles(ops)).toHaveLength(1);
});

test('one that comes after it was taken for lost leads to the other, and the export runs once', async () => {
  const late = bot().slack.script.hold('chat.postMessage', 'before');
  const person = bot().slack.as(alice, ops);
  await openForm(person);
  await person.submit({ channel: ops });
  await late.reached;
  const { ts } = await waitForPost(ops, /in 1 file below/);
  late.release();
  await person.waitForModal(/started/);
  while (person.modal()) await person.closeModal();
  await waitForPost(ops, /Another message tells of this export/);
  expect(progress(ops).map((message) => message.ts)).toContain(ts);
  expect(progress(ops)).toHaveLength(2);
  expect(newFiles(ops)).toHaveLength(1);
  expect(exportRequests()).toHaveLength(1);
});

test('one that is refused when it is posted again ends the export, and the person hears why', async () => {
  bot().slack.script.fail('chat.postMessage', 'internal_error');
  await exportTo(ops);
  bot().slack.script.fail('chat.postMessage', 'not_in_channel');
  const told = await waitForPost(`D${alice}`, /did not work; nothing was posted/);
  expect(told.reads).toMatch(/The bot is not in #ops/);
  expect(exportRequests()).toEqual([]);
  await expectNothingLeft();
});

test.each([
  { where: 'a channel that the bot may not look through', channel: ops },
  { where: 'direct messages', channel: undefined },
])('in $where nobody can say: nothing is sent twice, and a press mends it', async ({ channel }) => {
  const place = channel ?? `D${alice}`;
  const person = bot().slack.as(alice, place);
  bot().slack.script.drop('chat.postMessage');
  if (channel) bot().slack.script.fail('conversations.history', 'missing_scope');
  await openForm(person);
  await person.submit(channel ? { channel } : {});
  await person.waitForModal(/Slack did not say whether it took the message/);
  while (person.modal()) await person.closeModal();
  const [wrong, ...more] = progress(place);
  expect(more).toEqual([]);
  expect(wrong?.reads).toMatch(/Asking the CDN/);
  await person.press('event-logs:cancel:0', { ts: wrong?.ts ?? '' });
  await waitForPost(place, /did not begin/);
  expect(progress(place).map(({ ts }) => ts)).toEqual([wrong?.ts]);
  expect(exportRequests()).toEqual([]);
  await expectNothingLeft();
});
