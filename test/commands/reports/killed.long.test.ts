import { expect, test } from 'vitest';
import { prepareEngines } from '../../support/engines.ts';
import { prepareKilledBot } from '../../support/killed-bot.ts';

const { embedded, postgres } = await prepareEngines();
const [aliceId, ops] = ['U0ALICE00', 'C0OPS0000'];

/** Both simulators with all zones well, Alice, and what a bot beside them does. */
async function prepare({ createLocation }: typeof embedded | typeof postgres) {
  const world = await prepareKilledBot(await createLocation(), { zones: 4 });
  const { slack, cdn } = world;
  for (const zone of cdn.data.zones) Object.assign(zone, { Enabled: true, Suspended: false });
  const alice = slack.as(aliceId, ops);
  return {
    ...world,
    alice,
    connect: () => world.connect(aliceId, ops),
    /** Makes a report and gives its id. */
    async create(words: string): Promise<string> {
      const [kind = ''] = words.split(' ');
      await alice.slash(`${kind} new ${words.slice(kind.length)}`);
      await alice.waitForModal(`${kind}s:submit`);
      await alice.submit(kind === 'alert' ? { hours: '' } : {});
      const saved = await alice.waitForModal(`${kind}s:done`);
      await alice.closeModal();
      return /(?<=(?:Alert|Digest) )\w{5}/u.exec(saved.reads)?.[0] ?? '';
    },
    incidents: () =>
      alice.messages().filter(({ reads, ephemeral }) => !ephemeral && reads.startsWith(':rotating_light:')),
    disableZone() {
      const [zone] = cdn.data.zones;
      if (zone) zone.Enabled = false;
    },
    async [Symbol.asyncDispose]() {
      expect(slack.problems).toEqual([]);
      await world.stop();
    },
  };
}

function isDigest({ reads, ephemeral }: { reads: string; ephemeral: boolean }): boolean {
  return !ephemeral && reads.includes('asked for by');
}

test('a process that is killed between a post and its record has posted once, a digest and an incident', async () => {
  await using world = await prepare(embedded);
  const { slack, alice } = world;
  let bot = await world.start();
  await world.connect();
  const isPosted = { digest: isDigest, alert: () => world.incidents().length > 0 };
  let check = '';
  for (const kind of ['digest', 'alert'] as const) {
    // Made just before: an alert is also checked at every fifth minute of the hour.
    const id = await world.create(kind === 'alert' ? 'alert disabled' : kind);
    // Slack takes the post and never answers it: not a reply of the digest, which comes meanwhile.
    slack.script.hold('chat.postMessage', 'after', kind === 'alert' ? 'alerts:acknowledge' : undefined);
    if (kind === 'alert') world.disableZone();
    check = `${kind} ${kind === 'alert' ? 'check' : 'run'} ${id}`;
    await alice.slash(check);
    await alice.waitForMessage(isPosted[kind], 30_000);
    await bot.kill('SIGKILL');
    const looked = slack.calls.filter(({ method }) => method === 'conversations.history').length;
    bot = await world.start();
    // It looks for the message before it does anything else with it.
    await expect
      .poll(() => slack.calls.filter(({ method }) => method === 'conversations.history').length, {
        timeout: 90_000,
      })
      .toBeGreaterThan(looked);
  }
  // What changes afterwards goes into the same message, and the digest's thread is complete.
  for (const zone of world.cdn.data.zones) zone.Enabled = true;
  const isOver = async (): Promise<boolean> => {
    await alice.slash(check);
    return alice.messages().some(({ reads }) => reads.startsWith(':white_check_mark:'));
  };
  await expect.poll(isOver, { timeout: 90_000, interval: 2_000 }).toBe(true);
  await alice.waitForMessage(({ threadTs }) => threadTs !== undefined, 30_000);
  expect(alice.messages().filter(isDigest)).toHaveLength(1);
  expect(world.incidents()).toEqual([]);
}, 300_000);

// An alert that was checked in two deaths: `digests/pauses.test.ts`.
test.skipIf(postgres.skip)(
  'two replicas with four alerts, one of them killed: each incident is told once',
  async () => {
    await using world = await prepare(postgres);
    const { alice } = world;
    const first = await world.start();
    await world.start(2);
    await world.connect();
    const ids: string[] = [];
    for (let nth = 0; nth < 4; nth += 1) ids.push(await world.create('alert disabled'));
    world.disableZone();
    for (const id of ids) await alice.slash(`alert check ${id}`);
    await alice.waitForMessage(({ reads }) => reads.startsWith(':rotating_light:'), 30_000);
    await first.kill('SIGKILL');
    // Five minutes at most until the next look, were one lost.
    await expect.poll(() => world.incidents().length, { timeout: 400_000, interval: 1_000 }).toBe(4);
    const told = world.incidents().map(({ reads }) => ids.find((id) => reads.includes(id)));
    expect(new Set(told)).toEqual(new Set(ids));
  },
  600_000,
);
