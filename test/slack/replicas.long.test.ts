import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { buildApp } from '../../src/app/build-app.ts';
import { readConfig } from '../../src/app/config.ts';
import type { ChatApp } from '../../src/app/wire.ts';
import { createLogger } from '../../src/telemetry/log.ts';
import { type Bot, connect, disconnect, startBot } from '../support/bot.ts';
import { findPostgres, type PostgresServer } from '../support/postgres.ts';

const alice = 'U0ALICE00';
const ops = 'C0OPS0000';
const postgres = await findPostgres();
const missing = typeof postgres === 'string' ? postgres : undefined;

describe.skipIf(missing)(`two replicas on PostgreSQL${missing ? ` (skipped: ${missing})` : ''}`, () => {
  let server: PostgresServer;
  let bot: Bot;
  let second: ChatApp;
  beforeAll(async () => {
    if (typeof postgres === 'string') return;
    server = await postgres.start();
    const shared = {
      DATABASE_URL: (await server.createDatabase()).reveal(),
      ENCRYPTION_KEYS: `k1:${randomBytes(32).toString('base64')}`,
    };
    bot = await startBot({ transport: 'http', env: shared });
    second = await buildApp({ config: readConfig(bot.env), log: createLogger('error') });
    await second.start();
  });
  afterAll(async () => {
    await second?.stop();
    await bot?.stop();
    await server?.stop();
  });

  test('a key that was linked at one works at the other', async () => {
    await connect(bot, alice, ops);
    bot.slack.deliverTo(`http://127.0.0.1:${second.port()}/slack/events`);
    const person = bot.slack.as(alice, ops);
    await person.slash('zones');
    await person.waitForMessage(/25 zones.*this month/);
    expect(bot.slack.problems).toEqual([]);
  });

  test('a delivery that reaches both is worked on by one', async () => {
    const person = bot.slack.as(alice, ops);
    const answers = (): number => person.messages().filter(({ text }) => /fingerprint/.test(text)).length;
    await person.slash('whoami');
    await person.waitForMessage(() => answers() === 1);
    bot.slack.deliverTo(`http://127.0.0.1:${bot.app.port()}/slack/events`);
    expect((await bot.slack.redeliver()).status).toBe(200);
    // The next answer of that replica comes after anything the copy could have caused.
    await disconnect(person);
    expect(answers()).toBe(1);
  });
});
