import { expect, test } from 'vitest';
import { initialPolicy } from '../../../../src/auth/policy/policy.ts';
import { findDigestKind } from '../../../../src/commands/reports/checks/list.ts';
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

const pauses: readonly {
  readonly why: string;
  readonly breaks: (harness: DigestHarness) => Promise<void> | void;
  readonly reason: string;
  /** The refusal that is counted, where the policy is why. */
  readonly counted?: string;
  /** Where it is told. */
  readonly told: readonly [channel: string, userId: string];
  /** What is done about it before Bob takes it over. */
  readonly mends?: (harness: DigestHarness) => Promise<void> | void;
}[] = [
  {
    why: 'its owner was deactivated',
    async breaks(harness) {
      await harness.keyStore.forget(alice);
      await harness.pauseFor({ person: alice, tenant: 'T0ACME000' });
    },
    reason: 'owner-gone',
    told: ['C0OPS0000', 'U0BOB0000'],
  },
  {
    why: 'its owner was deactivated, and the event of it was lost',
    breaks: ({ slack }) => void Object.assign(slack.world.person(alice.userId) ?? {}, { deactivated: true }),
    reason: 'owner-gone',
    counted: 'deactivated',
    told: ['C0OPS0000', 'U0BOB0000'],
  },
  {
    why: 'its owner disconnected the key',
    breaks: async ({ keyStore }) => void (await keyStore.forget(alice)),
    reason: 'key-missing',
    counted: 'no-key',
    told: ['C0OPS0000', 'U0BOB0000'],
  },
  {
    why: 'the CDN refuses the key',
    breaks: ({ cdn }) => cdn.data.accessKeys.clear(),
    reason: 'key-refused',
    told: ['C0OPS0000', 'U0BOB0000'],
    mends: ({ cdn }) => void cdn.data.accessKeys.set(cdn.key, 'full'),
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
    counted: 'channel-cap',
    told: ['C0OPS0000', 'U0BOB0000'],
    mends: uncap,
  },
  {
    why: 'digests may go elsewhere only',
    async breaks({ policies }) {
      await policies.save({
        tenant: 'T0ACME000',
        base: 0,
        policy: { ...initialPolicy, postChannels: ['C0DEPLOY0'] },
        by: 'U0CAROL00',
        difference: [],
      });
    },
    reason: 'channel-not-allowed',
    counted: 'other-channel',
    told: ['C0OPS0000', 'U0BOB0000'],
    mends: uncap,
  },
  {
    why: 'the channel was archived',
    breaks: ({ slack }) => ops(slack, { archived: true }),
    reason: 'channel-archived',
    told: ['DU0ALICE00', 'U0ALICE00'],
    mends: ({ slack }) => ops(slack, { archived: false }),
  },
  {
    why: 'the bot was removed from the channel',
    breaks: ({ slack }) => ops(slack, { botIsMember: false }),
    reason: 'bot-removed',
    told: ['DU0ALICE00', 'U0ALICE00'],
    mends: ({ slack }) => ops(slack, { botIsMember: true }),
  },
  {
    why: 'the channel is gone',
    breaks: ({ slack }) => void slack.world.channels.delete('C0OPS0000'),
    reason: 'channel-gone',
    told: ['DU0ALICE00', 'U0ALICE00'],
  },
];

function ops({ world }: DigestHarness['slack'], state: { archived?: boolean; botIsMember?: boolean }): void {
  Object.assign(world.channels.get('C0OPS0000') ?? {}, state);
}

async function uncap({ policies }: DigestHarness): Promise<void> {
  await policies.save({
    tenant: 'T0ACME000',
    base: 1,
    policy: initialPolicy,
    by: 'U0CAROL00',
    difference: [],
  });
}

test.each(pauses)(
  '$why: it pauses with one message, and runs again for whoever takes it over',
  async ({ breaks, reason, counted, told: [channel, reader], mends }) => {
    await using harness = await open();
    const digest = await harness.createDaily();
    await breaks(harness);
    harness.advance(hour + minute);
    await harness.runJobsFor(40, 4);
    harness.advance(3 * day);
    await harness.runJobsFor(40, 4);
    expect((await harness.reports.find('T0ACME000', digest.id))?.paused).toMatchObject({ reason });
    expect(await harness.countRefusals()).toEqual(counted === undefined ? {} : { [counted]: 1 });
    const notices = harness.readChannel(channel, reader);
    expect(notices.map((notice) => readDigest(notice, digest.id))).toMatchSnapshot();
    expect(harness.channelPosts().filter(({ ok }) => ok)).toHaveLength(1);
    expect((await harness.audit.recent('T0ACME000', 5)).map(({ event }) => event)).toContain('digest-paused');

    const stopped = await harness.reports.find('T0ACME000', digest.id);
    if (!stopped || reason === 'channel-gone') return;
    await mends?.(harness);
    const taken = await harness.reports.takeOver(stopped, bob);
    expect(taken).toMatchObject({ owner: bob, paused: undefined });
    harness.advance(day);
    await harness.runJobsFor(4);
    expect(harness.readChannel().at(-1)).toMatch(/4 zones/);
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

test('the app was removed from the workspace: everything pauses, and there is nobody to tell', async () => {
  await using harness = await open();
  const digest = await harness.createDaily();
  await harness.pauseFor({ person: undefined, tenant: 'T0ACME000' });
  harness.advance(2 * day);
  await harness.runJobs();
  expect(harness.channelPosts()).toEqual([]);
  expect((await harness.reports.find('T0ACME000', digest.id))?.paused).toMatchObject({
    reason: 'uninstalled',
  });
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

test('a CDN that goes down in the middle of a run: few more requests, and one message with what was read', async () => {
  await using harness = await open();
  await harness.createDaily(alice, {
    subject: {
      kinds: ['zones', 'errors', 'scanning'].map(findDigestKind),
      targets: { zones: [], shieldZones: ['501', '502', '503', '504', '505', '506'], apps: [] },
      only: 'always',
      timeZone: 'UTC',
    },
  });
  harness.cdn.faults.add({ match: { method: 'GET' }, skip: 1, status: 503, times: Number.POSITIVE_INFINITY });
  harness.advance(hour + minute);
  await harness.runJobsFor(10);
  expect(harness.cdn.requests.length).toBeLessThanOrEqual(12);
  expect(harness.readChannel()).toEqual([expect.stringMatching(/4 zones/)]);
  expect(Object.values(await harness.runStates())).toEqual(['sent']);
});
