import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import type { VisibleMessage } from '../../../simulator/slack/messages.ts';
import { channels, openForm, submitForm, users } from './bot.ts';
import { useExportHarness } from './harness.ts';
import { logged, readExport, says } from './words.ts';

const { alice } = users;
const { ops, random } = channels;
// Nobody waits here for the 20 s after which a message without an answer is looked for: the clock skips them.
const skippedMs = 25_000;
let behindMs = 6 * skippedMs;
const harness = useExportHarness({ now: () => new Date(Date.now() - behindMs) });
const { bot, exportRequests, callsTo, exportTo, isNew, expectNothingLeft, newFiles, waitForPost } = harness;

/** Messages of exports, which everybody of the place sees. */
function progress(channel: string): VisibleMessage[] {
  const seen = bot().slack.as(alice, channel).messages();
  return seen.filter((message) => isNew(message) && !message.ephemeral && message.files.length === 0);
}

/** Sends the form, and has the message that got no answer looked for. */
async function exportInDoubt(channel: string | undefined): Promise<void> {
  const before = bot().logs.length;
  const told = exportTo(channel);
  const isInDoubt = (): boolean =>
    bot()
      .logs.slice(before)
      .some((line) => line.includes(logged.inDoubt));
  await expect.poll(isInDoubt, { timeout: 20_000 }).toBe(true);
  behindMs -= skippedMs;
  expect((await told).callback_id).toBe('event-logs:started');
}

test('a first message that got no answer is found again by its mark: one message, one file', async () => {
  bot().slack.script.drop('chat.postMessage');
  await exportInDoubt(ops);
  await waitForPost(ops, says.posted());
  expect(progress(ops)).toHaveLength(1);
  expect(newFiles(ops)).toHaveLength(1);
  expect(callsTo('chat.postMessage')).toHaveLength(1);
});

test('one that Slack never took is posted when that is certain', async () => {
  bot().slack.script.fail('chat.postMessage', 'internal_error');
  await exportInDoubt(ops);
  await waitForPost(ops, says.posted());
  expect(progress(ops)).toHaveLength(1);
  expect(newFiles(ops)).toHaveLength(1);
});

test('one that comes after it was taken for lost says how the export ended when it is pressed', async () => {
  const late = bot().slack.script.hold('chat.postMessage', 'before');
  await exportInDoubt(ops);
  const { ts } = await waitForPost(ops, says.posted());
  late.release();
  const { ts: lateTs } = await waitForPost(ops, says.asking);
  await bot().slack.as(alice, ops).press('event-logs:cancel:0', { ts: lateTs });
  await expect
    .poll(() => progress(ops).map((message) => [message.ts, says.posted().test(message.reads)]))
    .toEqual([
      [ts, true],
      [lateTs, true],
    ]);
  expect(newFiles(ops)).toHaveLength(1);
  expect(exportRequests()).toHaveLength(1);
});

test('one that is refused when it is posted again ends the export, and the person hears why', async () => {
  bot().slack.script.fail('chat.postMessage', 'internal_error');
  // The form has told of the start already.
  expect((await exportTo(ops)).callback_id).toBe('event-logs:started');
  bot().slack.script.fail('chat.postMessage', 'not_in_channel');
  behindMs -= skippedMs;
  expect(readExport(await waitForPost(`D${alice}`, says.failed))).toMatchSnapshot();
  expect(exportRequests()).toEqual([]);
  await expectNothingLeft();
});

test('one that is refused while the form waits is told there, and nowhere else', async () => {
  const person = bot().slack.as(alice, ops);
  await openForm(person);
  expect((await submitForm(person, { channel: random })).callback_id).toBe('event-logs:submit');
  await sleep(2_500);
  expect(progress(`D${alice}`)).toEqual([]);
  await person.slash('export list');
  expect((await person.waitForMessage((message) => isNew(message) && message.ephemeral)).reads).not.toContain(
    '#random',
  );
  await expectNothingLeft();
});

test.each([
  { where: 'a channel that the bot may not look through', channel: ops },
  { where: 'direct messages', channel: undefined },
])('in $where nobody can say: nothing is sent twice, and a press mends it', async ({ channel }) => {
  const place = channel ?? `D${alice}`;
  bot().slack.script.drop('chat.postMessage');
  if (channel) bot().slack.script.fail('conversations.history', 'missing_scope');
  await exportInDoubt(channel);
  const notice = await waitForPost(`D${alice}`, says.notBegun);
  expect(readExport(notice)).toMatchSnapshot();
  const [wrong, ...more] = progress(place).filter(({ ts }) => ts !== notice.ts);
  expect(more).toEqual([]);
  expect(wrong?.reads).toMatch(says.asking);
  await bot()
    .slack.as(alice, place)
    .press('event-logs:cancel:0', { ts: wrong?.ts ?? '' });
  await waitForPost(place, says.notBegun);
  await expect.poll(() => progress(place).find(({ ts }) => ts === wrong?.ts)?.reads).toMatch(says.notBegun);
  expect(exportRequests()).toEqual([]);
  await expectNothingLeft();
});
