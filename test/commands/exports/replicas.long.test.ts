import { randomBytes } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { buildApp } from '../../../src/app/build-app.ts';
import { readConfig } from '../../../src/app/config.ts';
import type { ChatApp } from '../../../src/app/wire.ts';
import { createLogger } from '../../../src/telemetry/log.ts';
import type { Bot } from '../../support/bot.ts';
import { findPostgres, type PostgresServer } from '../../support/postgres.ts';
import { type BotProcess, startBotProcess } from '../../support/process.ts';
import {
  channels,
  findFileMessages,
  openForm,
  startExportBot,
  submitForm,
  users,
  waitForEnd,
} from './bot.ts';
import { says } from './words.ts';

const { alice } = users;
const { ops, deploys } = channels;
const postgres = await findPostgres();
const missing = typeof postgres === 'string' ? postgres : undefined;

describe.skipIf(missing)(`exports of two replicas${missing ? ` (skipped: ${missing})` : ''}`, () => {
  let server: PostgresServer;
  let bot: Bot;
  let second: ChatApp | undefined;
  let worker: BotProcess | undefined;
  beforeAll(async () => {
    if (typeof postgres === 'string') return;
    server = await postgres.start();
    const shared = {
      DATABASE_URL: (await server.createDatabase()).reveal(),
      ENCRYPTION_KEYS: `k1:${randomBytes(32).toString('base64')}`,
    };
    bot = await startExportBot({ transport: 'http', env: shared });
  });
  afterEach(async () => {
    bot?.cdn.faults.clear();
    await second?.stop();
    second = undefined;
    await worker?.kill('SIGKILL');
  });
  afterAll(async () => {
    await bot?.stop();
    await server?.stop();
  });

  test('one that works is cancelled through one that does not', async () => {
    second = await buildApp({ config: readConfig(bot.env), log: createLogger('error'), role: 'web' });
    await second.start();
    const held = holdService(bot);
    const person = bot.slack.as(alice, ops);
    await openForm(person);
    await submitForm(person, { channel: ops });
    await held.reached;
    bot.slack.deliverTo(`http://127.0.0.1:${second.port()}/slack/events`);
    await person.press('event-logs:cancel:0');
    await waitForEnd(bot.slack, ops, says.cancelled);
    expect(findFileMessages(bot.slack, ops)).toEqual([]);
    bot.slack.deliverTo(`http://127.0.0.1:${bot.app.port()}/slack/events`);
  });

  test('one that dies in the middle is followed by the other: one file, one message', async () => {
    // Each process works on two at once, so that both have some.
    worker = startBotProcess({ ...bot.env }, 'worker');
    await worker.waitForOutput('"ready"');
    const held = [holdService(bot), holdService(bot), holdService(bot)];
    const person = bot.slack.as(alice, deploys);
    for (const [nth, { reached }] of held.entries()) {
      await openForm(person);
      await submitForm(person, { channel: deploys, query: ['wp-login', 'checkout', 'shoes'][nth] });
      await reached;
    }
    await worker.kill('SIGKILL');
    for (const { release } of held) release();
    const done = (): number => person.messages().filter(({ reads }) => says.posted().test(reads)).length;
    await person.waitForMessage(() => done() === 3, 90_000);
    expect(findFileMessages(bot.slack, deploys)).toHaveLength(3);
    expect(bot.slack.problems).toEqual([]);
  }, 120_000);
});

/** The answer of the service stops after its beginning, until it is let go on. */
function holdService(bot: Bot): { reached: Promise<void>; release: () => void } {
  const reached = Promise.withResolvers<void>();
  const until = Promise.withResolvers<void>();
  bot.cdn.faults.add({
    match: { path: /export$/ },
    hold: { afterBytes: 1000, until: until.promise, reached: reached.resolve },
  });
  return { reached: reached.promise, release: () => until.resolve() };
}
