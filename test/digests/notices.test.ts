import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { notifyPausesJob } from '../../src/digests/pause-notifications.ts';
import { createDigestService } from '../../src/digests/service.ts';
import { prepareEngines } from '../support/engines.ts';
import { alice, createDigestHarness, type DigestHarness } from './harness.ts';

const { embedded, postgres } = await prepareEngines();
const minute = 60_000;

async function open(): Promise<DigestHarness> {
  return createDigestHarness(await embedded.emptyDatabase());
}

/** Stops what Alice owns, and the job that is to tell of it is lost. */
async function stop({ db, audit, now }: DigestHarness): Promise<void> {
  const book = createDigestService({ db, audit, now, enqueue: async () => randomUUID() });
  await book.pauses({ person: alice, tenant: 'T0ACME000' });
}

/** As the queue does every minute. */
async function sweep({ context }: DigestHarness): Promise<void> {
  await notifyPausesJob.run({}, context);
}

async function told({ db }: DigestHarness): Promise<(string | null)[]> {
  const rows = await db.selectFrom('digests').select('paused_told').execute();
  return rows.map(({ paused_told: state }) => state);
}

const isPaused = expect.stringMatching(/is paused: its owner has left[\s\S]*Take over/);

test.each([embedded, postgres].filter(({ skip }) => !skip))(
  'whatever becomes of the job that was to tell, the next minute tells each of them once, by any number of processes, on $name',
  async (engine) => {
    await using desk = await createDigestHarness(await engine.emptyDatabase());
    const channels = ['C0OPS0000', 'C0DEPLOY0', 'C0SHARED0'];
    for (let n = 0; n < 6; n += 1) await desk.createDaily(alice, { channel: channels[n % 3] ?? '' });
    await stop(desk);
    for (let times = 0; times < 4; times += 1) {
      await Promise.all([sweep(desk), sweep(desk), sweep(desk)]);
      desk.advance(minute);
    }
    for (const channel of channels) expect(desk.readChannel(channel)).toEqual([isPaused, isPaused]);
    expect(desk.channelPosts()).toHaveLength(6);
    expect(new Set(await told(desk))).toEqual(new Set(['yes']));
  },
);

test('while one process tells, however slowly, another one leaves it alone', async () => {
  await using desk = await open();
  await desk.createDaily();
  await stop(desk);
  const held = desk.slack.script.hold('chat.postMessage', 'before');
  const slow = sweep(desk);
  await held.reached;
  desk.advance(minute);
  await sweep(desk);
  held.release();
  await slow;
  expect(desk.readChannel()).toEqual([isPaused]);
  expect(await told(desk)).toEqual(['yes']);
});

test('a process that died while it told, before the post or behind it: another one looks, and there is one message', async () => {
  for (const arrived of [false, true]) {
    await using desk = await open();
    await desk.createDaily();
    await stop(desk);
    if (arrived) await sweep(desk);
    await desk.db.updateTable('digests').set({ paused_told: 'telling 0' }).execute();
    // It holds it for two minutes.
    desk.advance(3 * minute);
    await sweep(desk);
    expect(desk.readChannel()).toEqual([isPaused]);
    expect(desk.channelPosts()).toHaveLength(1);
    expect(await told(desk)).toEqual(['yes']);
  }
});

test('an answer that gets lost: in a channel it is looked for, in direct messages it counts as taken', async () => {
  await using desk = await open();
  const digest = await desk.createDaily();
  await stop(desk);
  desk.slack.script.drop('chat.postMessage');
  await sweep(desk);
  expect(await told(desk)).toEqual(['telling 0']);
  desk.advance(minute);
  await sweep(desk);
  expect(desk.channelPosts()).toHaveLength(1);
  expect(await told(desk)).toEqual(['yes']);

  await desk.db
    .updateTable('digests')
    .set({ paused: 'bot-removed', paused_told: 'no', revision: digest.revision + 2 })
    .execute();
  const ops = desk.slack.world.channels.get('C0OPS0000');
  if (ops) ops.botIsMember = false;
  desk.slack.script.fail('chat.postMessage', 'not_in_channel');
  desk.slack.script.drop('chat.postMessage');
  for (let times = 0; times < 3; times += 1) {
    await sweep(desk);
    desk.advance(minute);
  }
  expect(desk.readChannel('DU0ALICE00')).toEqual([
    expect.stringMatching(/the bot was removed from its channel/),
  ]);
  expect(await told(desk)).toEqual(['yes']);
});

test('Slack asks for a pause, or knows no token: it is told afterwards, once', async () => {
  await using desk = await open();
  await desk.createDaily();
  await stop(desk);
  desk.slack.script.rateLimit('chat.postMessage', 50);
  await sweep(desk);
  desk.advance(49_000);
  await sweep(desk);
  expect(desk.channelPosts()).toHaveLength(1);
  desk.slack.script.fail('chat.postMessage', 'token_revoked');
  desk.advance(2_000);
  await sweep(desk);
  desk.advance(30 * minute);
  await sweep(desk);
  expect(desk.channelPosts()).toHaveLength(2);
  desk.advance(31 * minute);
  await sweep(desk);
  expect(desk.readChannel()).toEqual([isPaused]);
  expect(await told(desk)).toEqual(['yes']);
});

test('where nobody can be told it is not tried again and again, and its row says so', async () => {
  await using desk = await open();
  await desk.createDaily();
  await stop(desk);
  const ops = desk.slack.world.channels.get('C0OPS0000');
  if (ops) ops.archived = true;
  for (let times = 0; times < 3; times += 1) {
    await sweep(desk);
    desk.advance(minute);
  }
  expect(desk.channelPosts()).toHaveLength(1);
  expect(await told(desk)).toEqual(['nobody']);
  expect(desk.log.entries.map(({ message }) => message)).toContain(
    'nobody could be told that a digest was paused',
  );
});

test('a digest that runs again before anybody was told of its stop is not told of', async () => {
  await using desk = await open();
  const digest = await desk.createDaily();
  await stop(desk);
  const stopped = await desk.digests.find('T0ACME000', digest.id);
  if (!stopped) throw new Error('it is gone');
  await desk.digests.resume(stopped, alice);
  await sweep(desk);
  expect(desk.channelPosts()).toEqual([]);
});
