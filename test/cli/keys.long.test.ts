import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { followMessages } from '../support/bot.ts';
import { prepareEngines } from '../support/engines.ts';
import { prepareKilledBot } from '../support/killed-bot.ts';
import { startBotProcess } from '../support/process.ts';

// The real processes, as an operator starts them: a bot that serves, and `npm run keys -- …` beside it.

const { embedded } = await prepareEngines();
const ops = 'C0OPS0000';

/** A bot whose keyring is a file in its directory. */
async function prepare() {
  const location = await embedded.createLocation();
  const bot = await prepareKilledBot(location, { zones: 12, env: { ENCRYPTION_KEYS: '' } });
  onTestFinished(() => bot.stop());
  return {
    ...bot,
    file: join(location.dataDir, 'encryption-keys'),
    connect: (userId: string) => bot.connect(userId, ops),
    /** What the command prints, with how it ended. */
    keys: async (words: string, env: Record<string, string> = {}) => {
      const command = startBotProcess({ ...bot.env, ...env }, 'keys', words.split(' '));
      const code = await command.exited;
      return { said: command.output(), code };
    },
    /** What a start that is refused prints beside the log, without what differs from run to run. */
    readRefusal: async (): Promise<string> => {
      const refused = startBotProcess(bot.env);
      expect(await refused.exited).toBe(1);
      const lines = refused.output().split('\n');
      const printed = lines.filter((line) => !line.startsWith('{')).join('\n');
      return printed.replaceAll(location.dataDir, '<directory>');
    },
    listsZones: async (userId: string): Promise<void> => {
      const person = bot.slack.as(userId, ops);
      const { next } = followMessages(person);
      await person.slash('zones');
      await next(({ reads }) => reads.includes('12 zones'));
    },
  };
}

test('with the embedded database a new first line of its file is taken over, and the old one can go', async () => {
  const { file, start, kill, connect, keys, listsZones, output } = await prepare();
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
  expect(await kill('SIGTERM')).toBe(0);

  const { said } = await keys('status', { SLACK_BOT_TOKEN: '', SLACK_APP_TOKEN: '' });
  expect(said.replace(file, '<file>')).toMatchSnapshot();
  await start();
  await listsZones('U0ALICE00');
  await listsZones('U0BOB0000');
  for (const secret of (await readFile(file, 'utf8')).split(/[:\s]+/).filter((word) => word.length > 30))
    expect(output()).not.toContain(secret);
});

test('the embedded key file that is missing is not made anew where keys are linked; put back, all is well', async () => {
  const { file, start, kill, connect, readRefusal, listsZones } = await prepare();
  await start();
  await connect('U0ALICE00');
  await kill();
  const backup = await readFile(file, 'utf8');
  await rm(file);
  expect(await readRefusal()).toMatchSnapshot();
  expect(await readdir(join(file, '..'))).not.toContain('encryption-keys');

  await writeFile(file, backup);
  await start();
  await listsZones('U0ALICE00');
});
