import { expect, test } from 'vitest';
import { Secret } from '../../../../src/secrets/secret.ts';
import type { Alert } from '../../../../src/views/reports/report.ts';
import { type AlertHarness, createAlertHarness } from '../../../support/alerts/harness.ts';
import { alice, bob } from '../../../support/digests/harness.ts';
import { prepareEngines } from '../../../support/engines.ts';

const { embedded } = await prepareEngines();
const channel = 'C0OPS0000';
const direct = 'DU0ALICE00';

async function open(): Promise<AlertHarness> {
  return createAlertHarness(await embedded.emptyDatabase());
}

/** The incidents of the channel as they are shown now. */
function readIncidents({ slack }: AlertHarness): string[] {
  const messages = slack.as(bob.userId, channel).messages();
  return messages.filter(({ threadTs }) => threadTs === undefined).map(({ reads }) => reads);
}

test('a CDN that asks for a pause invents no incident, and is told once', async () => {
  await using harness = await open();
  const alert = await harness.createAlert();
  await harness.look();
  harness.cdn.faults.add({ match: { method: 'GET' }, status: 429, retryAfter: 900, times: Infinity });
  await harness.look(6);
  expect((await harness.incidents()).map(({ kind }) => kind)).toEqual(['unreadable']);
  expect(readIncidents(harness)).toHaveLength(1);
  harness.cdn.faults.clear();
  await harness.look(2);
  expect((await harness.incidents()).map(({ closedAt }) => closedAt instanceof Date)).toEqual([true]);
  expect((await harness.find(alert)).paused).toBeUndefined();
  expect(readIncidents(harness)).toHaveLength(1);
});

test('while Slack refuses edits they are put together, and the newest state is shown in the end', async () => {
  await using harness = await open();
  await harness.createAlert();
  harness.setEnabled(0, false);
  await harness.look();
  const edits = () => harness.slack.calls.filter(({ method }) => method === 'chat.update').length;
  const before = edits();
  harness.slack.script.rateLimit('chat.update', 15 * 60);
  harness.setEnabled(1, false);
  await harness.look(2);
  harness.setEnabled(0, true);
  harness.setEnabled(1, true);
  await harness.look(4);
  const [incident, ...others] = await harness.incidents();
  expect(others).toEqual([]);
  expect(incident?.closedAt).toBeInstanceOf(Date);
  expect(readIncidents(harness)).toEqual([expect.stringMatching(/^:white_check_mark: Resolved/u)]);
  // Six looks changed it; the refused edit and few more did it.
  expect(edits() - before).toBeLessThanOrEqual(5);
});

const pauses: readonly {
  readonly why: string;
  readonly breaks: (harness: AlertHarness) => unknown;
  readonly reason: string;
  readonly mends?: (harness: AlertHarness) => unknown;
}[] = [
  {
    why: 'its channel was archived',
    breaks: ({ slack }) => Object.assign(slack.world.channels.get(channel) ?? {}, { archived: true }),
    reason: 'channel-archived',
    mends: ({ slack }) => Object.assign(slack.world.channels.get(channel) ?? {}, { archived: false }),
  },
  {
    why: 'its owner was deactivated',
    async breaks({ keyStore, pauseFor }) {
      await keyStore.forget(alice);
      await pauseFor({ person: alice, tenant: 'T0ACME000' });
    },
    reason: 'owner-gone',
  },
];

test.each(pauses)(
  '$why: it pauses, says so once, and runs on with the key of who takes it over',
  async (one) => {
    await using harness = await open();
    await harness.keyStore.link(bob, new Secret(harness.cdn.restrictedKey));
    const alert = await harness.createAlert();
    await harness.look();
    await one.breaks(harness);
    harness.setEnabled(0, false);
    await harness.look(4);
    const paused = await harness.find(alert);
    expect(paused.paused?.reason).toBe(one.reason);
    const notices = harness.slack.as(
      one.mends ? alice.userId : bob.userId,
      one.mends ? 'DU0ALICE00' : channel,
    );
    const about = notices.messages().filter(({ reads }) => reads.includes(alert.id));
    // The incident itself, which the owner reads where its channel takes no message, is no notice.
    expect(about.filter(({ reads }) => !reads.startsWith(':rotating_light:'))).toHaveLength(1);

    await one.mends?.(harness);
    await harness.reports.takeOver(paused, bob);
    const asked = harness.cdn.requests.length;
    await harness.look(2);
    const requests = harness.cdn.requests.slice(asked);
    expect(new Set(requests.map((request) => request.key))).toEqual(new Set(['restricted']));
    const still = (await harness.incidents()).filter(({ closedAt }) => closedAt === undefined);
    expect(still).toHaveLength(1);
    expect(readIncidents(harness).filter((text) => text.startsWith(':rotating_light:'))).toHaveLength(1);
  },
);

test('an incident whose message a person deleted ends all the same, and is not posted again', async () => {
  await using harness = await open();
  const alert: Alert = await harness.createAlert();
  harness.setEnabled(0, false);
  await harness.look();
  harness.slack.script.fail('chat.update', 'message_not_found', 99);
  harness.setEnabled(1, false);
  await harness.look(2);
  harness.setEnabled(0, true);
  harness.setEnabled(1, true);
  await harness.look(4);
  const [incident, ...others] = await harness.incidents();
  expect(others).toEqual([]);
  expect(incident?.closedAt).toBeInstanceOf(Date);
  expect(readIncidents(harness)).toHaveLength(1);
  expect((await harness.find(alert)).paused).toBeUndefined();
});

test('an alert that was moved before its message was refused speaks in the other channel, and is not paused', async () => {
  await using harness = await open();
  const alert = await harness.createAlert();
  harness.slack.script.rateLimit('chat.postMessage', 10 * 60);
  harness.setEnabled(0, false);
  await harness.look();
  Object.assign(harness.slack.world.channels.get(channel) ?? {}, { archived: true });
  const found = await harness.find(alert);
  await harness.reports.change(found, { ...found, channel: 'C0DEPLOY0' }, alice);
  await harness.look(4);
  expect((await harness.find(alert)).paused).toBeUndefined();
  expect(harness.readChannel('C0DEPLOY0')).toHaveLength(1);
});

/** How often an incident stands in a conversation, not in its threads. */
function count({ slack }: AlertHarness, place: string, sign = ':rotating_light:'): number {
  const messages = slack.as(alice.userId, place).messages();
  return messages.filter(({ reads, threadTs }) => threadTs === undefined && reads.startsWith(sign)).length;
}

async function fire(harness: AlertHarness, subject = {}, place = channel): Promise<Alert> {
  const alert = await harness.createAlert(subject, place);
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
    expect(count(harness, channel)).toBe(1);
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
  expect(count(harness, channel)).toBe(0);
  expect(count(harness, direct)).toBe(1);
  expect((await harness.find(alert)).paused).toBeUndefined();
});

test('a message that its channel refuses as it is: its words are tried, then the owner gets it', async () => {
  await using harness = await open();
  await fire(harness);
  harness.slack.script.fail('chat.postMessage', 'invalid_blocks');
  await harness.look();
  expect(count(harness, channel)).toBe(1);
  await fire(harness);
  harness.slack.script.fail('chat.postMessage', 'invalid_blocks', 2);
  await harness.look();
  expect([count(harness, channel), count(harness, direct)]).toEqual([1, 1]);
});

test('a message that every place refused is posted by the next check, and the log says that it was not read', async () => {
  await using harness = await open();
  // An hourly check: what nobody has read does not wait for it.
  await fire(harness, { every: 60 });
  harness.slack.script.fail('chat.postMessage', 'invalid_blocks', 4);
  await harness.runJobsFor(3600 + 60, 20);
  expect([count(harness, channel), count(harness, direct)]).toEqual([0, 0]);
  expect(harness.log.entries.map(({ message }) => message)).toContain('alert could not be posted');
  await harness.look(2);
  expect([count(harness, channel), count(harness, direct)]).toEqual([1, 0]);
  harness.setEnabled(0, true);
  await harness.runJobsFor(3 * 3600, 60);
  expect(count(harness, channel, ':white_check_mark: Resolved')).toBe(1);
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
  expect(count(harness, channel, ':white_check_mark: Resolved')).toBe(1);
});

test('a channel that takes no message pauses its alert, and the owner reads the incident', async () => {
  await using harness = await open();
  const alert = await fire(harness);
  Object.assign(harness.slack.world.channels.get(channel) ?? {}, { archived: true });
  await harness.look(2);
  expect((await harness.find(alert)).paused?.reason).toBe('channel-archived');
  expect(count(harness, direct)).toBe(1);
});

test('a channel that other organisations come to read pauses its alert, and its owner alone is told', async () => {
  await using harness = await open();
  const alert = await fire(harness);
  Object.assign(harness.slack.world.channels.get(channel) ?? {}, { shared: true });
  await harness.look(2);
  expect((await harness.find(alert)).paused?.reason).toBe('channel-shared');
  expect(harness.slack.as(alice.userId, channel).messages()).toEqual([]);
  expect(count(harness, direct, ':double_vertical_bar:')).toBe(1);
});
