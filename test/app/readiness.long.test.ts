import { sql } from 'kysely';
import { describe, expect, onTestFinished, test } from 'vitest';
import { generateKeys } from '../auth/keyring/keyrings.ts';
import { type Bot, type BotOptions, startBot } from '../support/bot.ts';
import { prepareEngines } from '../support/engines.ts';
import { type Relay, startRelay } from '../support/relay.ts';

const { postgres } = await prepareEngines();

/** A bot of one test. */
async function start(options: BotOptions = {}): Promise<Bot> {
  const bot = await startBot({ zones: 1, ...options });
  onTestFinished(() => bot.stop());
  return bot;
}

async function startRelayTo(target: string): Promise<Relay> {
  const relay = await startRelay(target);
  onTestFinished(() => relay.close());
  return relay;
}

async function readiness({ app }: Bot): Promise<string> {
  const response = await fetch(`http://127.0.0.1:${app.port()}/readyz`);
  return `${response.status} ${(await response.text()).trim()}`;
}

async function waitFor(bot: Bot, said: string | RegExp): Promise<void> {
  await expect.poll(() => readiness(bot), { timeout: 40_000, interval: 500 }).toMatch(said);
}

test('a socket that was cut without a close is noticed by its silence', async () => {
  let relay: Relay | undefined;
  const bot = await start({
    envOf: async ({ slack }) => {
      relay = await startRelayTo(slack.url);
      return { SLACK_API_URL: new URL('/api/', relay.url).href };
    },
  });
  await waitFor(bot, '200 ready');
  relay?.hold();
  await waitFor(bot, '503 no connection to Slack has delivered anything for 15 s');
  const metrics = await (await fetch(`http://127.0.0.1:${bot.app.port()}/metrics`)).text();
  expect(metrics).toContain('\nchatops_slack_connections 0\n');
  relay?.resume();
  await waitFor(bot, '200 ready');
});

test('a clock that differs from the one in Slack’s answers by minutes is told', async () => {
  let aheadMs = 0;
  const bot = await start({ slack: { now: () => Date.now() + aheadMs } });
  expect(await readiness(bot)).toBe('200 ready');
  const person = bot.slack.as('U0ALICE00', 'C0OPS0000');
  // Opens a form, by a call whose answer has a date.
  const hear = async (): Promise<void> => {
    await person.slash('connect');
    await person.waitForModal(/key/i);
    await person.closeModal();
  };
  aheadMs = 600_000;
  await hear();
  await waitFor(bot, /^503 this machine’s clock is (?:599|600|601) s behind Slack’s: set it by NTP/);
  aheadMs = 0;
  await hear();
  await waitFor(bot, '200 ready');
});

describe.skipIf(postgres.skip)('with PostgreSQL', () => {
  test('commands that wait for every connection leave the bot ready', async () => {
    const { databaseUrl, open } = await postgres.createLocation();
    const env = { DATABASE_URL: databaseUrl?.reveal() ?? '', ENCRYPTION_KEYS: generateKeys('k1') };
    const bot = await start({ env, transport: 'http' });
    const other = await open();
    onTestFinished(() => other.close());
    const locked = Promise.withResolvers<void>();
    const free = Promise.withResolvers<void>();
    const holding = other.db.transaction().execute(async (trx) => {
      await sql`lock table deliveries in access exclusive mode`.execute(trx);
      locked.resolve();
      await free.promise;
    });
    await locked.promise;
    const person = bot.slack.as('U0ALICE00', 'C0OPS0000');
    await Promise.all(Array.from({ length: 8 }, () => person.slash('help')));
    const ready = await readiness(bot);
    free.resolve();
    await holding;
    expect(ready).toBe('200 ready');
  });

  test('a slow database is told after two seconds, and is not asked again meanwhile', async () => {
    const { databaseUrl } = await postgres.createLocation();
    const relay = await startRelayTo(databaseUrl?.reveal() ?? '');
    const bot = await start({ env: { DATABASE_URL: relay.url, ENCRYPTION_KEYS: generateKeys('k1') } });
    expect(await readiness(bot)).toBe('200 ready');
    relay.delay(3_000);
    await waitFor(bot, '503 the database has not answered for 2 s');
    relay.delay(0);
    await waitFor(bot, '200 ready');
    relay.close();
    await waitFor(bot, /^503 No database answers at 127\.0\.0\.1:\d+/u);
  });
});
