import { expect, test } from 'vitest';
import { initialPolicy } from '../../src/auth/policy/policy.ts';
import { alice, bob, createDigestHarness, type DigestHarness } from '../support/digests/harness.ts';
import { prepareEngines } from '../support/engines.ts';
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
  readonly breaks: (desk: DigestHarness) => Promise<void> | void;
  readonly reason: string;
  /** Where it is told. */
  readonly told: readonly [channel: string, userId: string];
  /** What is done about it before Bob takes it over. */
  readonly mends?: (desk: DigestHarness) => Promise<void> | void;
}[] = [
  {
    why: 'its owner was deactivated',
    async breaks(desk) {
      await desk.keyStore.forget(alice);
      await desk.digests.pauseFor({ person: alice, tenant: 'T0ACME000' });
    },
    reason: 'owner-gone',
    told: ['C0OPS0000', 'U0BOB0000'],
  },
  {
    why: 'its owner was deactivated, and the event of it was lost',
    breaks: ({ slack }) => void Object.assign(slack.world.person(alice.userId) ?? {}, { deactivated: true }),
    reason: 'owner-gone',
    told: ['C0OPS0000', 'U0BOB0000'],
  },
  {
    why: 'its owner disconnected the key',
    breaks: async ({ keyStore }) => void (await keyStore.forget(alice)),
    reason: 'key-missing',
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
    told: ['C0OPS0000', 'U0BOB0000'],
    mends: uncap,
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
  async ({ breaks, reason, told: [channel, reader], mends }) => {
    await using desk = await open();
    const digest = await desk.createDaily();
    await breaks(desk);
    desk.advance(hour + minute);
    await desk.runJobsFor(40, 4);
    desk.advance(3 * day);
    await desk.runJobsFor(40, 4);
    expect((await desk.digests.find('T0ACME000', digest.id))?.paused).toMatchObject({ reason });
    const notices = desk.readChannel(channel, reader);
    expect(notices.map((notice) => readDigest(notice, digest.id))).toMatchSnapshot();
    expect(desk.channelPosts().filter(({ ok }) => ok)).toHaveLength(1);
    expect((await desk.audit.recent('T0ACME000', 5)).map(({ event }) => event)).toContain('digest-paused');

    const stopped = await desk.digests.find('T0ACME000', digest.id);
    if (!stopped || reason === 'channel-gone') return;
    await mends?.(desk);
    const taken = await desk.digests.takeOver(stopped, bob);
    expect(taken).toMatchObject({ owner: bob, paused: undefined });
    desk.advance(day);
    await desk.runJobsFor(4);
    expect(desk.readChannel().at(-1)).toMatch(/4 zones/);
  },
);

test('while Slack does not say whether its owner is still there, a run waits; it is not paused', async () => {
  await using desk = await open();
  const digest = await desk.createDaily();
  desk.slack.script.fail('users.info', 'internal_error', 2);
  desk.advance(hour + minute);
  await desk.runJobs();
  expect(desk.readChannel()).toEqual([]);
  expect(desk.cdn.requests).toEqual([]);
  await desk.runJobsFor(150, 10);
  expect(desk.readChannel()).toEqual([expect.stringMatching(/4 zones/)]);
  expect((await desk.digests.find('T0ACME000', digest.id))?.paused).toBeUndefined();
});

test('the app was removed from the workspace: everything pauses, and there is nobody to tell', async () => {
  await using desk = await open();
  const digest = await desk.createDaily();
  await desk.digests.pauseFor({ person: undefined, tenant: 'T0ACME000' });
  desk.advance(2 * day);
  await desk.runJobs();
  expect(desk.channelPosts()).toEqual([]);
  expect((await desk.digests.find('T0ACME000', digest.id))?.paused).toMatchObject({ reason: 'uninstalled' });
});

test('Slack takes the token back: it pauses without a loop of errors', async () => {
  await using desk = await open();
  const digest = await desk.createDaily();
  desk.slack.script.fail('chat.postMessage', 'token_revoked', 1000);
  desk.advance(hour + minute);
  await desk.runJobsFor(40, 4);
  desk.advance(3 * day);
  await desk.runJobsFor(40, 4);
  expect((await desk.digests.find('T0ACME000', digest.id))?.paused).toMatchObject({ reason: 'uninstalled' });
  expect(desk.channelPosts().length).toBeLessThanOrEqual(3);
});

test('neither the channel nor the owner can be told: an admin is', async () => {
  await using desk = await open({ adminIds: ['U0CAROL00'] });
  await desk.createDaily();
  ops(desk.slack, { archived: true });
  await desk.digests.pauseFor({ person: alice, tenant: 'T0ACME000' });
  await desk.runJobs();
  expect(desk.readChannel('DU0CAROL00', 'U0CAROL00')).toEqual([
    expect.stringMatching(says.paused('owner-gone')),
  ]);
});

test('a CDN that is down: four requests in all, growing pauses, one message; three such runs pause it', async () => {
  await using desk = await open();
  // Three kinds, eight things to ask for.
  const digest = await desk.createDaily(alice, {
    subject: {
      kinds: ['zones', 'errors', 'scanning', 'apps'],
      targets: {
        zones: [],
        shieldZones: ['501', '502', '503', '504'],
        apps: ['a'.repeat(12), 'b'.repeat(12)],
      },
      only: 'always',
      timeZone: 'UTC',
    },
  });
  desk.cdn.faults.add({ match: { method: 'GET' }, status: 503, times: 3 });
  desk.advance(hour + minute);
  await desk.runJobsFor(150, 10);
  expect(desk.readChannel()).toEqual([expect.stringMatching(/4 zones/)]);

  desk.cdn.faults.clear();
  desk.cdn.faults.add({ match: { method: 'GET' }, status: 503, times: Number.POSITIVE_INFINITY });
  const requests: number[] = [];
  for (let days = 0; days < 4; days += 1) {
    const before = desk.cdn.requests.length;
    desk.advance(day - 400_000);
    await desk.runJobsFor(600, 20);
    requests.push(desk.cdn.requests.length - before);
  }
  expect(requests).toEqual([4, 4, 4, 0]);
  const told = desk.readChannel().slice(1);
  expect(told).toHaveLength(3);
  expect(readDigest(told[0] ?? '', digest.id)).toMatchSnapshot('a run that failed');
  expect(readDigest(told[2] ?? '', digest.id)).toMatchSnapshot('the third one');
  expect((await desk.digests.find('T0ACME000', digest.id))?.paused).toMatchObject({ reason: 'failing' });
}, 60_000);

test('a CDN that goes down in the middle of a run: four more requests, and one message with what was read', async () => {
  await using desk = await open();
  await desk.createDaily(alice, {
    subject: {
      kinds: ['zones', 'errors', 'scanning'],
      targets: { zones: [], shieldZones: ['501', '502', '503', '504', '505', '506'], apps: [] },
      only: 'always',
      timeZone: 'UTC',
    },
  });
  desk.cdn.faults.add({ match: { method: 'GET' }, skip: 1, status: 503, times: Number.POSITIVE_INFINITY });
  desk.advance(hour + minute);
  await desk.runJobsFor(10);
  expect(desk.cdn.requests).toHaveLength(5);
  expect(desk.readChannel()).toEqual([expect.stringMatching(/4 zones/)]);
  expect(Object.values(await desk.runStates())).toEqual(['sent']);
});
