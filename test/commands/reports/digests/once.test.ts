import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { enqueueRun } from '../../../../src/commands/reports/store.ts';
import { sweepOutboxJob } from '../../../../src/outbox/deliver.ts';
import { alice, bob, createDigestHarness, type DigestHarness } from '../../../support/digests/harness.ts';
import { prepareEngines } from '../../../support/engines.ts';
import { readDigest, says } from './words.ts';

const { embedded, postgres } = await prepareEngines();
const minute = 60_000;
const hour = 60 * minute;

async function open(): Promise<DigestHarness> {
  return createDigestHarness(await embedded.emptyDatabase());
}

test('two processes at the same runs: each is posted once', async () => {
  await using harness = await open();
  const channels = ['C0OPS0000', 'C0DEPLOY0', 'C0RANDOM0'];
  for (let n = 0; n < 9; n += 1) await harness.createDaily(alice, { channel: channels[n % 3] ?? '' });
  harness.advance(hour + minute);
  for (let second = 0; second < 12; second += 1) {
    await Promise.all([harness.runJobs(), harness.runJobs()]);
    harness.advance(1000);
  }
  expect(Object.values(channels.map((channel) => harness.readChannel(channel).length))).toEqual([3, 3, 3]);
  expect(harness.channelPosts()).toHaveLength(9);
});

test('a process that died while it collected: the next attempt of its job posts once', async () => {
  await using harness = await open();
  await harness.reports.runNow(await harness.createDaily(), alice);
  await harness.db.updateTable('report_runs').set({ state: 'collecting', attempts: 1 }).execute();
  await harness.runJobs();
  expect(harness.channelPosts()).toHaveLength(1);
  expect(Object.values(await harness.runStates())).toEqual(['sent']);
});

test('an attempt that was overtaken by another one while it collected posts nothing', async () => {
  await using harness = await open();
  await harness.reports.runNow(await harness.createDaily(), alice);
  harness.cdn.faults.add({ match: { method: 'GET' }, delayMs: 500, times: 1 });
  const frozen = harness.runJobs();
  await expect.poll(() => harness.cdn.requests.length).toBe(1);
  // As another process does whose queue took this one for dead.
  const [run] = await harness.db.updateTable('report_runs').set({ attempts: 2 }).returningAll().execute();
  await frozen;
  expect(harness.channelPosts()).toEqual([]);
  if (run) await enqueueRun(harness.queue.enqueue, run);
  await harness.runJobs();
  expect(harness.channelPosts()).toHaveLength(1);
  expect(Object.values(await harness.runStates())).toEqual(['sent']);
});

test('a process that died between the post and the record of it: the post is found, and not sent again', async () => {
  await using harness = await open();
  await harness.reports.runNow(await harness.createDaily(), alice);
  await harness.runJobs();
  const [message] = await harness.db.selectFrom('outbox').selectAll().orderBy('seq').execute();
  await harness.db
    .updateTable('outbox')
    .set({ state: 'sending', claim: 'dead', next_at: harness.now(), body: '{"text":"again"}' })
    .where('id', '=', message?.id ?? '')
    .execute();
  await harness.db.updateTable('report_runs').set({ state: 'sending' }).execute();
  harness.advance(2 * minute);
  await sweepOutboxJob.run({}, harness.context);
  await harness.runJobs();
  expect(harness.channelPosts()).toHaveLength(1);
  expect(Object.values(await harness.runStates())).toEqual(['sent']);
});

test('a connection that breaks after Slack took the post: it is looked up, and not sent again', async () => {
  await using harness = await open();
  await harness.reports.runNow(await harness.createDaily(), alice);
  harness.slack.script.drop('chat.postMessage');
  await harness.runJobsFor(60);
  expect(harness.readChannel()).toHaveLength(1);
  expect(Object.values(await harness.runStates())).toEqual(['sent']);
  expect(harness.slack.calls.filter(({ method }) => method === 'conversations.history')).toHaveLength(1);
});

test('an answer that says nothing, and no post: it is looked up, and sent again', async () => {
  await using harness = await open();
  await harness.reports.runNow(await harness.createDaily(), alice);
  harness.slack.script.fail('chat.postMessage', 'internal_error');
  await harness.runJobsFor(60);
  expect(harness.readChannel()).toHaveLength(1);
  expect(harness.channelPosts()).toHaveLength(2);
  expect(Object.values(await harness.runStates())).toEqual(['sent']);
});

test('where the bot may not look, it does not send again: its owner is asked once, and decides', async () => {
  await using harness = await open();
  const digest = await harness.createDaily();
  await harness.reports.runNow(digest, alice);
  harness.slack.script.drop('chat.postMessage');
  harness.slack.script.fail('conversations.history', 'missing_scope', 10);
  await harness.runJobsFor(90);
  expect(harness.readChannel()).toHaveLength(1);
  expect(Object.values(await harness.runStates())).toEqual(['unknown']);
  const notices = harness.readChannel('DU0ALICE00');
  expect(notices.map((notice) => readDigest(notice, digest.id))).toMatchSnapshot();
  const [run] = await harness.db.selectFrom('report_runs').select('due').execute();
  expect(await harness.reports.postAgain(digest, run?.due ?? new Date())).toBe(true);
  expect(await harness.reports.postAgain(digest, run?.due ?? new Date())).toBe(false);
  await harness.runJobsFor(5);
  expect(harness.readChannel()).toHaveLength(2);
  expect(Object.values(await harness.runStates())).toEqual(['sent']);
});

test('a post without an answer, and nobody for hours: what it made is made anew, and is late or too old', async () => {
  for (const { hours, note } of [
    { hours: 5, note: says.late('Mon 23 Nov 09:00', 'Mon 23 Nov 14:01') },
    { hours: 7, note: says.skipped() },
  ]) {
    await using harness = await open();
    await harness.createDaily();
    harness.advance(hour + minute);
    // Made, and nobody knows whether it was posted; nobody looks, either.
    harness.slack.script.fail('chat.postMessage', 'internal_error');
    await harness.runJobs();
    expect(Object.values(await harness.runStates())).toEqual(['sending']);
    harness.advance(hours * hour);
    await harness.runJobsFor(5);
    expect(harness.readChannel()).toEqual([expect.stringMatching(note)]);
  }
});

test('one message a second goes into a channel, by any number of workers', async () => {
  await using harness = await open();
  for (let n = 0; n < 5; n += 1) await harness.reports.runNow(await harness.createDaily(), alice);
  await Promise.all(Array.from({ length: 5 }, () => harness.runJobs()));
  expect(harness.channelPosts()).toHaveLength(1);
  await harness.runJobsFor(10);
  const at = harness.channelPosts().map((call) => call.at);
  expect(at).toHaveLength(5);
  for (const [index, moment] of at.slice(1).entries())
    expect(moment - (at[index] ?? 0)).toBeGreaterThanOrEqual(1000);
});

test('a storm of 429 delays the posts of a whole workspace, and none is lost or doubled', async () => {
  await using harness = await open();
  for (const channel of ['C0OPS0000', 'C0DEPLOY0', 'C0RANDOM0']) {
    await harness.reports.runNow(await harness.createDaily(alice, { channel }), alice);
  }
  harness.slack.script.rateLimit('chat.postMessage', 30, 1);
  await harness.runJobs();
  await harness.runJobsFor(29);
  expect(harness.channelPosts()).toHaveLength(1);
  harness.slack.script.rateLimit('chat.postMessage', 5, 6);
  await harness.runJobsFor(60);
  const arrived = harness.channelPosts().filter(({ ok }) => ok);
  expect(new Set(arrived.map(({ args }) => args['channel']))).toEqual(
    new Set(['C0DEPLOY0', 'C0OPS0000', 'C0RANDOM0']),
  );
  expect(arrived).toHaveLength(3);
  expect(harness.channelPosts().filter(({ ok }) => !ok)).toHaveLength(7);
});

test.skipIf(postgres.skip)(
  'a run that several ask for at once, from any replica, is one run, and the others hear that it is on its way',
  async () => {
    await using harness = await createDigestHarness(await postgres.emptyDatabase());
    const { db } = harness;
    const digest = await harness.createDaily();
    let at = harness.now().getTime();
    // Each press has a moment of its own, so that only the lock keeps them apart.
    const now = (): Date => new Date((at += 1));
    const service = harness.createService({ now });
    const presses = 4;
    const pressed = await db.transaction().execute(async (trx) => {
      // Everybody may look, nobody may write: all have looked before the first writes, unless they wait to look.
      await sql`lock table report_runs in share row exclusive mode`.execute(trx);
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
    harness.advance(1_000);
    await harness.runJobs();
    expect(harness.readChannel()).toHaveLength(1);
  },
);

test('once it is posted others may ask at once, and whoever asked for it some seconds later', async () => {
  await using harness = await open();
  const digest = await harness.createDaily();
  expect(await harness.reports.runNow(digest, alice)).toBe(true);
  harness.advance(1_000);
  expect(await harness.reports.runNow(digest, bob)).toBe(false);
  await harness.runJobs();
  expect(await harness.reports.runNow(digest, alice)).toBe(false);
  expect(await harness.reports.runNow(digest, bob)).toBe(true);
  await harness.runJobsFor(10);
  expect(await harness.reports.runNow(digest, alice)).toBe(true);
  await harness.runJobsFor(5);
  expect(harness.readChannel()).toHaveLength(3);
});
