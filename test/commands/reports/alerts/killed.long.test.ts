import { expect, test } from 'vitest';
import { startCdn } from '../../../../simulator/cdn/server.ts';
import { startSlack } from '../../../../simulator/slack/server.ts';
import { generateKeys } from '../../../auth/keyring/keyrings.ts';
import { connect, environment } from '../../../support/bot.ts';
import { prepareEngines } from '../../../support/engines.ts';
import { type BotProcess, startBotProcess } from '../../../support/process.ts';

const { embedded, postgres } = await prepareEngines();
const [aliceId, ops] = ['U0ALICE00', 'C0OPS0000'];

type Engine = typeof embedded | typeof postgres;

/** Both simulators with all zones well, and the environment of a bot beside them. */
async function prepare({ createLocation }: Engine) {
  const [slack, cdn] = await Promise.all([startSlack(), startCdn({ zones: 4 })]);
  for (const zone of cdn.data.zones) Object.assign(zone, { Enabled: true, Suspended: false });
  const { dataDir, databaseUrl } = await createLocation();
  const env = {
    ...environment({ slack, cdn, dataDir }),
    ENCRYPTION_KEYS: generateKeys('k1'),
    ...(databaseUrl ? { DATABASE_URL: databaseUrl.reveal() } : {}),
  };
  const alice = slack.as(aliceId, ops);
  return {
    slack,
    cdn,
    alice,
    start: async (): Promise<BotProcess> => {
      const bot = startBotProcess(env);
      await bot.waitForOutput('"ready"');
      return bot;
    },
    connect: () => connect({ slack, cdn, env }, aliceId, ops),
    /** Makes an alert for disabled zones and gives its id. */
    async createAlert(): Promise<string> {
      await alice.slash('alert new disabled');
      await alice.waitForModal('alerts:submit');
      await alice.submit({ hours: '' });
      const saved = await alice.waitForModal('alerts:done');
      await alice.closeModal();
      return /(?<=Alert )\w{5}/u.exec(saved.reads)?.[0] ?? '';
    },
    incidents: () =>
      alice.messages().filter(({ reads, ephemeral }) => !ephemeral && reads.startsWith(':rotating_light:')),
    close: () => Promise.all([slack.close(), cdn.close()]),
  };
}

test.each([
  { name: embedded.name, engine: embedded, skip: embedded.skip },
  { name: postgres.name, engine: postgres, skip: postgres.skip },
])(
  'a process that is killed between the post of an incident and its record has posted once, on $name',
  async ({ engine, skip }) => {
    if (skip) return;
    const { slack, cdn, alice, ...world } = await prepare(engine);
    const first = await world.start();
    await slack.socket.waitFor(1);
    await world.connect();
    const id = await world.createAlert();
    const [zone] = cdn.data.zones;
    if (zone) zone.Enabled = false;
    // Slack takes the post and never answers it.
    slack.script.hold('chat.postMessage', 'after');
    await alice.slash(`alert check ${id}`);
    await alice.waitForMessage(({ reads }) => reads.startsWith(':rotating_light:'), 30_000);
    await first.kill('SIGKILL');

    const second = await world.start();
    await slack.socket.waitFor(1);
    // It looks for the message before it does anything else with that incident.
    await slack.called('conversations.history', 90_000);
    // What changes afterwards goes into the same message.
    if (zone) zone.Enabled = true;
    const [incident] = world.incidents();
    const text = (): string => alice.messages().find(({ ts }) => ts === incident?.ts)?.reads ?? '';
    await expect
      .poll(
        async () => {
          await alice.slash(`alert check ${id}`);
          return text();
        },
        { timeout: 90_000, interval: 2_000 },
      )
      .toMatch(/^:white_check_mark:/u);
    expect(world.incidents()).toEqual([]);
    expect(slack.problems).toEqual([]);
    await second.kill('SIGTERM');
    await world.close();
  },
  300_000,
);

test.each([
  { name: embedded.name, engine: embedded, skip: embedded.skip },
  { name: postgres.name, engine: postgres, skip: postgres.skip },
])(
  'an alert that was checked in two deaths is put aside and told, on $name',
  async ({ engine, skip }) => {
    if (skip) return;
    const { slack, cdn, alice, ...world } = await prepare(engine);
    const hold = () => {
      const reached = Promise.withResolvers<void>();
      cdn.faults.add({
        match: { path: /^\/pullzone/ },
        hold: { afterBytes: 0, until: new Promise(() => undefined), reached: reached.resolve },
      });
      return reached.promise;
    };
    const restart = async (): Promise<BotProcess> => {
      const bot = await world.start();
      await slack.socket.waitFor(1);
      return bot;
    };
    const bot = await restart();
    await world.connect();
    const id = await world.createAlert();
    const first = hold();
    await alice.slash(`alert check ${id}`);
    await first;
    await bot.kill('SIGKILL');
    const second = hold();
    const again = await restart();
    await second;
    await again.kill('SIGKILL');
    cdn.faults.clear();
    const asked = cdn.requests.length;
    const last = await restart();
    await alice.waitForMessage(({ reads }) => reads.includes('stopped twice'), 60_000);
    expect(cdn.requests.slice(asked)).toEqual([]);
    await last.kill('SIGTERM');
    expect(slack.problems).toEqual([]);
    await world.close();
  },
  300_000,
);

test.skipIf(postgres.skip)(
  'two replicas with twenty alerts, one of them killed: each incident is told once',
  async () => {
    const { slack, cdn, alice, ...world } = await prepare(postgres);
    const [first, second] = await Promise.all([world.start(), world.start()]);
    await slack.socket.waitFor(2);
    await world.connect();
    const ids: string[] = [];
    for (let nth = 0; nth < 20; nth += 1) ids.push(await world.createAlert());
    const [zone] = cdn.data.zones;
    if (zone) zone.Enabled = false;
    for (const id of ids) await alice.slash(`alert check ${id}`);
    await alice.waitForMessage(({ reads }) => reads.startsWith(':rotating_light:'), 30_000);
    await first.kill('SIGKILL');
    // Five minutes at most until the next look, were one lost.
    await expect.poll(() => world.incidents().length, { timeout: 400_000, interval: 1_000 }).toBe(20);
    const told = world.incidents().map(({ reads }) => ids.find((id) => reads.includes(id)));
    expect(new Set(told)).toEqual(new Set(ids));
    expect(slack.problems).toEqual([]);
    await second.kill('SIGTERM');
    await world.close();
  },
  600_000,
);
