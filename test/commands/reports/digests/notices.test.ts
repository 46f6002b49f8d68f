import { expect, test } from 'vitest';
import { reconcileReportsJob } from '../../../../src/commands/reports/runner.ts';
import { alice, createDigestHarness, type DigestHarness } from '../../../support/digests/harness.ts';
import { prepareEngines } from '../../../support/engines.ts';
import { logged, says } from './words.ts';

const { embedded, postgres } = await prepareEngines();
const minute = 60_000;
const hour = 60 * minute;

async function open(): Promise<DigestHarness> {
  return createDigestHarness(await embedded.emptyDatabase());
}

/** Pauses what Alice owns. */
async function pauseAll({ pauseFor }: DigestHarness): Promise<void> {
  await pauseFor({ person: alice, tenant: 'T0ACME000' });
}

async function noticeStates({ db }: DigestHarness): Promise<(string | null)[]> {
  const rows = await db.selectFrom('reports').select('pause_notice').execute();
  return rows.map(({ pause_notice: state }) => state);
}

const isPaused = expect.stringMatching(says.paused('owner-gone'));

function archiveChannel({ slack }: DigestHarness): void {
  const ops = slack.world.channels.get('C0OPS0000');
  if (ops) ops.archived = true;
}

test.each([embedded, postgres].filter(({ skip }) => !skip))(
  'each pause is announced once, by any number of processes, on $name',
  async (engine) => {
    await using harness = await createDigestHarness(await engine.emptyDatabase());
    const channels = ['C0OPS0000', 'C0DEPLOY0', 'C0RANDOM0'];
    for (let n = 0; n < 6; n += 1) await harness.createDaily(alice, { channel: channels[n % 3] ?? '' });
    await pauseAll(harness);
    for (let times = 0; times < 4; times += 1) {
      await Promise.all([harness.runJobs(), harness.runJobs(), harness.runJobs()]);
      harness.advance(minute);
    }
    for (const channel of channels) expect(harness.readChannel(channel)).toEqual([isPaused, isPaused]);
    expect(harness.channelPosts()).toHaveLength(6);
  },
);

test('while one process sends the notice, however slowly, another one leaves it alone', async () => {
  await using harness = await open();
  await harness.createDaily();
  await pauseAll(harness);
  const held = harness.slack.script.hold('chat.postMessage', 'before');
  const slow = harness.runJobs();
  await held.reached;
  await harness.runJobs();
  held.release();
  await slow;
  expect(harness.readChannel()).toEqual([isPaused]);
});

test('an answer that gets lost: in a channel it is looked for, in direct messages it counts as sent', async () => {
  await using harness = await open();
  const digest = await harness.createDaily();
  await pauseAll(harness);
  harness.slack.script.drop('chat.postMessage');
  await harness.runJobs();
  await harness.runJobsFor(30, 10);
  expect(harness.readChannel()).toEqual([isPaused]);
  expect(harness.channelPosts()).toHaveLength(1);

  const resumed = await harness.reports.find('T0ACME000', digest.id);
  if (resumed) await harness.reports.resume(resumed, alice);
  const ops = harness.slack.world.channels.get('C0OPS0000');
  if (ops) ops.botIsMember = false;
  harness.advance(hour);
  harness.slack.script.fail('chat.postMessage', 'not_in_channel', 2);
  harness.slack.script.drop('chat.postMessage');
  await harness.runJobsFor(3 * 60, 10);
  expect(harness.readChannel('DU0ALICE00')).toEqual([expect.stringMatching(says.paused('bot-removed'))]);
});

test('Slack asks for a pause: the notice follows, once', async () => {
  await using harness = await open();
  await harness.createDaily();
  await pauseAll(harness);
  harness.slack.script.rateLimit('chat.postMessage', 50);
  await harness.runJobsFor(49);
  expect(harness.channelPosts()).toHaveLength(1);
  await harness.runJobsFor(5);
  expect(harness.readChannel()).toEqual([isPaused]);
});

test('the token is void: the hourly reconciliation announces the pause once it works again', async () => {
  await using harness = await open();
  await harness.createDaily();
  await pauseAll(harness);
  harness.slack.script.fail('chat.postMessage', 'token_revoked');
  await harness.runJobsFor(5);
  expect(await noticeStates(harness)).toEqual(['waiting']);
  expect(harness.channelPosts()).toHaveLength(1);
  harness.advance(hour);
  await reconcileReportsJob.run({}, harness.context);
  await harness.runJobs();
  expect(harness.readChannel()).toEqual([isPaused]);
});

test('where nobody can be told it is not tried again and again, and its row and the log say so', async () => {
  await using harness = await open();
  await harness.createDaily();
  await pauseAll(harness);
  archiveChannel(harness);
  for (let times = 0; times < 3; times += 1) {
    await reconcileReportsJob.run({}, harness.context);
    await harness.runJobs();
    harness.advance(hour);
  }
  expect(harness.channelPosts()).toHaveLength(1);
  expect(harness.log.entries.map(({ message }) => message)).toContain(logged.nobodyTold);
});

test('the app is back: each pause is announced in its channel, once', async () => {
  await using harness = await open();
  for (const channel of ['C0OPS0000', 'C0DEPLOY0']) await harness.createDaily(alice, { channel });
  await harness.pauseFor({ person: undefined, tenant: 'T0ACME000' });
  await harness.runJobs();
  expect(harness.channelPosts()).toEqual([]);
  for (let times = 0; times < 2; times += 1) {
    await reconcileReportsJob.run({}, harness.context);
    await harness.runJobsFor(5);
  }
  for (const channel of ['C0OPS0000', 'C0DEPLOY0'])
    expect(harness.readChannel(channel)).toEqual([expect.stringMatching(says.paused('uninstalled'))]);
});

test('a digest that runs again before anybody was told of its pause is not announced', async () => {
  await using harness = await open();
  const digest = await harness.createDaily();
  await pauseAll(harness);
  const paused = await harness.reports.find('T0ACME000', digest.id);
  if (!paused) throw new Error('it is gone');
  await harness.reports.resume(paused, alice);
  await harness.runJobs();
  expect(harness.channelPosts()).toEqual([]);
});
