import { expect, test } from 'vitest';
import { ApiError } from '../../../../src/api/http/errors.ts';
import { jobs } from '../../../../src/app/jobs.ts';
import { LinkedKeyError } from '../../../../src/auth/keys/key-store.ts';
import { RolesUnknown } from '../../../../src/auth/policy/authorizer.ts';
import { initialPolicy } from '../../../../src/auth/policy/policy.ts';
import { findDigestKind } from '../../../../src/commands/reports/checks/list.ts';
import { classifyCdnFailure, findLostPlace } from '../../../../src/commands/reports/life.ts';
import { reconcileReportsJob } from '../../../../src/commands/reports/runner.ts';
import { UserError } from '../../../../src/errors.ts';
import { createAlertHarness } from '../../../support/alerts/harness.ts';
import { alice, bob, createDigestHarness, type DigestHarness } from '../../../support/digests/harness.ts';
import { prepareEngines } from '../../../support/engines.ts';
import { readDigest, says } from './words.ts';

const { embedded } = await prepareEngines();
const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;

async function open(options?: Parameters<typeof createDigestHarness>[1]): Promise<DigestHarness> {
  return createDigestHarness(await embedded.emptyDatabase(), options);
}

interface Pause {
  readonly why: string;
  readonly breaks: (harness: DigestHarness) => unknown;
  readonly reason: string;
  /** The refusal that is counted, where the policy is why. */
  readonly counted?: string;
  /** Its channel takes no message: the owner is told. */
  readonly isChannelGone?: true;
  /** What is done about it before Bob takes it over. */
  readonly mends?: (harness: DigestHarness) => unknown;
}

const pauses: readonly Pause[] = [
  {
    why: 'its owner was deactivated',
    async breaks(harness) {
      await harness.keyStore.forget(alice);
      await harness.pauseFor({ person: alice, tenant: 'T0ACME000' });
    },
    reason: 'owner-gone',
  },
  {
    why: 'its owner was deactivated, and the event of it was lost',
    breaks: ({ slack }) => Object.assign(slack.world.person(alice.userId) ?? {}, { deactivated: true }),
    reason: 'owner-gone',
    counted: 'deactivated',
  },
  {
    why: 'its owner disconnected the key',
    breaks: ({ keyStore }) => keyStore.forget(alice),
    reason: 'key-missing',
    counted: 'no-key',
  },
  {
    why: 'the CDN refuses the key',
    breaks: ({ cdn }) => cdn.data.accessKeys.clear(),
    reason: 'key-refused',
    mends: ({ cdn }) => cdn.data.accessKeys.set(cdn.key, 'full'),
  },
  {
    why: 'the channel was capped',
    breaks: (harness) => savePolicy(harness, 0, { caps: { C0OPS0000: 'none' } }),
    reason: 'right-lost',
    counted: 'channel-cap',
    mends: (harness) => savePolicy(harness, 1),
  },
  {
    why: 'digests may go elsewhere only',
    breaks: (harness) => savePolicy(harness, 0, { postChannels: ['C0DEPLOY0'] }),
    reason: 'channel-not-allowed',
    counted: 'other-channel',
    mends: (harness) => savePolicy(harness, 1),
  },
  {
    why: 'the channel was archived',
    breaks: ({ slack }) => ops(slack, { archived: true }),
    reason: 'channel-archived',
    isChannelGone: true,
    mends: ({ slack }) => ops(slack, { archived: false }),
  },
  {
    why: 'the bot was removed from the channel',
    breaks: ({ slack }) => ops(slack, { botIsMember: false }),
    reason: 'bot-removed',
    isChannelGone: true,
    mends: ({ slack }) => ops(slack, { botIsMember: true }),
  },
  {
    why: 'the channel is gone',
    breaks: ({ slack }) => slack.world.channels.delete('C0OPS0000'),
    reason: 'channel-gone',
    isChannelGone: true,
  },
];

function ops({ world }: DigestHarness['slack'], state: { archived?: boolean; botIsMember?: boolean }): void {
  Object.assign(world.channels.get('C0OPS0000') ?? {}, state);
}

const savePolicy = ({ policies }: DigestHarness, base: number, change: Partial<typeof initialPolicy> = {}) =>
  policies.save({
    tenant: 'T0ACME000',
    base,
    policy: { ...initialPolicy, ...change },
    by: 'U0CAROL00',
    difference: [],
  });

const nobodyTold = 'nobody could be told that a report is paused';

test.each(pauses)(
  '$why: it pauses with one message, and runs again for whoever takes it over',
  async ({ breaks, reason, counted, isChannelGone, mends }) => {
    await using harness = await open();
    const digest = await harness.createDaily();
    await breaks(harness);
    harness.advance(hour + minute);
    await harness.runJobsFor(40, 4);
    harness.advance(3 * day);
    await harness.runJobsFor(40, 4);
    expect((await harness.reports.find('T0ACME000', digest.id))?.paused).toMatchObject({ reason });
    expect(await harness.countRefusals()).toEqual(counted === undefined ? {} : { [counted]: 1 });
    const notices = isChannelGone
      ? harness.readChannel('DU0ALICE00', 'U0ALICE00')
      : harness.readChannel('C0OPS0000', 'U0BOB0000');
    expect(notices.map((notice) => readDigest(notice, digest.id))).toMatchSnapshot();
    expect(harness.channelPosts().filter(({ ok }) => ok)).toHaveLength(1);
    expect(harness.log.entries.map(({ message }) => message)).not.toContain(nobodyTold);
    expect((await harness.audit.recent('T0ACME000', 5)).map(({ event }) => event)).toContain('digest-paused');

    const stopped = await harness.reports.find('T0ACME000', digest.id);
    if (!stopped || reason === 'channel-gone') return;
    await mends?.(harness);
    harness.slack.script.fail('chat.postMessage', 'rate_limited');
    const taken = await harness.reports.takeOver(stopped, bob);
    expect(taken).toMatchObject({ owner: bob, paused: undefined });
    await harness.runJobsFor(4);
    harness.advance(day);
    await harness.runJobsFor(4);
    const [notice, post] = harness.readChannel().slice(-2);
    // Also if Slack does not take it at once.
    expect(notice).toContain('@Bob');
    expect(post).toMatch(/4 zones/);
  },
);

test('while Slack does not say whether its owner is still there, a run waits; it is not paused', async () => {
  await using harness = await open();
  const digest = await harness.createDaily();
  harness.slack.script.fail('users.info', 'internal_error', 2);
  harness.advance(hour + minute);
  await harness.runJobs();
  expect(harness.readChannel()).toEqual([]);
  expect(harness.cdn.requests).toEqual([]);
  await harness.runJobsFor(150, 10);
  expect(harness.readChannel()).toEqual([expect.stringMatching(/4 zones/)]);
  expect((await harness.reports.find('T0ACME000', digest.id))?.paused).toBeUndefined();
});

test('Slack takes the token back: it pauses without a loop of errors', async () => {
  await using harness = await open();
  const digest = await harness.createDaily();
  harness.slack.script.fail('chat.postMessage', 'token_revoked', 1000);
  harness.advance(hour + minute);
  await harness.runJobsFor(40, 4);
  harness.advance(3 * day);
  await harness.runJobsFor(40, 4);
  expect((await harness.reports.find('T0ACME000', digest.id))?.paused).toMatchObject({
    reason: 'uninstalled',
  });
  expect(harness.channelPosts().length).toBeLessThanOrEqual(3);
});

test('neither the channel nor the owner can be told: an admin is', async () => {
  await using harness = await open({ adminIds: ['U0CAROL00'] });
  await harness.createDaily();
  ops(harness.slack, { archived: true });
  await harness.pauseFor({ person: alice, tenant: 'T0ACME000' });
  await harness.runJobs();
  expect(harness.readChannel('DU0CAROL00', 'U0CAROL00')).toEqual([
    expect.stringMatching(says.paused('owner-gone')),
  ]);
});

test('a CDN that is down: four requests in all, growing pauses, one message; three such runs pause it', async () => {
  await using harness = await open();
  // Three kinds, eight things to ask for.
  const digest = await harness.createDaily(alice, {
    subject: {
      kinds: ['zones', 'errors', 'scanning', 'apps'].map(findDigestKind),
      targets: {
        zones: [],
        shieldZones: ['501', '502', '503', '504'],
        apps: ['a'.repeat(12), 'b'.repeat(12)],
      },
      only: 'always',
      timeZone: 'UTC',
    },
  });
  harness.cdn.faults.add({ match: { method: 'GET' }, status: 503, times: 3 });
  harness.advance(hour + minute);
  await harness.runJobsFor(150, 10);
  expect(harness.readChannel()).toEqual([expect.stringMatching(/4 zones/)]);

  harness.cdn.faults.clear();
  harness.cdn.faults.add({ match: { method: 'GET' }, status: 503, times: Number.POSITIVE_INFINITY });
  const requests: number[] = [];
  for (let days = 0; days < 4; days += 1) {
    const before = harness.cdn.requests.length;
    harness.advance(day - 400_000);
    await harness.runJobsFor(600, 20);
    requests.push(harness.cdn.requests.length - before);
  }
  expect(requests).toEqual([4, 4, 4, 0]);
  const told = harness.readChannel().slice(1);
  expect(told).toHaveLength(3);
  expect(readDigest(told[0] ?? '', digest.id)).toMatchSnapshot('a run that failed');
  expect(readDigest(told[2] ?? '', digest.id)).toMatchSnapshot('the third one');
  expect((await harness.reports.find('T0ACME000', digest.id))?.paused).toMatchObject({ reason: 'failing' });
}, 60_000);

test('runs that a person asks for do not pause it by failing', async () => {
  await using harness = await open();
  const digest = await harness.createDaily();
  await harness.db.updateTable('reports').set({ failures: 2 }).execute();
  harness.cdn.faults.add({ match: { method: 'GET' }, status: 503, times: Number.POSITIVE_INFINITY });
  await harness.reports.runNow(digest, alice);
  await harness.runJobsFor(600, 20);
  expect(harness.readChannel()).toHaveLength(1);
  expect((await harness.reports.find('T0ACME000', digest.id))?.paused).toBeUndefined();
});

test.each([
  ['restricted_action_read_only_channel', 'channel-not-allowed'],
  ['slack_connect_canvas_sharing_blocked', 'channel-not-allowed'],
  ['posting_to_general_channel_denied', 'channel-not-allowed'],
  ['channel_shared', 'channel-shared'],
  ['channel_is_archived', 'channel-archived'],
  ['user_not_found', 'channel-gone'],
  ['invalid_blocks', undefined],
  ['ekm_access_denied', undefined],
])('a first place that says %s pauses: %s', (code, reason) => {
  expect(findLostPlace({ reason: 'refused', code })).toBe(reason);
});

const api = (code: ConstructorParameters<typeof ApiError>[0]['code'], retryAfterSeconds?: number) =>
  new ApiError({ code, operation: 'List Pull Zones', sent: true, retryAfterSeconds });

test.each([
  [new LinkedKeyError('refused', 'It does not open.'), 'key-missing'],
  [new UserError('No key.', 'Connect one.', 'connect'), 'key-missing'],
  [new UserError('No zones.', 'Look there.'), undefined],
  [api('key_refused'), 'key-refused'],
  [api('not_found'), undefined],
  [api('rate_limited', 7), { passes: true, retryAfterMs: 7_000 }],
  [api('cancelled'), { passes: true, retryAfterMs: 0 }],
  [new RolesUnknown(), { passes: true, retryAfterMs: 0 }],
  [new Error('a fault of ours'), undefined],
])('after %s a report pauses, or is tried again: %o', (error, found) => {
  expect(classifyCdnFailure(error)).toEqual(found);
});

/** Pauses what Alice owns. */
async function pauseAll({ pauseFor }: DigestHarness): Promise<void> {
  await pauseFor({ person: alice, tenant: 'T0ACME000' });
}

async function noticeStates({ db }: DigestHarness): Promise<(string | null)[]> {
  const rows = await db.selectFrom('reports').select('pause_notice').execute();
  return rows.map(({ pause_notice: state }) => state);
}

const isPaused = expect.stringMatching(says.paused('owner-gone'));

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
  ops(harness.slack, { archived: true });
  for (let times = 0; times < 3; times += 1) {
    await reconcileReportsJob.run({}, harness.context);
    await harness.runJobs();
    harness.advance(hour);
  }
  expect(harness.channelPosts()).toHaveLength(1);
  expect(harness.log.entries.map(({ message }) => message)).toContain(nobodyTold);
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

const findPutAside = (name: string) => jobs.find((job) => job.name === name)?.putAside;

test('of a person whose reports killed two processes the alerts that are due are paused, and the owner is told', async () => {
  await using harness = await createAlertHarness(await embedded.emptyDatabase());
  const due = await harness.createAlert();
  harness.advance(6 * 60_000);
  const later = await harness.createAlert();
  await findPutAside('reports-due')?.({ tenant: 'T0ACME000', owner: alice.userId }, harness.context);
  await harness.runJobs();
  expect((await harness.find(due)).paused).toEqual({ reason: 'crashing', by: undefined });
  expect((await harness.find(later)).paused).toBeUndefined();
  expect(harness.readChannel().filter((text) => text.includes('stopped twice'))).toHaveLength(1);
  expect(harness.countChecks()).toBe(0);
  // The other one goes on.
  await harness.look();
  expect(harness.countChecks()).toBeGreaterThan(0);
});

test.each([
  ['collecting', 'failed', 1],
  ['sent', 'sent', 0],
])(
  'a digest whose run was %s when a second process died: it ends as %s, with %i notices',
  async (state, end, notices) => {
    await using harness = await createDigestHarness(await embedded.emptyDatabase());
    const digest = await harness.createDaily();
    const due = new Date(Date.UTC(2026, 10, 23, 9));
    const run = { report_id: digest.id, due, run_at: due, state, missed: 0, attempts: 2, by_hand: null };
    await harness.db.insertInto('report_runs').values(run).execute();
    await findPutAside('digest-run')?.({ digestId: digest.id, due: due.toISOString() }, harness.context);
    await harness.runJobs();
    expect(await harness.runStates()).toEqual({ '2026-11-23T09:00': end });
    expect(harness.readChannel().filter((text) => text.includes('stopped twice'))).toHaveLength(notices);
  },
);
