import { expect, test } from 'vitest';
import type { Alert } from '../../../../src/commands/reports/model.ts';
import { type AlertHarness, createAlertHarness } from '../../../support/alerts/harness.ts';
import { alice } from '../../../support/digests/harness.ts';
import { prepareEngines } from '../../../support/engines.ts';

const { embedded } = await prepareEngines();
const ops = 'C0OPS0000';
const direct = 'DU0ALICE00';

async function open(): Promise<AlertHarness> {
  return createAlertHarness(await embedded.emptyDatabase());
}

/** How often an incident stands in a conversation, not in its threads. */
function count({ slack }: AlertHarness, channel: string, sign = ':rotating_light:'): number {
  const messages = slack.as(alice.userId, channel).messages();
  return messages.filter(({ reads, threadTs }) => threadTs === undefined && reads.startsWith(sign)).length;
}

async function fire(harness: AlertHarness, subject = {}, channel = ops): Promise<Alert> {
  const alert = await harness.createAlert(subject, channel);
  harness.setEnabled(0, false);
  return alert;
}

test.each(['rate_limited', 'ratelimited', 'team_added_to_org', 'message_limit_exceeded'])(
  'a channel that answers %s once gets the incident a moment later',
  async (code) => {
    await using harness = await open();
    await fire(harness);
    harness.slack.script.fail('chat.postMessage', code);
    await harness.look(2);
    expect(count(harness, ops)).toBe(1);
    expect(count(harness, direct)).toBe(0);
  },
);

test.each([
  {
    name: 'a 503',
    breaks: ({ slack }: AlertHarness) => slack.script.fail('chat.postMessage', 'oops', 1, 503),
    posts: 1,
  },
  {
    name: 'an answer that is cut',
    breaks: ({ slack }: AlertHarness) => slack.script.drop('chat.postMessage'),
    posts: 2,
  },
])('$name in the owner’s conversation, where the bot may not look: it is posted again', async (one) => {
  await using harness = await open();
  const alert = await fire(harness, {}, alice.userId);
  one.breaks(harness);
  await harness.look(3);
  expect(count(harness, direct)).toBe(one.posts);
  expect((await harness.find(alert)).paused).toBeUndefined();
});

test('a channel that never answers is given up after three posts, and the owner reads it', async () => {
  await using harness = await open();
  const alert = await fire(harness);
  harness.slack.script.fail('chat.postMessage', 'oops', 3, 503);
  await harness.look(2);
  expect(count(harness, ops)).toBe(0);
  expect(count(harness, direct)).toBe(1);
  expect((await harness.find(alert)).paused).toBeUndefined();
});

test('a message that its channel refuses as it is: its words are tried, then the owner gets it', async () => {
  await using harness = await open();
  await fire(harness);
  harness.slack.script.fail('chat.postMessage', 'invalid_blocks');
  await harness.look();
  expect(count(harness, ops)).toBe(1);
  await fire(harness);
  harness.slack.script.fail('chat.postMessage', 'invalid_blocks', 2);
  await harness.look();
  expect([count(harness, ops), count(harness, direct)]).toEqual([1, 1]);
});

test('a message that every place refused is posted by the next check, and the log says that it was not read', async () => {
  await using harness = await open();
  // An hourly check: what nobody has read does not wait for it.
  await fire(harness, { every: 60 });
  harness.slack.script.fail('chat.postMessage', 'invalid_blocks', 4);
  await harness.runJobsFor(3600 + 60, 20);
  expect([count(harness, ops), count(harness, direct)]).toEqual([0, 0]);
  expect(harness.log.entries.map(({ message }) => message)).toContain('alert could not be posted');
  await harness.look(2);
  expect([count(harness, ops), count(harness, direct)]).toEqual([1, 0]);
  harness.setEnabled(0, true);
  await harness.runJobsFor(3 * 3600, 60);
  expect(count(harness, ops, ':white_check_mark: Resolved')).toBe(1);
  expect(await harness.incidents()).toHaveLength(1);
});

test('a message that expired, or was resolved before anybody read it, is posted all the same', async () => {
  await using harness = await open();
  await fire(harness);
  harness.slack.script.fail('chat.postMessage', 'rate_limited', 13);
  await harness.look(2);
  harness.setEnabled(0, true);
  await harness.look(3);
  expect((await harness.incidents()).map(({ closedAt }) => closedAt instanceof Date)).toEqual([true]);
  await harness.db.updateTable('outbox').set({ expires_at: harness.now() }).execute();
  await harness.look(3);
  expect(count(harness, ops, ':white_check_mark: Resolved')).toBe(1);
});

test('a channel that takes no message pauses its alert, and the owner reads the incident', async () => {
  await using harness = await open();
  const alert = await fire(harness);
  Object.assign(harness.slack.world.channels.get(ops) ?? {}, { archived: true });
  await harness.look(2);
  expect((await harness.find(alert)).paused?.reason).toBe('channel-archived');
  expect(count(harness, direct)).toBe(1);
});

test('a channel that other organisations come to read pauses its alert, and its owner alone is told', async () => {
  await using harness = await open();
  const alert = await fire(harness);
  Object.assign(harness.slack.world.channels.get(ops) ?? {}, { shared: true });
  await harness.look(2);
  expect((await harness.find(alert)).paused?.reason).toBe('channel-shared');
  expect(harness.slack.as(alice.userId, ops).messages()).toEqual([]);
  expect(count(harness, direct, ':double_vertical_bar:')).toBe(1);
});
