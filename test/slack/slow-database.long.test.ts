import { sql } from 'kysely';
import { afterEach, describe, expect, test } from 'vitest';
import type { Db } from '../../src/store/schema.ts';
import { generateKeys } from '../auth/keyring/keyrings.ts';
import {
  type Bot,
  type BotOptions,
  connect,
  createPublicUrl,
  followMessages,
  install,
  startBot,
} from '../support/bot.ts';
import { prepareEngines } from '../support/engines.ts';
import { startRelay } from '../support/relay.ts';
import { readStable } from '../support/words.ts';
import { alice, bob, ops, says } from './words.ts';

const { postgres } = await prepareEngines();
const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

async function start(options: BotOptions = {}) {
  const location = await postgres.createLocation();
  const relay = await startRelay(location.databaseUrl?.reveal() ?? '');
  closing.push(() => relay.close());
  const env = { DATABASE_URL: relay.url, ENCRYPTION_KEYS: generateKeys('k1'), ...options.env };
  const bot = await startBot({ transport: 'http', zones: 3, ...options, env });
  closing.push(() => bot.stop());
  if (options.install === 'oauth') await install(bot, bot.slack.workspaces.acme.id);
  await connect(bot, alice, ops);
  return { bot, relay, open: location.open };
}

/** Types a command that Slack sees acknowledged in time, and reads the one message that it leads to in the end. */
async function type(bot: Bot, words: string) {
  const person = bot.slack.as(alice, ops);
  const { all } = followMessages(person);
  expect(await person.slash(words)).toMatchObject({ status: 200, timedOut: false });
  const answers = () => all().filter(({ reads }) => !reads.includes(says.working));
  await expect.poll(answers, { timeout: 40_000 }).toHaveLength(1);
  return { answers };
}

/** Locks a table for everybody else until the returned function is called. */
async function lockTable(db: Db, table: string): Promise<() => Promise<void>> {
  const free = Promise.withResolvers<void>();
  const locked = Promise.withResolvers<void>();
  const holding = db.transaction().execute(async (trx) => {
    await sql`lock table ${sql.table(table)} in access exclusive mode`.execute(trx);
    locked.resolve();
    await free.promise;
  });
  await locked.promise;
  return async () => {
    free.resolve();
    await holding;
  };
}

describe.skipIf(postgres.skip)('while PostgreSQL is slow', () => {
  test('a command over a slow network is acknowledged at once and answered once', async () => {
    const { bot, relay } = await start();
    const asked = bot.cdn.requests.length;
    relay.delay(400);
    const { answers } = await type(bot, 'zones');
    relay.delay(0);
    await type(bot, 'whoami');
    expect(answers()).toHaveLength(2);
    expect(answers()[0]).toMatchObject({ ephemeral: true, reads: expect.stringContaining('3 zones') });
    expect(bot.cdn.requests.length).toBe(asked + 1);
  });

  test('an event that waits for the database is refused in time, and stored once when Slack sends it again', async () => {
    const { bot, open } = await start();
    const { db } = await open();
    const free = await lockTable(db, 'deliveries');
    const gone = {
      type: 'user_change',
      user: { id: bob, team_id: bot.slack.workspaces.acme.id, deleted: true },
    };
    const delivered = bot.slack.event(gone);
    await expect.poll(() => bot.logs.join('')).toContain('storing an event takes too long');
    await free();
    expect(await delivered).toMatchObject({ status: 200, timedOut: false });
    const ends = sql`select from pgboss.job where name = 'end-access'`;
    await expect.poll(async () => (await ends.execute(db)).rows.length).toBe(1);
  });

  test('a command whose query does not end is refused in words with a reference, and works afterwards', async () => {
    const { bot, open } = await start();
    const { db } = await open();
    const asked = bot.cdn.requests.length;
    const free = await lockTable(db, 'linked_keys');
    const { answers } = await type(bot, 'zones');
    const [refusal] = answers();
    expect(readStable(refusal)).toMatchSnapshot();
    const [, reference = 'none'] = /Reference (\S+)/.exec(refusal?.reads ?? '') ?? [];
    expect(bot.logs.some((line) => line.includes(reference) && line.includes('unexpected error'))).toBe(true);
    expect(bot.cdn.requests.length).toBe(asked);
    await free();
    await type(bot, 'zones');
    expect(answers().filter(({ reads }) => reads.includes('3 zones'))).toHaveLength(1);
    expect(bot.cdn.requests.length).toBe(asked + 1);
  });

  test('who mentions the bot of many workspaces is told while the database is gone', async () => {
    const { bot, relay } = await start({ install: 'oauth', env: await createPublicUrl() });
    const person = bot.slack.as(alice, ops);
    await type(bot, 'whoami');
    const { next } = followMessages(person);
    relay.close();
    person.say(`<@${bot.slack.workspaces.acme.botUserId}> whoami`);
    const told = await next(({ reads }) => reads.includes(says.databaseGone), 20_000);
    expect(told.ephemeral).toBe(true);
  });
});
