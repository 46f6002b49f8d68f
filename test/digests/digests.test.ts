import { expect, test } from 'vitest';
import { reconcileDigestsJob } from '../../src/digests/jobs.ts';
import { alice, bob, createDigestHarness, type DigestHarness } from '../support/digests/harness.ts';
import { prepareEngines } from '../support/engines.ts';
import { says } from './words.ts';

const { embedded } = await prepareEngines();
const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;

async function open(): Promise<DigestHarness> {
  return createDigestHarness(await embedded.emptyDatabase());
}

test('a digest posts when it is due, within a minute, once a day', async () => {
  await using desk = await open();
  await desk.createDaily();
  desk.advance(hour - 10_000);
  await desk.runJobs();
  expect(desk.channelPosts()).toEqual([]);
  await desk.runJobsFor(70);
  expect(desk.readChannel()).toEqual([expect.stringMatching(/4 zones[\s\S]*next Tue 24 Nov 09:00 UTC/)]);
  desk.advance(day);
  await desk.runJobs();
  expect(await desk.runStates()).toEqual({ '2026-11-23T09:00': 'sent', '2026-11-24T09:00': 'sent' });
  expect(desk.readChannel()).toHaveLength(2);
  expect(desk.slack.problems).toEqual([]);
});

test('the second run compares with the first', async () => {
  await using desk = await open();
  await desk.createDaily();
  desk.advance(hour + minute);
  await desk.runJobs();
  desk.advance(day);
  await desk.runJobs();
  const rows = await desk.db.selectFrom('digest_runs').select('figures').orderBy('due').execute();
  const [first, second] = rows.map(
    ({ figures }) => JSON.parse(figures ?? '{}') as { zones: { chargesBefore?: number } },
  );
  expect(first?.zones.chargesBefore).toBeUndefined();
  expect(second?.zones.chargesBefore).toBeDefined();
});

test('a run that is some hours late says so; one that is too old says that it was skipped', async () => {
  await using desk = await open();
  await desk.createDaily();
  desk.advance(3 * hour);
  await desk.runJobs();
  expect(desk.readChannel()).toEqual([
    expect.stringMatching(says.late('Mon 23 Nov 09:00', 'Mon 23 Nov 11:00')),
  ]);
  desk.advance(day + 6 * hour);
  await desk.runJobsFor(3);
  expect(desk.readChannel()[1]).toMatch(says.skipped('Tue 24 Nov 09:00'));
  expect(await desk.runStates()).toEqual({ '2026-11-23T09:00': 'sent', '2026-11-24T09:00': 'skipped' });
});

test('after days without a process there is one message, which counts the runs that were skipped', async () => {
  await using desk = await open();
  await desk.createDaily();
  desk.advance(4 * day + hour + minute);
  await desk.runJobsFor(3);
  expect(desk.readChannel()).toEqual([expect.stringMatching(says.missed(4))]);
  expect(Object.values(await desk.runStates())).toEqual(['skipped', 'skipped', 'skipped', 'skipped', 'sent']);
});

test('a run that somebody asked for, begun hours later: it says so, or is skipped with a word', async () => {
  for (const { hours, notes } of [
    { hours: 5, notes: [says.late('Mon 23 Nov 08:00', 'Mon 23 Nov 13:00'), says.askedForBy()] },
    { hours: 7, notes: [says.skipped('Mon 23 Nov 08:00')] },
  ]) {
    await using desk = await open();
    const digest = await desk.createDaily(alice, {
      schedule: { time: '23:00', zone: 'UTC', weekdays: [1, 2, 3, 4, 5, 6, 7], monthDays: [] },
    });
    await desk.digests.runNow(digest, alice);
    desk.advance(hours * hour);
    await desk.runJobsFor(2);
    const [post = '', ...more] = desk.readChannel();
    expect(more).toEqual([]);
    for (const note of notes) expect(post).toMatch(note);
  }
});

test('somebody with the right takes a digest over: it runs with their key, and that is on record', async () => {
  await using desk = await open();
  const digest = await desk.createDaily();
  await desk.digests.pauseFor({ person: alice, tenant: 'T0ACME000' });
  const stopped = await desk.digests.find('T0ACME000', digest.id);
  if (!stopped) throw new Error('it is gone');
  const [first, second] = [
    await desk.digests.takeOver(stopped, bob),
    await desk.digests.takeOver(stopped, bob),
  ];
  expect(first).toMatchObject({ owner: bob, paused: undefined });
  expect(second).toBeUndefined();
  const record = (await desk.audit.recent('T0ACME000', 9)).find(({ event }) => event === 'digest-taken-over');
  expect(record).toMatchObject({ actor: 'U0BOB0000', subject: digest.id, detail: { from: 'U0ALICE00' } });
  desk.advance(hour + minute);
  await desk.runJobs();
  await desk.runJobsFor(5);
  expect(desk.readChannel().at(-1)).toMatch(/4 zones/);
});

test('paused, resumed, changed and deleted digests run when they should, and only then', async () => {
  await using desk = await open();
  const digest = await desk.createDaily();
  const paused = await desk.digests.pause(digest, alice);
  if (!paused) throw new Error('it was not paused');
  desk.advance(2 * day);
  await desk.runJobs();
  expect(desk.channelPosts()).toEqual([]);
  const running = await desk.digests.resume(paused, alice);
  if (!running) throw new Error('it was not resumed');
  const moved = await desk.digests.change(
    running,
    { ...running, schedule: { ...running.schedule, time: '08:30' } },
    alice,
  );
  if (!moved) throw new Error('it was not changed');
  desk.advance(31 * minute);
  await desk.runJobsFor(3);
  expect(await desk.runStates()).toEqual({ '2026-11-25T08:30': 'sent' });
  const gone = await desk.digests.delete(moved, alice);
  if (!gone) throw new Error('it was not deleted');
  desk.advance(day);
  await desk.runJobs();
  expect(desk.channelPosts()).toHaveLength(1);
  expect(await desk.digests.restore(gone, alice)).toBeUndefined();
});

test('a digest that is deleted while its post waits posts nothing', async () => {
  await using desk = await open();
  const digest = await desk.createDaily();
  await desk.digests.runNow(digest, alice);
  desk.slack.script.rateLimit('chat.postMessage', 30);
  await desk.runJobs();
  expect(Object.values(await desk.runStates())).toEqual(['sending']);
  await desk.digests.delete(digest, alice);
  await desk.runJobsFor(60);
  expect(desk.readChannel()).toEqual([]);
  expect(Object.values(await desk.runStates())).toEqual(['cancelled']);
});

test('a digest that stays silent keeps its figures', async () => {
  await using desk = await open();
  const digest = await desk.createDaily();
  await desk.digests.change(digest, { ...digest, subject: { ...digest.subject, only: 'changed' } }, alice);
  desk.advance(hour + minute);
  await desk.runJobs();
  desk.advance(day);
  await desk.runJobs();
  expect(Object.values(await desk.runStates())).toEqual(['sent', 'quiet']);
  expect(desk.readChannel()).toHaveLength(1);
});

test('a digest that is not due yet has one waiting job, at its own moment within 50 s', async () => {
  await using desk = await open();
  const digest = await desk.createDaily();
  await desk.runJobs();
  const [waiting, ...others] = desk.queue.waiting;
  expect(others).toEqual([]);
  expect(waiting).toMatchObject({ job: { name: 'digest-due' }, key: digest.id });
  const due = Date.UTC(2026, 10, 23, 9);
  expect((waiting?.at ?? 0) - due).within(0, 50_000);
  const later = { ...digest, schedule: { ...digest.schedule, time: '11:00' } };
  await desk.digests.change(digest, later, alice);
  expect(desk.queue.waiting.map(({ at }) => at - due)).toEqual([(waiting?.at ?? 0) - due + 2 * hour]);
});

test('a job that was lost is enqueued again by the hourly reconciliation', async () => {
  await using desk = await open();
  const lost = { enqueue: async () => '' };
  const digest = await desk.createService(lost).resume(await desk.createDaily(), alice);
  if (!digest) throw new Error('it was not resumed');
  await desk.createService(lost).runNow(digest, alice);
  desk.queue.clear();
  desk.advance(hour);
  await reconcileDigestsJob.run({}, desk.context);
  await desk.runJobsFor(60);
  expect(Object.values(await desk.runStates())).toEqual(['sent', 'sent']);
});
