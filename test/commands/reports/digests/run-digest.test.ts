import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { requestsPerHour } from '../../../../src/commands/reports/accounts.ts';
import { digestKinds, findDigestKind } from '../../../../src/commands/reports/checks/list.ts';
import { digest as feature } from '../../../../src/commands/reports/digests/feature.ts';
import { digestMessages, runDigest } from '../../../../src/commands/reports/digests/run-digest.ts';
import { reconcileReportsJob } from '../../../../src/commands/reports/runner.ts';
import {
  acceptBaseline,
  enqueueRun,
  loadPast,
  storePendingBaseline,
} from '../../../../src/commands/reports/store.ts';
import { context, type MessageBlock } from '../../../../src/views/blocks/blocks.ts';
import { replaceNativeBlocks } from '../../../../src/views/blocks/native.ts';
import type { DigestOrder } from '../../../../src/views/reports/report.ts';
import { alice, bob, createDigestHarness, type DigestHarness } from '../../../support/digests/harness.ts';
import { createDigestScenario } from '../../../support/digests/scenario.ts';
import { prepareEngines } from '../../../support/engines.ts';
import { readStable } from '../../../support/words.ts';
import { says } from './words.ts';

const { embedded, postgres } = await prepareEngines();
const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;

async function open(): Promise<DigestHarness> {
  return createDigestHarness(await embedded.emptyDatabase());
}

test('a digest posts when it is due, within a minute, once a day', async () => {
  await using harness = await open();
  const { id } = await harness.createDaily();
  await harness.db.updateTable('reports').set({ failures: 2 }).execute();
  harness.advance(hour - 10_000);
  await harness.runJobs();
  expect(harness.channelPosts()).toEqual([]);
  await harness.runJobsFor(70);
  expect(harness.readChannel()).toEqual([expect.stringMatching(/4 zones[\s\S]*next Tue 24 Nov 09:00 UTC/)]);
  harness.advance(day);
  await harness.runJobs();
  expect(await harness.runStates()).toEqual({ '2026-11-23T09:00': 'sent', '2026-11-24T09:00': 'sent' });
  expect(harness.readChannel()).toHaveLength(2);
  // The queue may begin a job again that has ended.
  const sent = { report_id: id, due: new Date(Date.UTC(2026, 10, 24, 9)) };
  await expect(runDigest(sent, harness.context)).resolves.toBeUndefined();
  expect(harness.channelPosts()).toHaveLength(2);
  expect(harness.slack.problems).toEqual([]);
  // Only failures in a row count.
  const stored = harness.db.selectFrom('reports').select('failures');
  expect(await stored.execute()).toEqual([{ failures: 0 }]);
});

test.each(['pause', 'delete'] as const)('a run that waits is cancelled by a %s', async (how) => {
  await using harness = await open();
  const digest = await harness.createDaily();
  const due = harness.now();
  await harness.reports[how](digest, alice);
  const run = { report_id: digest.id, due, run_at: due, state: 'due', missed: 0, attempts: 0 };
  await harness.db.insertInto('report_runs').values(run).execute();
  await enqueueRun(harness.queue.enqueue, run);
  await harness.runJobs();
  expect(Object.values(await harness.runStates())).toEqual(['cancelled']);
  expect(harness.cdn.requests).toEqual([]);
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

test('a digest that somebody took over is not taken over again, and that is on record', async () => {
  await using harness = await open();
  const digest = await harness.createDaily();
  const { id: other } = await harness.createDaily();
  await harness.pauseFor({ person: alice, tenant: 'T0ACME000' });
  const stopped = await harness.reports.find('T0ACME000', digest.id);
  if (!stopped) throw new Error('it is gone');
  expect(await harness.reports.takeOver(stopped, bob)).toMatchObject({ owner: bob, paused: undefined });
  expect(await harness.reports.find('T0ACME000', other)).toMatchObject({ owner: alice });
  await expect(harness.reports.takeOver(stopped, bob)).rejects.toThrow('changed this digest a moment ago');
  const record = (await harness.audit.recent('T0ACME000', 9)).find(
    ({ event }) => event === 'digest-taken-over',
  );
  expect(record).toMatchObject({ actor: 'U0BOB0000', subject: digest.id, detail: { from: 'U0ALICE00' } });
});

test('paused, resumed, changed and deleted digests run when they should, and only then', async () => {
  await using harness = await open();
  const digest = await harness.createDaily();
  const paused = await harness.reports.pause(digest, alice);
  // It is paused already: nothing is told, and who resumes it is not overtaken.
  await harness.pauseFor({ person: alice, tenant: 'T0ACME000' });
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

test('a job that was lost is enqueued again by the hourly reconciliation', async () => {
  await using harness = await open();
  const lost = { enqueue: async () => undefined };
  const digest = await harness.createService(lost).resume(await harness.createDaily(), alice);
  if (!digest) throw new Error('it was not resumed');
  await harness.createService(lost).runNow(digest, alice);
  harness.queue.clear();
  harness.advance(hour);
  await reconcileReportsJob.run({}, harness.context);
  await harness.runJobsFor(60);
  expect(Object.values(await harness.runStates())).toEqual(['sent', 'sent']);
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
  expect([harness.readChannel(), harness.cdn.requests]).toEqual([[], []]);
  harness.advance(minute);
  await harness.runJobs();
  expect(harness.readChannel()).toHaveLength(1);
});

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

test.each(['stops', 'loses the key'] as const)(
  'a bot that %s while it collects posts nothing',
  async (how) => {
    await using harness = await open();
    const digest = await harness.createDaily();
    await harness.reports.runNow(digest, alice);
    const held = Promise.withResolvers<void>();
    harness.cdn.faults.add({ match: { method: 'GET' }, until: held.promise });
    const stopping = new AbortController();
    const run = { report_id: digest.id, due: harness.now() };
    const running = runDigest(run, { ...harness.context, signal: stopping.signal });
    await expect.poll(() => harness.cdn.requests.length).toBe(1);
    if (how === 'stops') stopping.abort();
    else await harness.pauseFor({ person: alice, tenant: digest.tenant });
    held.resolve();
    // A job that is stopped runs again.
    const failed = await running.catch((error: unknown) => error);
    expect(failed instanceof Error).toBe(how === 'stops');
    expect(Object.values(await harness.runStates())).toEqual([how === 'stops' ? 'collecting' : 'failed']);
    expect((await harness.db.selectFrom('outbox').select('kind').execute()).map(({ kind }) => kind)).toEqual(
      how === 'stops' ? [] : ['report-paused'],
    );
  },
);

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

test('where the bot may not look, it does not send again: the owner is told, and a person decides', async () => {
  await using harness = await open();
  const digest = await harness.createDaily();
  await harness.reports.runNow(digest, alice);
  harness.slack.script.drop('chat.postMessage');
  harness.slack.script.fail('conversations.history', 'missing_scope', 10);
  await harness.runJobsFor(90);
  expect(harness.readChannel()).toHaveLength(1);
  expect(Object.values(await harness.runStates())).toEqual(['unknown']);
  const told = harness.readChannel(`D${alice.userId}`);
  expect(told).toEqual([expect.stringMatching(says.notConfirmed)]);
  expect((await harness.reports.listLastRuns('T0ACME000')).get(digest.id)).toMatchObject({
    state: 'unknown',
  });
  expect(await harness.reports.runNow(digest, alice)).toBe(true);
  await harness.runJobsFor(5);
  expect(harness.readChannel()).toHaveLength(2);
  expect(Object.values(await harness.runStates())).toEqual(['unknown', 'sent']);
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

test('a post that waits, with figures of an earlier version: it is made again', async () => {
  await using harness = await open();
  await harness.reports.runNow(await harness.createDaily(), alice);
  harness.slack.script.rateLimit('chat.postMessage', 30);
  await harness.runJobs();
  const figures = JSON.stringify({ at: harness.now(), unread: [], zones: { zones: 4, limits: [] } });
  await harness.db.updateTable('report_runs').set({ figures }).execute();
  await harness.runJobsFor(12 * 60, 10);
  expect(harness.readChannel()).toEqual([expect.stringContaining('4 zones')]);
  expect(Object.values(await harness.runStates())).toEqual(['sent']);
});

test('a paused digest that is run by hand and refused: the run ends', async () => {
  await using harness = await open();
  const digest = await harness.createDaily();
  const paused = await harness.reports.pause(digest, alice);
  await harness.reports.runNow(paused, alice);
  await harness.keyStore.forget(alice);
  await harness.runJobs();
  expect(Object.values(await harness.runStates())).toEqual(['failed']);
});

test('once it is posted others may ask at once, and whoever asked for it some seconds later', async () => {
  await using harness = await open();
  const digest = await harness.createDaily();
  expect(await harness.reports.runNow(digest, alice)).toBe(true);
  // A run of another one is none of this.
  expect(await harness.reports.runNow(await harness.createDaily(), alice)).toBe(true);
  harness.advance(1_000);
  await harness.runJobs();
  expect(await harness.reports.runNow(digest, alice)).toBe(false);
  expect(await harness.reports.runNow(digest, bob)).toBe(true);
  await harness.runJobsFor(10);
  expect(await harness.reports.runNow(digest, alice)).toBe(true);
  await harness.runJobsFor(5);
  expect(harness.readChannel()).toHaveLength(4);
});

/** A digest that has posted once. */
async function beginRun(harness: DigestHarness): Promise<string> {
  const { id } = await harness.createDaily();
  harness.advance(hour + minute);
  await harness.runJobsFor(3);
  return id;
}

const disable = ({ cdn }: DigestHarness, at: number) =>
  Object.assign(cdn.data.zones[at] ?? {}, { Enabled: false });

test('of two runs under way the one that was collected last is remembered', async () => {
  await using harness = await open();
  const { id } = await harness.createDaily();
  const [one, two] = [1, 2].map((n) => ({ report_id: id, due: new Date(Date.UTC(2026, 10, n)) }));
  if (!one || !two) throw new Error('two runs');
  for (const [run, told] of [
    [one, 1],
    [two, 2],
  ] as const)
    await storePendingBaseline(harness.db, run, { byKind: { zones: told } });
  for (const [run, told] of [
    [one, undefined],
    [two, { byKind: { zones: 2 } }],
  ] as const) {
    await acceptBaseline(harness.db, run);
    expect((await loadPast(harness.db, id, harness.now())).baseline).toEqual(told);
  }
});

const at = (day: number) => new Date(Date.UTC(2026, 10, day));

test('a run compares with what earlier runs of its digest posted, or found in silence', async () => {
  await using harness = await open();
  const [{ id }, other] = [await harness.createDaily(), await harness.createDaily()];
  const run = (report_id: string, day: number, state: string, figures: string | null = `{"at":${day}}`) => {
    return { report_id, due: at(day), run_at: at(day), state, figures, missed: 0, attempts: 1 };
  };
  const runs = [
    run(id, 1, 'sent'),
    run(id, 2, 'quiet'),
    run(id, 3, 'failed'),
    run(id, 4, 'sent', null),
    run(other.id, 5, 'sent'),
    run(id, 9, 'sent'),
  ];
  await harness.db.insertInto('report_runs').values(runs).execute();
  expect((await loadPast(harness.db, id, at(9))).history).toEqual([{ at: 2 }, { at: 1 }]);
});

test.each([
  ['unknown', undefined, true],
  // It has arrived meanwhile.
  ['sent', undefined, false],
  ['sent', 'posted in full', true],
  ['deleted', undefined, false],
] as const)('of a run that is %s its owner is told (%s): %s', async (state, missed, isTold) => {
  await using harness = await open();
  const digest = await harness.createDaily();
  const due = harness.now();
  const run = { report_id: digest.id, due, run_at: due, state, missed: 0, attempts: 1 };
  await harness.db.insertInto('report_runs').values(run).execute();
  if (state === 'deleted') await harness.reports.delete(digest, alice);
  const notice = digestMessages.find(({ kind }) => kind === 'digest-unknown');
  const about = { digestId: digest.id, due: due.toISOString(), missed };
  const message = await notice?.render?.(about as never, { ...harness.context, place: 'D1' });
  expect(message !== undefined).toBe(isTold);
});

test('a key that is refused in the middle ends a run, whatever was read before', async () => {
  const digest = await createDigestScenario({
    kinds: ['zones', 'apps'],
    targets: { apps: ['app0api00000001'] },
  });
  digest.cdn.faults.add({ match: { path: /apps/ }, status: 401 });
  await expect(digest.run('2026-11-23T09:00:00Z')).rejects.toMatchObject({ code: 'key_refused' });
});

test('a person’s job waits for their own next report', async () => {
  await using harness = await open();
  const digest = await harness.createDaily();
  await harness.createDaily(bob, {
    schedule: { time: '08:30', zone: 'UTC', weekdays: [1, 2, 3, 4, 5, 6, 7], monthDays: [] },
  });
  const asked: unknown[] = [];
  const service = harness.createService({
    enqueue: async (_job, _data, options) => void asked.push([options?.key, options?.at?.getUTCHours()]),
  });
  const paused = await service.pause(digest, alice);
  await service.resume(paused, alice);
  expect(asked).toEqual([[`T0ACME000:${alice.userId}`, 9]]);
});

test('what was told is remembered once it was posted: what never arrived is told by the next run', async () => {
  await using harness = await open();
  await beginRun(harness);
  disable(harness, 0);
  // Slack refuses it in a way that nothing can mend.
  harness.slack.script.fail('chat.postMessage', 'invalid_blocks', 1);
  harness.advance(day);
  await harness.runJobsFor(3);
  expect(harness.readChannel()).toHaveLength(1);
  harness.advance(day);
  await harness.runJobsFor(3);
  expect(harness.readChannel().at(-1)).toMatch(says.newly('disabled'));
  harness.advance(day);
  await harness.runJobsFor(3);
  expect(harness.readChannel().at(-1)).toMatch(says.unchanged);
});

test.each([
  ['nobody can lift', 'invalid_blocks', /Slack refused this \(invalid_blocks\)/],
  ['nobody knows', 'a_new_code', /Slack refused this \(a_new_code\)/],
  ['an admin can lift', 'ekm_access_denied', /Enterprise Key Management/],
])(
  'a channel that refuses a digest for what %s: its owner is told once a run, with what to do',
  async (_, code, why) => {
    await using harness = await open();
    const digest = await harness.createDaily();
    harness.slack.script.fail('chat.postMessage', code, 100, 200, '"channel":"C0OPS0000"');
    harness.advance(61 * 60_000);
    await harness.runJobsFor(3600, 30);
    expect(harness.readChannel()).toEqual([]);
    const told = harness.readChannel(`D${alice.userId}`);
    expect(told).toEqual([expect.stringMatching(why)]);
    expect(told[0]).toMatch(says.notPosted);
    expect((await harness.reports.find(digest.tenant, digest.id))?.paused).toBeUndefined();
  },
);

test('a digest whose thread takes not all of it: its owner is told', async () => {
  await using harness = await open();
  const targets = { zones: [], shieldZones: ['501'], apps: ['app0api00000001'] };
  await harness.createDaily(alice, {
    subject: { kinds: digestKinds, targets, only: 'always', timeZone: 'UTC' },
  });
  harness.slack.script.fail('chat.postMessage', 'msg_too_long', 2, 200, '"thread_ts"');
  harness.advance(61 * 60_000);
  await harness.runJobsFor(20);
  expect(harness.readChannel()).toHaveLength(1);
  expect(harness.readChannel(`D${alice.userId}`)).toEqual([expect.stringMatching(says.notInFull)]);
});

test('a preview is what is posted, in a first run and in one that compares', async () => {
  await using harness = await open();
  const targets = { zones: [], shieldZones: ['501'], apps: ['app0api00000001'] };
  const subject = { kinds: digestKinds, targets, only: 'always', timeZone: 'UTC' } as const;
  const digest = await harness.createDaily(alice, { subject });
  const { reports, now, slack } = harness;
  const { ports, signal } = harness.context;
  for (const turn of [1, 2]) {
    harness.advance(turn === 1 ? hour + minute : day);
    for (const zone of harness.cdn.data.zones) zone.Enabled = turn === 1;
    const fields = {
      kind: digestKinds.map(({ name }) => name),
      target: ['shield:501', 'app:app0api00000001'],
      channel: digest.channel,
      time: '09:00',
      days: ['daily'],
      timezone: 'UTC',
      only: 'always',
    };
    const preview = feature.actions?.find(({ id }) => id === 'digests:preview');
    const shown = await preview?.load?.('preview', {
      person: alice,
      accounts: ports.accounts,
      reports,
      now,
      signal,
      explain: (error: unknown) => ports.explain(error, 'digest'),
      modal: { metadata: `${digest.id}|${digest.revision}`, fields },
    } as never);

    const before = slack.calls.length;
    await harness.runJobsFor(12);
    const posts = slack.calls.slice(before).filter(({ method }) => method === 'chat.postMessage');
    const [top = [], ...thread] = posts.map(({ args: { blocks } }) => {
      return (typeof blocks === 'string' ? JSON.parse(blocks) : blocks) as MessageBlock[];
    });
    expect([top.length > 2, thread.length > 3]).toEqual([true, true]);
    // Under a post there are its footer and its buttons; between the two of a preview, a line and a word.
    const between = [{ type: 'divider' } as const, context('*In the thread*')];
    const expected = replaceNativeBlocks([...top.slice(0, -2), ...between, ...thread.flat()]);
    expect(shown?.blocks.slice(0, -1)).toEqual(expected);
  }
});

function changedSettings(only: DigestOrder['subject']['only'] = 'always', zones: string[] = []) {
  const targets = { zones, shieldZones: [], apps: [] };
  return {
    subject: { kinds: ['settings'].map(findDigestKind), targets, only, timeZone: 'UTC' },
  } satisfies Partial<DigestOrder>;
}

/** Runs the digests of this day and tells what the channel got. */
async function runDay(harness: DigestHarness): Promise<string[]> {
  const before = harness.readChannel().length;
  // From 08:00 past 09:00, then from day to day.
  harness.advance(harness.now().getUTCHours() === 8 ? hour + minute : day);
  await harness.runJobs();
  await harness.runJobsFor(10);
  return harness
    .readChannel()
    .slice(before)
    .map((text) => readStable(text).replace(/Digest \w{5}/u, 'Digest <id>'));
}

function change({ cdn }: DigestHarness, nth: number, members: object): void {
  Object.assign(cdn.data.zones[nth] ?? {}, members);
}

test('a digest tells what changed since it last told, once, whoever found it', async () => {
  await using harness = await open();
  await harness.createDaily(alice, changedSettings());
  expect(await runDay(harness)).toMatchSnapshot('first run');
  change(harness, 0, { EnableTLS1: true, BlockedIps: ['10.0.0.1'] });
  // A command looks in between: the digest tells it all the same.
  await harness.settingsHistory.look(alice, await harness.ports.cdn(alice, harness.context.signal));
  change(harness, 1, { ZoneSecurityKey: 'CANARY-zone-security-key-new' });
  expect(await runDay(harness)).toMatchSnapshot('changed');
  expect(await runDay(harness)).toMatchSnapshot('nothing changed');
  change(harness, 1, { Id: null });
  expect((await runDay(harness)).join()).toContain(':warning: 1 zone');
  for (const nth of harness.cdn.data.zones.keys()) change(harness, nth, { Id: null });
  expect((await runDay(harness)).join()).toContain(':grey_question:');
  expect(JSON.stringify(harness.slack.calls)).not.toContain('CANARY-zone');
});

test('below its number a digest stays silent, and tells all of it later', async () => {
  await using harness = await open();
  const digest = await harness.createDaily(alice, changedSettings({ above: 1 }));
  await runDay(harness);
  change(harness, 0, { EnableTLS1: true });
  expect(await runDay(harness)).toEqual([]);
  change(harness, 1, { EnableTLS1: true });
  const [told = ''] = await runDay(harness);
  expect(told).toMatchSnapshot();
  const before = harness.readChannel().length;
  await harness.reports.runNow(digest, alice);
  await harness.runJobsFor(5);
  expect(harness.readChannel()).toHaveLength(before + 1);
});
