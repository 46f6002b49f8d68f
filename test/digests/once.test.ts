import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { enqueueRun } from '../../src/digests/schedule-runs.ts';
import { sweepOutboxJob } from '../../src/outbox/deliver.ts';
import { alice, bob, createDigestHarness, type DigestHarness } from '../support/digests/harness.ts';
import { prepareEngines } from '../support/engines.ts';
import { readDigest, says } from './words.ts';

const { embedded, postgres } = await prepareEngines();
const minute = 60_000;
const hour = 60 * minute;

async function open(): Promise<DigestHarness> {
  return createDigestHarness(await embedded.emptyDatabase());
}

test('two processes at the same runs: each is posted once', async () => {
  await using desk = await open();
  const channels = ['C0OPS0000', 'C0DEPLOY0', 'C0SHARED0'];
  for (let n = 0; n < 9; n += 1) await desk.createDaily(alice, { channel: channels[n % 3] ?? '' });
  desk.advance(hour + minute);
  for (let second = 0; second < 12; second += 1) {
    await Promise.all([desk.runJobs(), desk.runJobs()]);
    desk.advance(1000);
  }
  expect(Object.values(channels.map((channel) => desk.readChannel(channel).length))).toEqual([3, 3, 3]);
  expect(desk.channelPosts()).toHaveLength(9);
});

test('a process that died while it collected: the next attempt of its job posts once', async () => {
  await using desk = await open();
  await desk.digests.runNow(await desk.createDaily(), alice);
  await desk.db.updateTable('digest_runs').set({ state: 'collecting', attempts: 1 }).execute();
  await desk.runJobs();
  expect(desk.channelPosts()).toHaveLength(1);
  expect(Object.values(await desk.runStates())).toEqual(['sent']);
});

test('an attempt that was overtaken by another one while it collected posts nothing', async () => {
  await using desk = await open();
  await desk.digests.runNow(await desk.createDaily(), alice);
  desk.cdn.faults.add({ match: { method: 'GET' }, delayMs: 500, times: 1 });
  const frozen = desk.runJobs();
  await expect.poll(() => desk.cdn.requests.length).toBe(1);
  // As another process does whose queue took this one for dead.
  const [run] = await desk.db.updateTable('digest_runs').set({ attempts: 2 }).returningAll().execute();
  await frozen;
  expect(desk.channelPosts()).toEqual([]);
  if (run) await enqueueRun(desk.queue.enqueue, run);
  await desk.runJobs();
  expect(desk.channelPosts()).toHaveLength(1);
  expect(Object.values(await desk.runStates())).toEqual(['sent']);
});

test('a process that died between the post and the record of it: the post is found, and not sent again', async () => {
  await using desk = await open();
  await desk.digests.runNow(await desk.createDaily(), alice);
  await desk.runJobs();
  const [message] = await desk.db.selectFrom('outbox').selectAll().orderBy('seq').execute();
  await desk.db
    .updateTable('outbox')
    .set({ state: 'sending', claim: 'dead', next_at: desk.now(), body: '{"text":"again"}' })
    .where('id', '=', message?.id ?? '')
    .execute();
  await desk.db.updateTable('digest_runs').set({ state: 'sending' }).execute();
  desk.advance(2 * minute);
  await sweepOutboxJob.run({}, desk.context);
  await desk.runJobs();
  expect(desk.channelPosts()).toHaveLength(1);
  expect(Object.values(await desk.runStates())).toEqual(['sent']);
});

test('a connection that breaks after Slack took the post: it is looked up, and not sent again', async () => {
  await using desk = await open();
  await desk.digests.runNow(await desk.createDaily(), alice);
  desk.slack.script.drop('chat.postMessage');
  await desk.runJobsFor(60);
  expect(desk.readChannel()).toHaveLength(1);
  expect(Object.values(await desk.runStates())).toEqual(['sent']);
  expect(desk.slack.calls.filter(({ method }) => method === 'conversations.history')).toHaveLength(1);
});

test('an answer that says nothing, and no post: it is looked up, and sent again', async () => {
  await using desk = await open();
  await desk.digests.runNow(await desk.createDaily(), alice);
  desk.slack.script.fail('chat.postMessage', 'internal_error');
  await desk.runJobsFor(60);
  expect(desk.readChannel()).toHaveLength(1);
  expect(desk.channelPosts()).toHaveLength(2);
  expect(Object.values(await desk.runStates())).toEqual(['sent']);
});

test('where the bot may not look, it does not send again: its owner is asked once, and decides', async () => {
  await using desk = await open();
  const digest = await desk.createDaily();
  await desk.digests.runNow(digest, alice);
  desk.slack.script.drop('chat.postMessage');
  desk.slack.script.fail('conversations.history', 'missing_scope', 10);
  await desk.runJobsFor(90);
  expect(desk.readChannel()).toHaveLength(1);
  expect(Object.values(await desk.runStates())).toEqual(['unknown']);
  const notices = desk.readChannel('DU0ALICE00');
  expect(notices.map((notice) => readDigest(notice, digest.id))).toMatchSnapshot();
  const [run] = await desk.db.selectFrom('digest_runs').select('due').execute();
  expect(await desk.digests.postAgain(digest, run?.due ?? new Date())).toBe(true);
  expect(await desk.digests.postAgain(digest, run?.due ?? new Date())).toBe(false);
  await desk.runJobsFor(5);
  expect(desk.readChannel()).toHaveLength(2);
  expect(Object.values(await desk.runStates())).toEqual(['sent']);
});

test('a post without an answer, and nobody for hours: what it made is made anew, and is late or too old', async () => {
  for (const { hours, note } of [
    { hours: 5, note: says.late('Mon 23 Nov 09:00', 'Mon 23 Nov 14:01') },
    { hours: 7, note: says.skipped() },
  ]) {
    await using desk = await open();
    await desk.createDaily();
    desk.advance(hour + minute);
    // Made, and nobody knows whether it was posted; nobody looks, either.
    desk.slack.script.fail('chat.postMessage', 'internal_error');
    await desk.runJobs();
    expect(Object.values(await desk.runStates())).toEqual(['sending']);
    desk.advance(hours * hour);
    await desk.runJobsFor(5);
    expect(desk.readChannel()).toEqual([expect.stringMatching(note)]);
  }
});

test('one message a second goes into a channel, by any number of workers', async () => {
  await using desk = await open();
  for (let n = 0; n < 5; n += 1) await desk.digests.runNow(await desk.createDaily(), alice);
  await Promise.all(Array.from({ length: 5 }, () => desk.runJobs()));
  expect(desk.channelPosts()).toHaveLength(1);
  await desk.runJobsFor(10);
  const at = desk.channelPosts().map((call) => call.at);
  expect(at).toHaveLength(5);
  for (const [index, moment] of at.slice(1).entries())
    expect(moment - (at[index] ?? 0)).toBeGreaterThanOrEqual(1000);
});

test('a storm of 429 delays the posts of a whole workspace, and none is lost or doubled', async () => {
  await using desk = await open();
  for (const channel of ['C0OPS0000', 'C0DEPLOY0', 'C0SHARED0']) {
    await desk.digests.runNow(await desk.createDaily(alice, { channel }), alice);
  }
  desk.slack.script.rateLimit('chat.postMessage', 30, 1);
  await desk.runJobs();
  await desk.runJobsFor(29);
  expect(desk.channelPosts()).toHaveLength(1);
  desk.slack.script.rateLimit('chat.postMessage', 5, 6);
  await desk.runJobsFor(60);
  const arrived = desk.channelPosts().filter(({ ok }) => ok);
  expect(new Set(arrived.map(({ args }) => args['channel']))).toEqual(
    new Set(['C0DEPLOY0', 'C0OPS0000', 'C0SHARED0']),
  );
  expect(arrived).toHaveLength(3);
  expect(desk.channelPosts().filter(({ ok }) => !ok)).toHaveLength(7);
});

test.skipIf(postgres.skip)(
  'a run that several ask for at once, from any replica, is one run, and the others hear that it is on its way',
  async () => {
    await using desk = await createDigestHarness(await postgres.emptyDatabase());
    const { db } = desk;
    const digest = await desk.createDaily();
    let at = desk.now().getTime();
    // Each press has a moment of its own, so that only the lock keeps them apart.
    const now = (): Date => new Date((at += 1));
    const service = desk.createService({ now });
    const presses = 4;
    const pressed = await db.transaction().execute(async (trx) => {
      // Everybody may look, nobody may write: all have looked before the first writes, unless they wait to look.
      await sql`lock table digest_runs in share row exclusive mode`.execute(trx);
      const all = Array.from({ length: presses }, async (_, index) =>
        service.runNow(digest, index % 2 === 0 ? alice : bob),
      );
      const waiting = sql<{ many: number }>`select count(*) as many from pg_locks where not granted`;
      await expect
        .poll(async () => Number((await waiting.execute(trx)).rows[0]?.many), { timeout: 20_000 })
        .toBe(presses);
      return { all };
    });
    expect((await Promise.all(pressed.all)).filter(Boolean)).toHaveLength(1);
    desk.advance(1_000);
    await desk.runJobs();
    expect(desk.readChannel()).toHaveLength(1);
  },
);

test('once it is posted others may ask at once, and whoever asked for it some seconds later', async () => {
  await using desk = await open();
  const digest = await desk.createDaily();
  expect(await desk.digests.runNow(digest, alice)).toBe(true);
  desk.advance(1_000);
  expect(await desk.digests.runNow(digest, bob)).toBe(false);
  await desk.runJobs();
  expect(await desk.digests.runNow(digest, alice)).toBe(false);
  expect(await desk.digests.runNow(digest, bob)).toBe(true);
  await desk.runJobsFor(10);
  expect(await desk.digests.runNow(digest, alice)).toBe(true);
  await desk.runJobsFor(5);
  expect(desk.readChannel()).toHaveLength(3);
});
