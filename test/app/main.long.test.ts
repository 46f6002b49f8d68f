import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { sql } from 'kysely';
import { afterAll, afterEach, expect, test } from 'vitest';
import { describeUsage, usages, type Word } from '../../src/cli/terminal.ts';
import { openDatabase } from '../../src/store/database.ts';
import { ask, connect } from '../support/bot.ts';
import { createMemoryLog, prepareEngines } from '../support/engines.ts';
import { prepareKilledBot } from '../support/killed-bot.ts';
import { alice, ops } from '../support/people.ts';
import { startBotProcess } from '../support/process.ts';

const { embedded } = await prepareEngines();
const { slack, cdn, env, begin, start, kill, stop } = await prepareKilledBot(
  await embedded.createLocation(),
  {
    zones: 12,
  },
);
afterEach(() => kill());
afterAll(() => stop());

/** The exit code and what it printed. */
async function say(word: string, ...more: string[]): Promise<string> {
  const ended = startBotProcess({}, word, more);
  return `${await ended.exited} ${ended.output().trimEnd()}`;
}

test('each word of the terminal prints its usage, and an unknown one all of them', async () => {
  const words = Object.keys(usages) as Word[];
  const said = await Promise.all(words.map((word) => say(word, '--help')));
  expect(said).toEqual(words.map((word) => `0 ${describeUsage(word)}`));
  expect(await say('--help')).toBe(`0 ${describeUsage()}`);
  expect(await say('sing')).toBe(`1 Unknown command “sing”.\n${describeUsage()}`);
});

const oldNode = '/usr/bin/node';
const isOld =
  existsSync(oldNode) &&
  !/v(?:2[4-9]|[3-9]\d)\./u.test(execFileSync(oldNode, ['--version'], { encoding: 'utf8' }));

test.runIf(isOld)('a Node that is too old is told in one sentence, first', () => {
  const { status, stderr, stdout } = spawnSync(oldNode, ['dist/bot/main.js'], { env: {}, encoding: 'utf8' });
  expect([status, stdout]).toEqual([1, '']);
  expect(stderr.replace(/^This is Node [\d.]+/u, 'This is Node <version>')).toMatchSnapshot();
  const { engines } = JSON.parse(readFileSync('package.json', 'utf8')) as { engines: { node: string } };
  expect(stderr).toContain(`needs ${engines.node.replace('>=', '')} or newer`);
});

test('a failure that is nobody’s mistake is printed with its causes', async () => {
  const { dataDir } = await embedded.createLocation({ empty: true });
  const database = await openDatabase({ dataDir, log: createMemoryLog() });
  await sql`create table operations (id text)`.execute(database.db);
  await database.close();
  const migrating = startBotProcess({ DATA_DIR: dataDir }, 'migrate');
  expect(await migrating.exited).toBe(1);
  expect(migrating.output()).toMatch(/Caused by: .*"operations"/);
});

test.each([
  ['SLACK_BOT_TOKEN', 'xoxb-000-wrong'],
  ['SLACK_APP_TOKEN', 'xapp-000-wrong'],
])('a wrong %s ends the start with the reason in words, not with a crash', async (variable, token) => {
  const bot = begin({ [variable]: token });
  expect(await bot.exited).toBe(1);
  expect(bot.output()).toContain(`${variable} (invalid_auth)`);
  expect(bot.output()).not.toContain(token);
});

test('a linked key survives kill -9, and no log line at debug level holds a secret', async () => {
  const first = await start();
  const person = slack.as(alice, ops);
  await connect({ slack, cdn, env: {} }, alice, ops);
  await first.kill('SIGKILL');

  const second = await start();
  await person.slash('zones');
  await person.waitForMessage(/12 zones/);
  for (const output of [first.output(), second.output()]) {
    for (const secret of [cdn.key, slack.botToken, slack.appToken, slack.signingSecret]) {
      expect(output).not.toContain(secret);
    }
  }
});

test('an error that nobody caught ends the process with its stack, and not with what hangs on it', async () => {
  const crash = `process.once('SIGUSR2', () => {
    throw Object.assign(new Error('crashed'), { headers: { authorization: ['of', 'a', 'request'].join('-') } });
  })`;
  const options = `--import data:text/javascript,${encodeURIComponent(crash)}`;
  const bot = await start(1, { NODE_OPTIONS: options });
  bot.child.kill('SIGUSR2');
  expect(await bot.exited).toBe(1);
  expect(bot.output()).toContain('The bot failed: Error: crashed');
  expect(bot.output()).not.toContain('of-a-request');
});

test('an app_rate_limited envelope does not end the process', async () => {
  const bot = await start();
  slack.socket.send({
    envelope_id: 'e-1',
    type: 'events_api',
    payload: { type: 'app_rate_limited', team_id: 'T0ACME000', minute_rate_limited: 1, api_app_id: 'A0' },
  });
  await bot.waitForOutput('Slack drops events');
  const person = slack.as(alice, ops);
  await person.slash('help');
  await person.waitForMessage(/zones/);
});

test('npm start passes the signal on: the bot ends with it, its directory free for the next', async () => {
  const own = { ...env, PATH: process.env['PATH'] ?? '' };
  const npm = spawn('npm', ['start', '--silent'], { env: own, stdio: ['ignore', 'pipe', 'pipe'] });
  const ended = once(npm, 'close');
  for await (const chunk of npm.stdout) if (String(chunk).includes('"ready"')) break;
  npm.kill('SIGTERM');
  await ended;
  expect((await start()).output()).not.toContain('another process');
});

test('a log pipe that nobody reads keeps no line of people waiting, nor the end', async () => {
  const bot = await start(1, { LOG_LEVEL: 'debug' });
  bot.child.stdout?.pause();
  const person = slack.as(alice, ops);
  for (let typed = 0; typed < 100; typed += 1) await ask(person, 'help');
  const exited = once(bot.child, 'exit');
  bot.child.kill('SIGTERM');
  expect((await exited)[0]).toBe(0);
  bot.child.stdout?.resume();
});

test('SIGTERM lets a slow answer finish, then ends with 0', async () => {
  const bot = await start();
  const person = slack.as(alice, ops);
  await connect({ slack, cdn, env: {} }, alice, ops);
  cdn.faults.add({ match: { path: /pullzone/ }, delayMs: 1_500, times: 1 });
  const [before, asked] = [person.messages().length, cdn.requests.length];
  await person.slash('zones');
  await expect.poll(() => cdn.requests.length).toBeGreaterThan(asked);
  expect(await bot.kill('SIGTERM')).toBe(0);
  // Earlier tests left answers that read the same.
  expect(
    person
      .messages()
      .slice(before)
      .map(({ reads }) => reads),
  ).toEqual([expect.stringContaining('12 zones')]);
});
