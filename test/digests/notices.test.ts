import { expect, test } from 'vitest';
import { reconcileDigestsJob } from '../../src/digests/jobs.ts';
import { alice, createDigestHarness, type DigestHarness } from '../support/digests/harness.ts';
import { prepareEngines } from '../support/engines.ts';
import { logged, says } from './words.ts';

const { embedded, postgres } = await prepareEngines();
const minute = 60_000;
const hour = 60 * minute;

async function open(): Promise<DigestHarness> {
  return createDigestHarness(await embedded.emptyDatabase());
}

/** Pauses what Alice owns. */
async function pauseAll({ digests }: DigestHarness): Promise<void> {
  await digests.pauseFor({ person: alice, tenant: 'T0ACME000' });
}

async function noticeStates({ db }: DigestHarness): Promise<(string | null)[]> {
  const rows = await db.selectFrom('digests').select('pause_notice').execute();
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
    await using desk = await createDigestHarness(await engine.emptyDatabase());
    const channels = ['C0OPS0000', 'C0DEPLOY0', 'C0SHARED0'];
    for (let n = 0; n < 6; n += 1) await desk.createDaily(alice, { channel: channels[n % 3] ?? '' });
    await pauseAll(desk);
    for (let times = 0; times < 4; times += 1) {
      await Promise.all([desk.runJobs(), desk.runJobs(), desk.runJobs()]);
      desk.advance(minute);
    }
    for (const channel of channels) expect(desk.readChannel(channel)).toEqual([isPaused, isPaused]);
    expect(desk.channelPosts()).toHaveLength(6);
    expect(new Set(await noticeStates(desk))).toEqual(new Set(['told']));
  },
);

test('while one process sends the notice, however slowly, another one leaves it alone', async () => {
  await using desk = await open();
  await desk.createDaily();
  await pauseAll(desk);
  const held = desk.slack.script.hold('chat.postMessage', 'before');
  const slow = desk.runJobs();
  await held.reached;
  await desk.runJobs();
  held.release();
  await slow;
  expect(desk.readChannel()).toEqual([isPaused]);
  expect(await noticeStates(desk)).toEqual(['told']);
});

test('an answer that gets lost: in a channel it is looked for, in direct messages it counts as sent', async () => {
  await using desk = await open();
  const digest = await desk.createDaily();
  await pauseAll(desk);
  desk.slack.script.drop('chat.postMessage');
  await desk.runJobs();
  expect(await noticeStates(desk)).toEqual(['sending']);
  await desk.runJobsFor(30, 10);
  expect(desk.readChannel()).toEqual([isPaused]);
  expect(desk.channelPosts()).toHaveLength(1);
  expect(await noticeStates(desk)).toEqual(['told']);

  const resumed = await desk.digests.find('T0ACME000', digest.id);
  if (resumed) await desk.digests.resume(resumed, alice);
  const ops = desk.slack.world.channels.get('C0OPS0000');
  if (ops) ops.botIsMember = false;
  desk.advance(hour);
  desk.slack.script.fail('chat.postMessage', 'not_in_channel', 2);
  desk.slack.script.drop('chat.postMessage');
  await desk.runJobsFor(3 * 60, 10);
  expect(desk.readChannel('DU0ALICE00')).toEqual([expect.stringMatching(says.paused('bot-removed'))]);
  expect(await noticeStates(desk)).toEqual(['told']);
});

test('Slack asks for a pause: the notice follows, once', async () => {
  await using desk = await open();
  await desk.createDaily();
  await pauseAll(desk);
  desk.slack.script.rateLimit('chat.postMessage', 50);
  await desk.runJobsFor(49);
  expect(desk.channelPosts()).toHaveLength(1);
  await desk.runJobsFor(5);
  expect(desk.readChannel()).toEqual([isPaused]);
  expect(await noticeStates(desk)).toEqual(['told']);
});

test('the token is void: the hourly reconciliation announces the pause once it works again', async () => {
  await using desk = await open();
  await desk.createDaily();
  await pauseAll(desk);
  desk.slack.script.fail('chat.postMessage', 'token_revoked');
  await desk.runJobsFor(5);
  expect(await noticeStates(desk)).toEqual(['waiting']);
  expect(desk.channelPosts()).toHaveLength(1);
  desk.advance(hour);
  await reconcileDigestsJob.run({}, desk.context);
  await desk.runJobs();
  expect(desk.readChannel()).toEqual([isPaused]);
  expect(await noticeStates(desk)).toEqual(['told']);
});

test('where nobody can be told it is not tried again and again, and its row and the log say so', async () => {
  await using desk = await open();
  await desk.createDaily();
  await pauseAll(desk);
  archiveChannel(desk);
  for (let times = 0; times < 3; times += 1) {
    await reconcileDigestsJob.run({}, desk.context);
    await desk.runJobs();
    desk.advance(hour);
  }
  expect(desk.channelPosts()).toHaveLength(1);
  expect(await noticeStates(desk)).toEqual(['nobody']);
  expect(desk.log.entries.map(({ message }) => message)).toContain(logged.nobodyTold);
});

test('an owner who cannot be told of the reinstallation: each digest is announced in its channel', async () => {
  await using desk = await open();
  for (const channel of ['C0OPS0000', 'C0DEPLOY0']) await desk.createDaily(alice, { channel });
  await desk.digests.pauseFor({ person: undefined, tenant: 'T0ACME000' });
  await desk.runJobs();
  expect(desk.channelPosts()).toEqual([]);
  desk.slack.script.fail('chat.postMessage', 'user_disabled');
  await reconcileDigestsJob.run({ tenant: 'T0ACME000' }, desk.context);
  await desk.runJobsFor(5);
  for (const channel of ['C0OPS0000', 'C0DEPLOY0'])
    expect(desk.readChannel(channel)).toEqual([expect.stringMatching(says.paused('uninstalled'))]);
  expect(await noticeStates(desk)).toEqual(['told', 'told']);
});

test('a digest that runs again before anybody was told of its pause is not announced', async () => {
  await using desk = await open();
  const digest = await desk.createDaily();
  await pauseAll(desk);
  const paused = await desk.digests.find('T0ACME000', digest.id);
  if (!paused) throw new Error('it is gone');
  await desk.digests.resume(paused, alice);
  await desk.runJobs();
  expect(desk.channelPosts()).toEqual([]);
});
