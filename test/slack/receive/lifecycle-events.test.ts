import { afterAll, describe, expect, test } from 'vitest';
import { startSlack } from '../../../simulator/slack/server.ts';
import { Secret } from '../../../src/secrets/secret.ts';
import { createDeliver } from '../../../src/slack/receive/deliver.ts';
import { createInFlight } from '../../../src/slack/receive/in-flight.ts';
import { createSocketReceiver } from '../../../src/slack/receive/socket-receiver.ts';
import { createLibraryLog } from '../../../src/slack/send/clients.ts';
import type { LifecycleHandlers } from '../../../src/slack/sender.ts';
import { createMetrics } from '../../../src/telemetry/metrics.ts';
import { ask, type Bot, connect, createPublicUrl, install, startBot } from '../../support/bot.ts';
import { createMemoryLog } from '../../support/engines.ts';
import { saveSettings } from '../../support/settings.ts';
import { readStable } from '../../support/words.ts';
import { alice, bob, offers, ops } from '../words.ts';

const betaOps = 'C0BETAOPS';

type Person = ReturnType<Bot['slack']['as']>;

const env = await createPublicUrl();
const bot = await startBot({ transport: 'http', install: 'oauth', zones: 3, env });
const { acme, beta } = bot.slack.workspaces;
for (const { id } of [acme, beta]) await install(bot, id);
afterAll(async () => {
  await bot.stop();
});

const hasKey = async (person: Person): Promise<boolean> =>
  offers('connect:forget')(await ask(person, 'whoami'));

describe('settings of interleaved workspaces with equal user ids', () => {
  test('settings of one workspace hold there only', async () => {
    const { acme, beta } = bot.slack.workspaces;
    await Promise.all([
      connect(bot, alice, ops, bot.cdn.key, acme.id),
      connect(bot, alice, betaOps, bot.cdn.key, beta.id),
      connect(bot, bob, ops, bot.cdn.key, acme.id),
    ]);
    const inAcme = bot.slack.as(alice, ops, acme.id);
    const inBeta = bot.slack.as(alice, betaOps, beta.id);
    // The namesake is no admin over there.
    await inBeta.slash('settings');
    await Promise.all([
      saveSettings(inAcme, { operators: [alice] }),
      inBeta.waitForModal(offers('why settings')),
    ]);
    await Promise.all([inAcme.closeModal(), inBeta.closeModal()]);
    const answers = new Set<string>();
    for (let round = 0; round < 3; round += 1) {
      const [here, there] = await Promise.all([ask(inAcme, 'why export'), ask(inBeta, 'why export')]);
      answers.add(`${readStable(here)}\n\nin the other workspace:\n\n${readStable(there)}`);
    }
    expect([...answers]).toMatchSnapshot();
  });
});

describe('a key ends with its person', () => {
  test('a deactivated person loses their key, the same id elsewhere and all others keep theirs', async () => {
    const { acme, beta } = bot.slack.workspaces;
    const inAcme = bot.slack.as(alice, ops, acme.id);
    const inBeta = bot.slack.as(alice, betaOps, beta.id);
    const gone = { type: 'user_change', user: { id: alice, team_id: acme.id, deleted: true } };
    await bot.slack.event(gone, { teamId: acme.id });
    await until(async () => !(await hasKey(inAcme)));
    expect(await hasKey(inBeta)).toBe(true);
    expect(await hasKey(bot.slack.as(bob, ops, acme.id))).toBe(true);
    // Told again, nothing is left to end.
    await bot.slack.event(gone, { teamId: acme.id });
  });
});

test('an end is stored before it is acknowledged; where it cannot be, Slack is told to send it again', async () => {
  const stored: unknown[] = [];
  const isFailing = [true, false];
  const database = Promise.withResolvers<void>();
  const acknowledgedAt: number[] = [];
  const ends: LifecycleHandlers = {
    changed: () => undefined,
    async store(eventId, of) {
      if (isFailing.shift()) throw new Error('the database is away');
      stored.push([eventId, of]);
      if (stored.length > 1) await database.promise;
    },
  };
  const deliver = createDeliver({
    egress: { acknowledgement: (reply: unknown) => reply },
    ends,
    inFlight: createInFlight({ manyTenants: false }),
    log: createMemoryLog(),
    metrics: createMetrics(),
    now: () => new Date(),
  } as unknown as Parameters<typeof createDeliver>[0]);
  const send = () =>
    deliver(
      {
        event_id: 'Ev1',
        event_time: 1_795_000_000,
        team_id: 'T0ACME000',
        event: { type: 'app_uninstalled' },
      },
      async () => void acknowledgedAt.push(stored.length),
      { transport: 'http', sentAt: undefined },
    );
  await expect(send()).rejects.toThrow('the database is away');
  expect(acknowledgedAt).toEqual([]);
  await send();
  expect(acknowledgedAt).toEqual([1]);
  expect(stored).toEqual([['Ev1', [{ teamId: 'T0ACME000', at: 1_795_000_000, cause: 'app-uninstalled' }]]]);

  // Behind a database that is slow they do not pile up.
  const flood = Promise.allSettled(Array.from({ length: 300 }, send));
  await expect.poll(() => stored).toHaveLength(201);
  database.resolve();
  expect((await flood).filter(({ status }) => status === 'rejected')).toHaveLength(100);
  expect(stored).toHaveLength(201);
});

test('over a socket, what fails is not acknowledged, so that Slack sends it again', async () => {
  const slack = await startSlack();
  const log = createMemoryLog();
  let tries = 0;
  const receiver = createSocketReceiver({
    appToken: new Secret(slack.appToken),
    apiUrl: `${slack.url}/api/`,
    async deliver(_body, ack) {
      tries += 1;
      if (tries === 1) throw new Error('the database is away');
      await ack();
    },
    logger: createLibraryLog(log),
    log,
  });
  await receiver.start();
  expect((await slack.event({ type: 'app_uninstalled' })).status).toBe(200);
  expect(tries).toBe(2);
  await receiver.stop();
  await slack.close();
});

/** Asks until it is so: an event is acknowledged before its work is done. */
async function until(isSo: () => Promise<boolean>): Promise<void> {
  for (let tries = 0; tries < 50; tries += 1) if (await isSo()) return;
  throw new Error('it did not come about');
}
