import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { readStoreConfig } from '../../src/app/config.ts';
import { tenantCommand } from '../../src/cli/tenant.ts';
import { UserError } from '../../src/errors.ts';
import { openDatabase } from '../../src/store/database.ts';
import { generateKeys } from '../auth/keyring/keyrings.ts';
import { type Bot, connect, createPublicUrl, install, startBot } from '../support/bot.ts';
import { createMemoryLog } from '../support/engines.ts';
import { findPostgres, type PostgresServer } from '../support/postgres.ts';
import { createTempDirectory } from '../support/temp-directory.ts';
import { createTerminal } from '../support/terminal.ts';
import { readStable } from '../support/words.ts';

const found = await findPostgres();
const skip = typeof found === 'string';
const alice = 'U0ALICE00';
let server: PostgresServer;

beforeAll(async () => {
  if (typeof found !== 'string') server = await found.start();
});
afterAll(() => server?.stop());

async function startInstallableBot(): Promise<Bot> {
  const bot = await startBot({
    transport: 'http',
    install: 'oauth',
    env: {
      ...(await createPublicUrl()),
      DATABASE_URL: (await server.createDatabase()).reveal(),
      ENCRYPTION_KEYS: generateKeys('k1'),
    },
  });
  onTestFinished(() => bot.stop());
  return bot;
}

/** What `npm run tenant -- …` prints while the bot runs, without what differs from run to run or with every table. */
async function type(bot: Bot, words: string, hidden: Record<string, string> = {}): Promise<string> {
  const { terminal, lines: printed } = createTerminal(bot.env);
  const lines: string[] = [];
  try {
    await tenantCommand(words.split(' '), terminal);
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    lines.push(error.message, error.hint ?? '');
  }
  return (
    readStable([...printed, ...lines].filter((line) => !line.startsWith('  ')).join('\n'), hidden)
      .replaceAll(/\d+ rows? in \d+ tables?/g, '<n> rows in <n> tables')
      // The running bot hears of the removal at any moment of the erasure: it destroys the key first, holds the same rows
      // for a moment, or writes its records of the removal after the rest is erased.
      .replaceAll(/(Erased .*) (?:\d+|no) linked keys?/g, '$1 <n> linked keys')
      .replaceAll(/\d+ audit records?/g, '<n> audit records')
      .replace(
        '\nThe bot is running, and what was under way may still write a row. Type the same again in a minute.',
        '',
      )
  );
}

/** `type`, again where the running bot held the same rows, as the answer then asks. Returns what got through in the end. */
async function typeUntilThrough(bot: Bot, words: string): Promise<string> {
  const answer = await type(bot, words);
  const [before, held] = answer.split(/The running bot is using these .*\nType the same again in a moment\./);
  if (held === undefined) return answer;
  const again = await typeUntilThrough(bot, words);
  return `${before}${again.replace(/^The app was gone .*\n/, '')}`;
}

describe.skipIf(skip)('npm run tenant', () => {
  test('a workspace is listed, exported and erased beside the bot, which goes on for the other one', async () => {
    const bot = await startInstallableBot();
    const { acme, beta } = bot.slack.workspaces;
    const steps: Record<string, string> = {};
    const betaOps = [...bot.slack.world.channels.values()].find(
      ({ teamId, kind }) => teamId === beta.id && kind === 'channel',
    );
    for (const { id } of [acme, beta]) await install(bot, id);
    await connect(bot, alice, 'C0OPS0000', bot.cdn.key, acme.id);
    await connect(bot, alice, betaOps?.id ?? '', bot.cdn.key, beta.id);
    steps['list'] = await type(bot, 'list');
    const directory = await createTempDirectory();
    steps['export'] = await type(bot, `export ${acme.id} ${join(directory, 'acme.ndjson')}`, { directory });
    expect(await readFile(join(directory, 'acme.ndjson'), 'utf8')).toContain('{"table" : "linked_keys"');
    steps['no such workspace'] = await type(bot, `export T0NOBODY0 ${join(directory, 'none')}`);
    steps['the deployment'] = await type(bot, 'erase deployment --yes deployment');
    steps['not confirmed'] = await type(bot, `erase ${acme.id}`);
    steps['another confirmed'] = await type(bot, `erase ${acme.id} --yes ${beta.id}`);
    steps['still installed'] = await type(bot, `erase ${acme.id} --yes ${acme.id}`);
    steps['no words'] = await type(bot, 'erase');
    expect(bot.slack.calls.filter(({ method }) => method === 'apps.uninstall')).toEqual([]);

    steps['erased'] = await typeUntilThrough(bot, `erase ${acme.id} --yes ${acme.id} --uninstall`);
    expect(bot.slack.calls.filter(({ method }) => method === 'apps.uninstall')).toHaveLength(1);
    expect(steps).toMatchSnapshot();
    // Slack told the bot of the removal during the erasure. It tells it once more, and then the bot leaves a trace.
    await bot.slack.event({ type: 'app_uninstalled' }, { teamId: acme.id });
    const { store } = readStoreConfig(bot.env);
    const database = await openDatabase({ ...store, log: createMemoryLog() });
    onTestFinished(() => database.close());
    const { db } = database;
    const countEnds = async (): Promise<object> => {
      const told = await db.selectFrom('deliveries').select('id').where('id', 'like', 'end:%').execute();
      const { rows } =
        await sql`select from pgboss.job where name = 'end-access' and state < 'completed'`.execute(db);
      return { told: told.length, waiting: rows.length };
    };
    await expect.poll(countEnds).toEqual({ told: 2, waiting: 0 });
    await expect
      .poll(async () => {
        await typeUntilThrough(bot, `erase ${acme.id} --yes ${acme.id}`);
        return type(bot, 'list');
      })
      .not.toContain(acme.id);
    const sealed = await db.selectFrom('sealed_versions').select('tenant').execute();
    expect(sealed.map(({ tenant }) => tenant)).toEqual([beta.id, beta.id]);

    const person = bot.slack.as(alice, betaOps?.id ?? '', beta.id);
    await person.slash('zones');
    await person.waitForMessage(({ reads }) => /\d+ zones/.test(reads));
  });
});
