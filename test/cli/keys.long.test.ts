import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { type CdnSimulator, startCdn } from '../../simulator/cdn/server.ts';
import { type SlackSimulator, startSlack } from '../../simulator/slack/server.ts';
import { generateKeys } from '../auth/keyring/keyrings.ts';
import { environment } from '../support/bot.ts';
import { copyEmbeddedDatabase } from '../support/database-templates.ts';
import { findPostgres, type PostgresServer } from '../support/postgres.ts';
import { type BotProcess, startBotProcess } from '../support/process.ts';

// The real processes, as an operator starts them: a bot that serves, and `npm run keys -- …` beside it.

let slack: SlackSimulator;
let cdn: CdnSimulator;
let dataDir: string;
const running: BotProcess[] = [];
const ops = 'C0OPS0000';

beforeAll(async () => {
  [slack, cdn] = await Promise.all([startSlack(), startCdn({ zones: 12 })]);
});
afterAll(async () => {
  await Promise.all([slack.close(), cdn.close()]);
});
const directories: string[] = [];
afterEach(async () => {
  for (const bot of running.splice(0)) await bot.kill('SIGKILL');
  for (const directory of directories.splice(0)) await rm(directory, { recursive: true, force: true });
});

async function freshDirectory(): Promise<void> {
  dataDir = await mkdtemp(join(tmpdir(), 'chatops-'));
  directories.push(dataDir);
  await copyEmbeddedDatabase(dataDir);
}

async function start(env: Record<string, string> = {}): Promise<BotProcess> {
  const bot = startBotProcess({ ...environment({ slack, cdn, dataDir }), ...env });
  running.push(bot);
  await bot.waitForOutput('ready');
  return bot;
}

/** What the command prints, with how it ended. */
async function keys(
  words: string,
  env: Record<string, string> = {},
): Promise<{ said: string; code: unknown }> {
  const command = startBotProcess(
    { ...environment({ slack, cdn, dataDir }), ...env },
    'keys',
    words.split(' '),
  );
  const code = await command.exited;
  return { said: command.output(), code };
}

/** Why a start was refused: what is printed beside the log, without what differs from run to run. */
const readRefusal = (bot: BotProcess): string =>
  bot
    .output()
    .split('\n')
    .filter((line) => !line.startsWith('{'))
    .join('\n')
    .replaceAll(dataDir, '<directory>');

async function connect(userId: string): Promise<void> {
  const person = slack.as(userId, ops);
  await person.slash('connect');
  await person.waitForModal(/key/i);
  await person.submit({ accessKey: cdn.key });
  await person.waitForModal(/connected/i);
  await person.closeModal();
}

async function listsZones(userId: string): Promise<void> {
  const person = slack.as(userId, ops);
  const before = person.messages().length;
  await person.slash('zones');
  await person.waitForMessage(
    (message) => /12 zones/.test(message.reads) && person.messages().length > before,
  );
}

test('with the embedded database a new first line of its file is taken over, and the old one can go', async () => {
  await freshDirectory();
  const file = join(dataDir, 'encryption-keys');
  const bot = await start();
  await connect('U0ALICE00');
  await connect('U0BOB0000');
  const old = await readFile(file, 'utf8');
  const { said: entry } = await keys('new next');
  expect(entry).toMatch(/^next:\S+\n$/u);
  await writeFile(file, entry + old);
  await bot.waitForOutput('sealed everything under the first encryption key');
  await writeFile(file, entry);
  expect(await keys('status')).toMatchObject({ code: 1, said: expect.stringContaining('stop the bot') });
  expect(await bot.kill('SIGTERM')).toBe(0);

  const { said } = await keys('status', { SLACK_BOT_TOKEN: '', SLACK_APP_TOKEN: '' });
  expect(said.replace(file, '<file>')).toMatchSnapshot();
  await start();
  await listsZones('U0ALICE00');
  await listsZones('U0BOB0000');
  for (const secret of (await readFile(file, 'utf8')).split(/[:\s]+/).filter((word) => word.length > 30))
    expect(bot.output()).not.toContain(secret);
});

test('the embedded key file that is missing is not made anew where keys are linked; put back, all is well', async () => {
  await freshDirectory();
  const file = join(dataDir, 'encryption-keys');
  const first = await start();
  await connect('U0ALICE00');
  await first.kill('SIGKILL');
  const backup = await readFile(file, 'utf8');
  await rm(file);

  const refused = startBotProcess(environment({ slack, cdn, dataDir }));
  running.push(refused);
  expect(await refused.exited).toBe(1);
  expect(readRefusal(refused)).toMatchSnapshot();
  expect(await readdir(dataDir)).not.toContain('encryption-keys');

  await writeFile(file, backup);
  await start();
  await listsZones('U0ALICE00');
});

const found = await findPostgres();
const without = typeof found === 'string' ? ` (skipped: ${found})` : '';
describe.skipIf(typeof found === 'string')(`on PostgreSQL${without}`, () => {
  let server: PostgresServer;
  beforeAll(async () => {
    if (typeof found !== 'string') server = await found.start();
  });
  afterAll(() => server.stop());

  test('a key in the environment is changed one process after the other; the old one alone opens nothing any more', async () => {
    await freshDirectory();
    const DATABASE_URL = (await server.createDatabase()).reveal();
    const [older, newer] = generateKeys('older', 'newer').split(',');
    const env = (...entries: (string | undefined)[]): Record<string, string> => ({
      DATABASE_URL,
      ENCRYPTION_KEYS: entries.join(','),
    });
    const first = await start(env(older));
    await connect('U0ALICE00');
    expect(await first.kill('SIGTERM')).toBe(0);
    const second = await start(env(older, newer));
    await listsZones('U0ALICE00');
    expect(await second.kill('SIGTERM')).toBe(0);
    // Killed as it begins to rewrap.
    await (await start(env(newer, older))).kill('SIGKILL');
    const third = await start(env(newer, older));
    await connect('U0BOB0000');
    await expect
      .poll(async () => (await keys('status', env(newer, older))).said, { timeout: 40_000 })
      .toMatch(/older  not needed/u);
    expect(await third.kill('SIGTERM')).toBe(0);
    await start(env(newer));
    await listsZones('U0ALICE00');
    await listsZones('U0BOB0000');
    const wrong = startBotProcess({ ...environment({ slack, cdn, dataDir }), ...env(older) });
    running.push(wrong);
    expect(await wrong.exited).toBe(1);
    expect(wrong.output()).toContain('newer: 2 linked keys');
  });
});
