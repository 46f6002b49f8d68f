import { expect, test } from 'vitest';
import { requestsPerHour } from '../../../../src/commands/reports/accounts/reads.ts';
import { reconcileReportsJob } from '../../../../src/commands/reports/runner.ts';
import { alice, bob, createDigestHarness, type DigestHarness } from '../../../support/digests/harness.ts';
import { prepareEngines } from '../../../support/engines.ts';
import { says } from './words.ts';

const { embedded } = await prepareEngines();
const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;

async function open(): Promise<DigestHarness> {
  return createDigestHarness(await embedded.emptyDatabase());
}

test('a digest posts when it is due, within a minute, once a day', async () => {
  await using harness = await open();
  await harness.createDaily();
  harness.advance(hour - 10_000);
  await harness.runJobs();
  expect(harness.channelPosts()).toEqual([]);
  await harness.runJobsFor(70);
  expect(harness.readChannel()).toEqual([expect.stringMatching(/4 zones[\s\S]*next Tue 24 Nov 09:00 UTC/)]);
  harness.advance(day);
  await harness.runJobs();
  expect(await harness.runStates()).toEqual({ '2026-11-23T09:00': 'sent', '2026-11-24T09:00': 'sent' });
  expect(harness.readChannel()).toHaveLength(2);
  expect(harness.slack.problems).toEqual([]);
});

test('a run that is some hours late says so; one that is too old says that it was skipped', async () => {
  await using harness = await open();
  await harness.createDaily();
  harness.advance(3 * hour);
  await harness.runJobs();
  expect(harness.readChannel()).toEqual([
    expect.stringMatching(says.late('Mon 23 Nov 09:00', 'Mon 23 Nov 11:00')),
  ]);
  harness.advance(day + 6 * hour);
  await harness.runJobsFor(3);
  expect(harness.readChannel()[1]).toMatch(says.skipped('Tue 24 Nov 09:00'));
  expect(await harness.runStates()).toEqual({ '2026-11-23T09:00': 'sent', '2026-11-24T09:00': 'skipped' });
});

test('after days without a process there is one message, which counts the runs that were skipped', async () => {
  await using harness = await open();
  await harness.createDaily();
  harness.advance(4 * day + hour + minute);
  await harness.runJobsFor(3);
  expect(harness.readChannel()).toEqual([expect.stringMatching(says.missed(4))]);
  expect(Object.values(await harness.runStates())).toEqual(['sent']);
});

test('a run that somebody asked for, begun hours later: it says so, or is skipped with a word', async () => {
  for (const { hours, notes } of [
    { hours: 5, notes: [says.late('Mon 23 Nov 08:00', 'Mon 23 Nov 13:00'), says.askedForBy()] },
    { hours: 7, notes: [says.skipped('Mon 23 Nov 08:00')] },
  ]) {
    await using harness = await open();
    const digest = await harness.createDaily(alice, {
      schedule: { time: '23:00', zone: 'UTC', weekdays: [1, 2, 3, 4, 5, 6, 7], monthDays: [] },
    });
    await harness.reports.runNow(digest, alice);
    harness.advance(hours * hour);
    await harness.runJobsFor(2);
    const [post = '', ...more] = harness.readChannel();
    expect(more).toEqual([]);
    for (const note of notes) expect(post).toMatch(note);
  }
});

test('somebody with the right takes a digest over: it runs with their key, and that is on record', async () => {
  await using harness = await open();
  const digest = await harness.createDaily();
  await harness.pauseFor({ person: alice, tenant: 'T0ACME000' });
  const stopped = await harness.reports.find('T0ACME000', digest.id);
  if (!stopped) throw new Error('it is gone');
  expect(await harness.reports.takeOver(stopped, bob)).toMatchObject({ owner: bob, paused: undefined });
  await expect(harness.reports.takeOver(stopped, bob)).rejects.toThrow('changed this digest a moment ago');
  const record = (await harness.audit.recent('T0ACME000', 9)).find(
    ({ event }) => event === 'digest-taken-over',
  );
  expect(record).toMatchObject({ actor: 'U0BOB0000', subject: digest.id, detail: { from: 'U0ALICE00' } });
  harness.advance(hour + minute);
  await harness.runJobs();
  await harness.runJobsFor(5);
  expect(harness.readChannel().at(-1)).toMatch(/4 zones/);
});

test('paused, resumed, changed and deleted digests run when they should, and only then', async () => {
  await using harness = await open();
  const digest = await harness.createDaily();
  const paused = await harness.reports.pause(digest, alice);
  harness.advance(2 * day);
  await harness.runJobs();
  expect(harness.channelPosts()).toEqual([]);
  const running = await harness.reports.resume(paused, alice);
  const moved = await harness.reports.change(
    running,
    { ...running, schedule: { ...running.schedule, time: '08:30' } },
    alice,
  );
  harness.advance(31 * minute);
  await harness.runJobsFor(3);
  expect(await harness.runStates()).toEqual({ '2026-11-25T08:30': 'sent' });
  const gone = await harness.reports.delete(moved, alice);
  harness.advance(day);
  await harness.runJobs();
  expect(harness.channelPosts()).toHaveLength(1);
  expect(await harness.reports.restore(gone, alice)).toBeUndefined();
});

test('a digest that is deleted while its post waits posts nothing', async () => {
  await using harness = await open();
  const digest = await harness.createDaily();
  await harness.reports.runNow(digest, alice);
  harness.slack.script.rateLimit('chat.postMessage', 30);
  await harness.runJobs();
  expect(Object.values(await harness.runStates())).toEqual(['sending']);
  await harness.reports.delete(digest, alice);
  await harness.runJobsFor(60);
  expect(harness.readChannel()).toEqual([]);
  expect(Object.values(await harness.runStates())).toEqual(['cancelled']);
});

test('a digest that is not due yet has one waiting job, at its moment', async () => {
  await using harness = await open();
  const digest = await harness.createDaily();
  await harness.runJobs();
  const [waiting, ...others] = harness.queue.waiting;
  expect(others).toEqual([]);
  expect(waiting).toMatchObject({
    job: { name: 'reports-due' },
    key: `${digest.tenant}:${digest.owner.userId}`,
  });
  const due = Date.UTC(2026, 10, 23, 9);
  expect((waiting?.at ?? 0) - due).toBe(0);
  const later = { ...digest, schedule: { ...digest.schedule, time: '11:00' } };
  await harness.reports.change(digest, later, alice);
  expect(harness.queue.waiting.map(({ at }) => at - due)).toEqual([2 * hour]);
});

test('a job that was lost is enqueued again by the hourly reconciliation', async () => {
  await using harness = await open();
  const lost = { enqueue: async () => '' };
  const digest = await harness.createService(lost).resume(await harness.createDaily(), alice);
  if (!digest) throw new Error('it was not resumed');
  await harness.createService(lost).runNow(digest, alice);
  harness.queue.clear();
  harness.advance(hour);
  await reconcileReportsJob.run({}, harness.context);
  await harness.runJobsFor(60);
  expect(Object.values(await harness.runStates())).toEqual(['sent', 'sent']);
});

const countLists = ({ cdn }: DigestHarness): number =>
  cdn.requests.filter(({ path }) => path === '/pullzone').length;

test('digests of one person that are due at the same time read the zones once', async () => {
  await using harness = await open();
  for (const owner of [alice, alice, alice, bob]) await harness.createDaily(owner);
  harness.advance(hour + minute);
  await harness.runJobs();
  await harness.runJobsFor(10);
  expect(harness.readChannel()).toHaveLength(4);
  expect(countLists(harness)).toBe(2);
});

test('where the hour’s budget is spent a digest waits for the next hour', async () => {
  await using harness = await open();
  await harness.createDaily();
  const next = new Date(harness.now().getTime() + hour);
  const spent = { tenant: alice.teamId, user_id: alice.userId, hour: next, requests: requestsPerHour };
  await harness.db.insertInto('read_budgets').values(spent).execute();
  harness.advance(hour + minute);
  await harness.runJobs();
  harness.advance(58 * minute);
  await harness.runJobs();
  expect([harness.readChannel().length, countLists(harness)]).toEqual([0, 0]);
  harness.advance(minute);
  await harness.runJobs();
  expect([harness.readChannel().length, countLists(harness)]).toEqual([1, 1]);
});
