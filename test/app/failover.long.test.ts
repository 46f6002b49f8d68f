import { sql } from 'kysely';
import { expect, onTestFinished, test } from 'vitest';
import { doctorCommand } from '../../src/cli/doctor.ts';
import { Secret } from '../../src/secrets/secret.ts';
import { openDatabase } from '../../src/store/database.ts';
import { generateKeys } from '../auth/keyring/keyrings.ts';
import { ask, type Bot, connect, startBot } from '../support/bot.ts';
import { createMemoryLog } from '../support/engines.ts';
import { findClusters, type PostgresServer } from '../support/postgres.ts';
import { type Relay, startRelay } from '../support/relay.ts';
import { createTerminal } from '../support/terminal.ts';
import { readStable } from '../support/words.ts';

// A real primary and a real standby behind one address, as a managed database has them.

const clusters = await findClusters();
const people = ['U0ALICE00', 'U0BOB0000', 'U0CAROL00'] as const;
const ops = 'C0OPS0000';

interface World {
  readonly bot: Bot;
  readonly primary: PostgresServer;
  readonly standby: PostgresServer;
  readonly relay: Relay;
}

const toBot = (adminUrl: string): string => adminUrl.replace('/postgres', '/bot');

async function startWorld(): Promise<World> {
  if (typeof clusters === 'string') throw new Error(clusters);
  const primary = await clusters.start();
  onTestFinished(() => primary.stop());
  await primary.run('create database bot');
  const made = await openDatabase({
    databaseUrl: new Secret(toBot(primary.adminUrl)),
    dataDir: '',
    log: createMemoryLog(),
  });
  await made.migrate();
  await made.close();
  const standby = await primary.createStandby?.();
  if (!standby) throw new Error('a throw-away cluster makes standbys');
  onTestFinished(() => standby.stop());
  const relay = await startRelay(toBot(primary.adminUrl));
  onTestFinished(() => relay.close());
  const bot = await startBot({
    zones: 5,
    env: { DATABASE_URL: relay.url, ENCRYPTION_KEYS: generateKeys('k1') },
  });
  onTestFinished(() => bot.stop());
  for (const person of people) await connect(bot, person, ops);
  return { bot, primary, standby, relay };
}

const isAnswer = (text: string): boolean => text.includes('5 zones');
const isTold = (text: string): boolean => text.includes('read-only right now');

/** People who type without a pause, and what they read. */
function startTyping({ slack }: Bot) {
  const read: string[] = [];
  const ending = new AbortController();
  const typing = people.map(async (who) => {
    const person = slack.as(who, ops);
    while (!ending.signal.aborted) read.push(readStable(await ask(person, 'zones', 15_000)));
  });
  const worksAgain = async (): Promise<void> => {
    const before = read.length;
    await expect
      .poll(() => read.slice(before).filter(isAnswer).length, { timeout: 10_000 })
      .toBeGreaterThan(people.length);
  };
  const stop = async (): Promise<void> => {
    ending.abort();
    await Promise.all(typing);
  };
  onTestFinished(stop);
  return { read, worksAgain, stop };
}

/** Whether a job that Slack's event enqueues now is done on this server. */
async function runsJobs({ bot, standby }: World): Promise<void> {
  const database = await openDatabase({
    databaseUrl: new Secret(toBot(standby.adminUrl)),
    dataDir: '',
    log: createMemoryLog(),
  });
  onTestFinished(() => database.close());
  await bot.slack.event({ type: 'app_uninstalled' });
  const findStates = async (): Promise<unknown[]> =>
    (await sql`select state from pgboss.job where name = 'end-access'`.execute(database.db)).rows;
  await expect.poll(findStates, { timeout: 20_000 }).toEqual([{ state: 'completed' }]);
}

const breakAll = `select pg_terminate_backend(pid) from pg_stat_activity where datname = 'bot'`;

const readPath = async ({ app }: Bot, path: string): Promise<string> =>
  (await (await fetch(`http://127.0.0.1:${app.port()}${path}`)).text()).trim();

/** Everything that tells of a database which takes no writes. */
async function readSigns({ bot, relay }: World): Promise<Record<string, unknown>> {
  const { terminal, lines } = createTerminal(bot.env);
  await doctorCommand([], terminal);
  const metrics = await readPath(bot, '/metrics');
  const stabilize = (text: string): string => text.replaceAll(new URL(relay.url).host, '<database>');
  return {
    readyz: stabilize(await readPath(bot, '/readyz')),
    metric: /^chatops_database_takes_writes .*$/mu.exec(metrics)?.[0],
    doctor: lines
      .join('\n')
      .split(/\n(?! )/u)
      .filter((line) => line.includes(' database: '))
      .map(stabilize),
  };
}

test.skipIf(typeof clusters === 'string')(
  'a standby behind the address is told everywhere; once it is promoted commands work again',
  async () => {
    const world = await startWorld();
    const { bot, primary, standby, relay } = world;
    const typing = startTyping(bot);
    await typing.worksAgain();
    // The address moves before the standby is promoted, and the old primary is gone.
    relay.redirect(standby.adminUrl);
    await primary.run(breakAll);
    const readiness = (): Promise<string> => readPath(bot, '/readyz');
    // Until then a connection that is cut has no reason.
    const isStandby = async (): Promise<boolean> => (await readiness()).includes('takes no writes');
    await expect.poll(isStandby, { timeout: 20_000 }).toBe(true);
    await expect.poll(() => typing.read.some(isTold), { timeout: 10_000 }).toBe(true);
    expect(await readSigns(world)).toMatchSnapshot('signs');
    expect(typing.read.find(isTold)).toMatchSnapshot('what people read');
    await standby.run('select pg_promote()');
    await typing.worksAgain();
    await expect.poll(readiness, { timeout: 10_000 }).toBe('ready');
  },
);

test.skipIf(typeof clusters === 'string').each([
  ['the server', ['alter system set default_transaction_read_only = on', 'select pg_reload_conf()']],
  // A setting of the database is for new sessions.
  ['the database', ['alter database bot set default_transaction_read_only = on', breakAll]],
])('%s is set to read-only, then the address leads to another primary', async (_what, statements) => {
  const world = await startWorld();
  const { bot, primary, standby, relay } = world;
  const typing = startTyping(bot);
  await typing.worksAgain();
  for (const statement of statements) await primary.run(statement);
  await expect.poll(() => readPath(bot, '/readyz'), { timeout: 10_000 }).not.toBe('ready');
  expect((await readSigns(world))['metric']).toBe('chatops_database_takes_writes 0');
  // The connections to the old primary stay open.
  await standby.run('select pg_promote()');
  await standby.run('alter database bot reset default_transaction_read_only');
  relay.redirect(standby.adminUrl);
  await typing.worksAgain();
  await expect.poll(() => readPath(bot, '/readyz'), { timeout: 10_000 }).toBe('ready');
});

test.skipIf(typeof clusters === 'string')(
  'a host that dies without a word is noticed by its silence, and commands work again',
  async () => {
    const world = await startWorld();
    const { bot, standby, relay } = world;
    const typing = startTyping(bot);
    await typing.worksAgain();
    await standby.run('select pg_promote()');
    relay.redirect(standby.adminUrl, true);
    await expect.poll(() => bot.logs.join('').includes('is gone'), { timeout: 10_000 }).toBe(true);
    await typing.worksAgain();
    await expect.poll(() => readPath(bot, '/readyz'), { timeout: 10_000 }).toBe('ready');
    await typing.stop();
    await runsJobs(world);
  },
);
