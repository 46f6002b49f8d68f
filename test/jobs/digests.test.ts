import { expect, test } from 'vitest';
import { initialPolicy } from '../../src/auth/policy.ts';
import { digestsNow, workOnce } from '../../src/jobs/digests.ts';
import { enginesUnderTest } from '../store/engines.ts';
import { alice, bob, type DigestDesk, digestDesk } from './digest-desk.ts';

const { embedded } = await enginesUnderTest();
const hour = 3_600_000;
const day = 24 * hour;
const minute = 60_000;

async function open(options?: Parameters<typeof digestDesk>[1]): Promise<DigestDesk> {
  return digestDesk(await embedded.empty(), options);
}

/** What went into channels, not into threads. */
function posts({ slack }: DigestDesk) {
  return slack.calls.filter(
    ({ method, args }) => method === 'chat.postMessage' && args['thread_ts'] === undefined,
  );
}

test('a digest posts when it is due, within a minute, once a day', async () => {
  await using desk = await open();
  await desk.daily();
  desk.later(hour - 10_000);
  await desk.work();
  expect(posts(desk)).toEqual([]);
  await desk.workFor(70);
  expect(desk.reads()).toEqual([expect.stringMatching(/4 zones[\s\S]*next Tue 24 Nov 09:00 UTC/)]);
  desk.later(day);
  await desk.work();
  expect(await desk.runs()).toEqual({ '2026-11-23T09:00': 'sent', '2026-11-24T09:00': 'sent' });
  expect(desk.reads()).toHaveLength(2);
  expect(desk.slack.problems).toEqual([]);
});

test('the second run compares with the first', async () => {
  await using desk = await open();
  await desk.daily();
  desk.later(hour + minute);
  await desk.work();
  desk.later(day);
  await desk.work();
  const rows = await desk.db.selectFrom('digest_runs').select('figures').orderBy('due').execute();
  const [first, second] = rows.map(
    ({ figures }) => JSON.parse(figures ?? '{}') as { zones: { before?: object } },
  );
  expect(first?.zones.before).toBeUndefined();
  expect(second?.zones.before).toBeDefined();
});

test('a run that is some hours late says so; one that is too old says that it was skipped', async () => {
  await using desk = await open();
  await desk.daily();
  desk.later(3 * hour);
  await desk.work();
  expect(desk.reads()).toEqual([expect.stringMatching(/Late: due Mon 23 Nov 09:00, made Mon 23 Nov 11:00/)]);
  desk.later(day + 6 * hour);
  await desk.workFor(3);
  expect(desk.reads()[1]).toMatch(/Skipped while I was down: the digest of Tue 24 Nov 09:00/);
  expect(await desk.runs()).toEqual({ '2026-11-23T09:00': 'sent', '2026-11-24T09:00': 'skipped' });
});

test('after days without a process there is one message, which counts the runs that were skipped', async () => {
  await using desk = await open();
  await desk.daily();
  desk.later(4 * day + hour + minute);
  await desk.workFor(3);
  expect(desk.reads()).toEqual([
    expect.stringMatching(/Skipped while the bot was down: 4 runs before this one/),
  ]);
  expect(Object.values(await desk.runs())).toEqual(['skipped', 'skipped', 'skipped', 'skipped', 'sent']);
});

test('one message a second goes into a channel, by any number of workers', async () => {
  await using desk = await open();
  for (let n = 0; n < 5; n += 1) await desk.digests.runNow(await desk.daily(), alice);
  await Promise.all(Array.from({ length: 5 }, () => desk.work()));
  expect(posts(desk)).toHaveLength(1);
  await desk.workFor(10);
  const at = posts(desk).map((call) => call.at);
  expect(at).toHaveLength(5);
  for (const [index, moment] of at.slice(1).entries())
    expect(moment - (at[index] ?? 0)).toBeGreaterThanOrEqual(1000);
});

test('those who send stay for what is collected a moment later', async () => {
  await using desk = await open();
  await desk.digests.runNow(await desk.daily(), alice);
  const second = await desk.daily(alice, { channel: 'C0DEPLOY0' });
  await desk.digests.runNow(second, alice);
  const soon = new Date(desk.now().getTime() + 1_500);
  await desk.db.updateTable('digest_runs').set({ run_at: soon }).where('digest_id', '=', second.id).execute();
  const [start, began] = [desk.now().getTime(), performance.now()];
  const now = (): Date => new Date(start + performance.now() - began);
  await digestsNow.run({}, { ...desk.context, now });
  expect(posts(desk).map(({ args }) => args['channel'])).toEqual(['C0OPS0000', 'C0DEPLOY0']);
});

test('a storm of 429 delays the posts of a whole workspace, and none is lost or doubled', async () => {
  await using desk = await open();
  for (const channel of ['C0OPS0000', 'C0DEPLOY0', 'C0SHARED0']) {
    await desk.digests.runNow(await desk.daily(alice, { channel }), alice);
  }
  desk.slack.script.rateLimit('chat.postMessage', 30, 1);
  await desk.work();
  await desk.workFor(29);
  expect(posts(desk)).toHaveLength(1);
  desk.slack.script.rateLimit('chat.postMessage', 5, 6);
  await desk.workFor(60);
  const arrived = posts(desk).filter(({ ok }) => ok);
  expect(new Set(arrived.map(({ args }) => args['channel']))).toEqual(
    new Set(['C0DEPLOY0', 'C0OPS0000', 'C0SHARED0']),
  );
  expect(arrived).toHaveLength(3);
  expect(posts(desk).filter(({ ok }) => !ok)).toHaveLength(7);
});

test('a connection that breaks after Slack took the post: it is looked up, and not sent again', async () => {
  await using desk = await open();
  await desk.digests.runNow(await desk.daily(), alice);
  desk.slack.script.drop('chat.postMessage');
  await desk.workFor(60);
  expect(desk.reads()).toHaveLength(1);
  expect(Object.values(await desk.runs())).toEqual(['sent']);
  expect(desk.slack.calls.filter(({ method }) => method === 'conversations.history')).toHaveLength(1);
});

test('an answer that says nothing, and no post: it is looked up, and sent again', async () => {
  await using desk = await open();
  await desk.digests.runNow(await desk.daily(), alice);
  desk.slack.script.fail('chat.postMessage', 'internal_error');
  await desk.workFor(60);
  expect(desk.reads()).toHaveLength(1);
  expect(posts(desk)).toHaveLength(2);
  expect(Object.values(await desk.runs())).toEqual(['sent']);
});

test('where the bot may not look, it does not send again: its owner is asked once, and decides', async () => {
  await using desk = await open();
  const digest = await desk.daily();
  await desk.digests.runNow(digest, alice);
  desk.slack.script.drop('chat.postMessage');
  desk.slack.script.fail('conversations.history', 'missing_scope', 10);
  await desk.workFor(90);
  expect(desk.reads()).toHaveLength(1);
  expect(Object.values(await desk.runs())).toEqual(['unknown']);
  expect(desk.reads('DU0ALICE00')).toEqual([
    expect.stringMatching(/cannot tell whether your digest[\s\S]*Post it again/),
  ]);
  const [run] = await desk.db.selectFrom('digest_runs').select('due').execute();
  expect(await desk.digests.postAgain(digest, run?.due ?? new Date())).toBe(true);
  expect(await desk.digests.postAgain(digest, run?.due ?? new Date())).toBe(false);
  await desk.workFor(5);
  expect(desk.reads()).toHaveLength(2);
  expect(Object.values(await desk.runs())).toEqual(['sent']);
});

test('two processes at the same runs: each is posted once', async () => {
  await using desk = await open();
  const channels = ['C0OPS0000', 'C0DEPLOY0', 'C0SHARED0'];
  for (let n = 0; n < 9; n += 1) await desk.daily(alice, { channel: channels[n % 3] ?? '' });
  desk.later(hour + minute);
  for (let second = 0; second < 12; second += 1) {
    await Promise.all([desk.work(), desk.work()]);
    desk.later(1000);
  }
  expect(Object.values(channels.map((channel) => desk.reads(channel).length))).toEqual([3, 3, 3]);
  expect(posts(desk)).toHaveLength(9);
});

test('a process that dies while it collects, or after it posted: another one goes on, and posts once', async () => {
  await using desk = await open();
  const digest = await desk.daily();
  await desk.digests.runNow(digest, alice);
  // It dies while the CDN answers: what it held stays as it was.
  await desk.db
    .updateTable('digest_runs')
    .set({ state: 'collecting', claim: 'dead', claimed_at: desk.now() })
    .execute();
  await desk.workFor(30);
  expect(posts(desk)).toEqual([]);
  desk.later(5 * minute);
  await desk.work();
  expect(posts(desk)).toHaveLength(1);
  // And here between the post and the record of it.
  await desk.db
    .updateTable('digest_runs')
    .set({
      state: 'sending',
      claim: 'dead',
      parts_sent: 0,
      parts: JSON.stringify([{ message: { text: 'again' } }]),
    })
    .execute();
  desk.later(minute);
  await desk.work();
  expect(posts(desk)).toHaveLength(1);
  expect(Object.values(await desk.runs())).toEqual(['sent']);
});

test('a post without an answer, and nobody for hours: what it made is made anew, and is late or too old', async () => {
  for (const { hours, says } of [
    { hours: 5, says: /Late: due Mon 23 Nov 09:00, made Mon 23 Nov 14:01/ },
    { hours: 7, says: /^:zzz: Skipped while I was down/ },
  ]) {
    await using desk = await open();
    await desk.daily();
    desk.later(hour + minute);
    // Made, and nobody knows whether it was posted; nobody looks, either.
    desk.slack.script.fail('chat.postMessage', 'internal_error');
    await desk.work();
    expect(Object.values(await desk.runs())).toEqual(['sending']);
    desk.later(hours * hour);
    await desk.workFor(5);
    expect(desk.reads()).toEqual([expect.stringMatching(says)]);
  }
});

test('a run that somebody asked for, begun hours later: it says so, or is skipped with a word', async () => {
  for (const { hours, says } of [
    { hours: 5, says: /Late: due Mon 23 Nov 08:00, made Mon 23 Nov 13:00[\s\S]*asked for by/ },
    { hours: 7, says: /^:zzz: Skipped while I was down: the digest of Mon 23 Nov 08:00/ },
  ]) {
    await using desk = await open();
    const digest = await desk.daily(alice, {
      schedule: { time: '23:00', zone: 'UTC', weekdays: [1, 2, 3, 4, 5, 6, 7], monthDays: [] },
    });
    await desk.digests.runNow(digest, alice);
    desk.later(hours * hour);
    await desk.workFor(2);
    expect(desk.reads()).toEqual([expect.stringMatching(says)]);
  }
});

const pauses: readonly {
  readonly why: string;
  readonly breaks: (desk: DigestDesk) => Promise<void> | void;
  readonly reason: string;
  /** Where it is told. */
  readonly told: readonly [channel: string, userId: string];
  readonly says: RegExp;
}[] = [
  {
    why: 'its owner was deactivated',
    async breaks(desk) {
      await desk.custody.forget(alice);
      await desk.digests.pauses({ person: alice, tenant: 'T0ACME000' });
    },
    reason: 'owner-gone',
    told: ['C0OPS0000', 'U0BOB0000'],
    says: /its owner has left[\s\S]*Take over/,
  },
  {
    why: 'its owner disconnected the key',
    breaks: async ({ custody }) => void (await custody.forget(alice)),
    reason: 'key-missing',
    told: ['C0OPS0000', 'U0BOB0000'],
    says: /no CDN key connected any more[\s\S]*Take over/,
  },
  {
    why: 'the CDN refuses the key',
    breaks: ({ cdn }) => cdn.data.accessKeys.clear(),
    reason: 'key-refused',
    told: ['C0OPS0000', 'U0BOB0000'],
    says: /the CDN refuses its owner’s key[\s\S]*Take over/,
  },
  {
    why: 'the channel was capped',
    async breaks({ policies }) {
      await policies.save({
        tenant: 'T0ACME000',
        base: 0,
        policy: { ...initialPolicy, caps: { C0OPS0000: 'none' } },
        by: 'U0CAROL00',
        difference: [],
      });
    },
    reason: 'right-lost',
    told: ['C0OPS0000', 'U0BOB0000'],
    says: /may not read there any more/,
  },
  {
    why: 'digests may go elsewhere only',
    async breaks({ policies }) {
      await policies.save({
        tenant: 'T0ACME000',
        base: 0,
        policy: { ...initialPolicy, digestChannels: ['C0DEPLOY0'] },
        by: 'U0CAROL00',
        difference: [],
      });
    },
    reason: 'channel-not-allowed',
    told: ['C0OPS0000', 'U0BOB0000'],
    says: /may not go into its channel any more[\s\S]*Edit/,
  },
  {
    why: 'the channel was archived',
    breaks: ({ slack }) => archive(slack),
    reason: 'channel-archived',
    told: ['DU0ALICE00', 'U0ALICE00'],
    says: /its channel is archived[\s\S]*Edit/,
  },
  {
    why: 'the bot was removed from the channel',
    breaks({ slack }) {
      const ops = slack.world.channels.get('C0OPS0000');
      if (ops) ops.botIsMember = false;
    },
    reason: 'bot-removed',
    told: ['DU0ALICE00', 'U0ALICE00'],
    says: /the bot was removed from its channel[\s\S]*Invite/,
  },
  {
    why: 'the channel is gone',
    breaks: ({ slack }) => void slack.world.channels.delete('C0OPS0000'),
    reason: 'channel-gone',
    told: ['DU0ALICE00', 'U0ALICE00'],
    says: /its channel is gone/,
  },
];

function archive(slack: DigestDesk['slack']): void {
  const ops = slack.world.channels.get('C0OPS0000');
  if (ops) ops.archived = true;
}

test.each(pauses)(
  '$why: it pauses with one message',
  async ({ breaks, reason, told: [channel, reader], says }) => {
    await using desk = await open();
    const digest = await desk.daily();
    await breaks(desk);
    desk.later(hour + minute);
    await desk.workFor(40);
    desk.later(3 * day);
    await desk.workFor(40);
    expect((await desk.digests.find('T0ACME000', digest.id))?.paused).toMatchObject({ reason });
    expect(desk.reads(channel, reader)).toEqual([expect.stringMatching(says)]);
    expect(posts(desk).filter(({ ok }) => ok)).toHaveLength(1);
    expect((await desk.audit.recent('T0ACME000', 5)).map(({ what }) => what)).toContain('digest-paused');
  },
);

test('the app was removed from the workspace: everything pauses, and there is nobody to tell', async () => {
  await using desk = await open();
  const digest = await desk.daily();
  await desk.digests.pauses({ person: undefined, tenant: 'T0ACME000' });
  desk.later(2 * day);
  await desk.work();
  expect(posts(desk)).toEqual([]);
  expect((await desk.digests.find('T0ACME000', digest.id))?.paused).toMatchObject({ reason: 'uninstalled' });
});

test('Slack takes the token back: it pauses without a loop of errors', async () => {
  await using desk = await open();
  const digest = await desk.daily();
  desk.slack.script.fail('chat.postMessage', 'token_revoked', 1000);
  desk.later(hour + minute);
  await desk.workFor(40);
  desk.later(3 * day);
  await desk.workFor(40);
  expect((await desk.digests.find('T0ACME000', digest.id))?.paused).toMatchObject({ reason: 'uninstalled' });
  expect(posts(desk).length).toBeLessThanOrEqual(3);
});

test('neither the channel nor the owner can be told: an admin is', async () => {
  await using desk = await open({ adminIds: ['U0CAROL00'] });
  await desk.daily();
  archive(desk.slack);
  await desk.digests.pauses({ person: alice, tenant: 'T0ACME000' });
  await desk.work();
  expect(desk.reads('DU0CAROL00', 'U0CAROL00')).toEqual([expect.stringMatching(/its owner has left/)]);
});

test('a CDN that is down for a moment is asked again; one that stays down is told of once, and thrice pauses', async () => {
  await using desk = await open();
  const digest = await desk.daily();
  desk.cdn.faults.add({ match: { path: /pullzone/ }, status: 503, times: 4 });
  desk.later(hour + minute);
  await desk.workFor(90);
  expect(desk.reads()).toEqual([expect.stringMatching(/4 zones/)]);

  desk.cdn.faults.add({ match: { path: /pullzone/ }, status: 503, times: 10_000 });
  for (let days = 0; days < 4; days += 1) {
    desk.later(day - 400_000);
    await desk.workFor(600);
  }
  const told = desk.reads().slice(1);
  expect(told).toHaveLength(3);
  expect(told[0]).toMatch(/could not be made[\s\S]*problem of its own[\s\S]*Reference/);
  expect(told[2]).toMatch(/paused: it failed three times in a row/);
  expect((await desk.digests.find('T0ACME000', digest.id))?.paused).toMatchObject({ reason: 'failing' });
}, 60_000);

test('somebody with the right takes a digest over: it runs with their key, and that is on record', async () => {
  await using desk = await open();
  const digest = await desk.daily();
  await desk.digests.pauses({ person: alice, tenant: 'T0ACME000' });
  const stopped = await desk.digests.find('T0ACME000', digest.id);
  if (!stopped) throw new Error('it is gone');
  const [first, second] = [
    await desk.digests.takeOver(stopped, bob),
    await desk.digests.takeOver(stopped, bob),
  ];
  expect(first).toMatchObject({ owner: bob, paused: undefined });
  expect(second).toBeUndefined();
  const record = (await desk.audit.recent('T0ACME000', 9)).find(({ what }) => what === 'digest-taken-over');
  expect(record).toMatchObject({ actor: 'U0BOB0000', subject: digest.id, detail: { from: 'U0ALICE00' } });
  desk.later(hour + minute);
  await desk.work();
  await desk.workFor(5);
  expect(desk.reads().at(-1)).toMatch(/4 zones/);
});

test('paused, resumed, changed and deleted digests run when they should, and only then', async () => {
  await using desk = await open();
  const digest = await desk.daily();
  const paused = await desk.digests.pause(digest, alice);
  if (!paused) throw new Error('it was not paused');
  desk.later(2 * day);
  await desk.work();
  expect(posts(desk)).toEqual([]);
  const running = await desk.digests.resume(paused, alice);
  if (!running) throw new Error('it was not resumed');
  const moved = await desk.digests.change(
    running,
    { ...running, schedule: { ...running.schedule, time: '08:30' } },
    alice,
  );
  if (!moved) throw new Error('it was not changed');
  desk.later(31 * minute);
  await desk.workFor(3);
  expect(await desk.runs()).toEqual({ '2026-11-25T08:30': 'sent' });
  const gone = await desk.digests.remove(moved, alice);
  if (!gone) throw new Error('it was not deleted');
  desk.later(day);
  await desk.work();
  expect(posts(desk)).toHaveLength(1);
  expect(await desk.digests.restore(gone, alice)).toBeUndefined();
});

test('a digest that stays silent keeps its figures', async () => {
  await using desk = await open();
  const digest = await desk.daily();
  await desk.digests.change(digest, { ...digest, subject: { ...digest.subject, only: 'changed' } }, alice);
  desk.later(hour + minute);
  await desk.work();
  desk.later(day);
  await desk.work();
  expect(Object.values(await desk.runs())).toEqual(['sent', 'quiet']);
  expect(desk.reads()).toHaveLength(1);
});

test('with nothing to do there is nothing done', async () => {
  await using desk = await open();
  await desk.daily();
  expect(await workOnce(desk.context)).toBe(false);
});
