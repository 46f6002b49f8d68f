import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readConfig, readStoreConfig } from '../../src/app/config.ts';
import { tenantCommand } from '../../src/cli/tenant.ts';
import { UserError } from '../../src/errors.ts';
import { openDatabase } from '../../src/store/database.ts';
import { generateKeys } from '../auth/keyring/keyrings.ts';
import { type Bot, connect, createPublicUrl, install, startBot } from '../support/bot.ts';
import { createMemoryLog } from '../support/engines.ts';
import { findPostgres, type PostgresServer } from '../support/postgres.ts';
import { createTempDirectory } from '../support/temp-directory.ts';
import { readStable } from '../support/words.ts';

const found = await findPostgres();
const skip = typeof found === 'string';
const alice = 'U0ALICE00';
let server: PostgresServer;
let bot: Bot;

beforeAll(async () => {
  if (typeof found === 'string') return;
  server = await found.start();
  bot = await startBot({
    transport: 'http',
    install: 'oauth',
    env: {
      ...(await createPublicUrl()),
      DATABASE_URL: (await server.createDatabase()).reveal(),
      ENCRYPTION_KEYS: generateKeys('k1'),
    },
  });
});
afterAll(async () => {
  await bot?.stop();
  await server?.stop();
});

/** `npm run tenant -- …` beside the bot, without what differs from run to run or changes with every table. */
async function type(words: string, hidden: Record<string, string> = {}): Promise<string> {
  const lines: string[] = [];
  try {
    await tenantCommand(words.split(' '), {
      config: readStoreConfig(bot.env),
      fullConfig: () => readConfig(bot.env),
      fetch,
      now: () => new Date(),
      log: createMemoryLog(),
      print: (line) => void lines.push(line),
    });
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    lines.push(error.message, error.hint ?? '');
  }
  return (
    readStable(lines.filter((line) => !line.startsWith('  ')).join('\n'), hidden)
      .replaceAll(/\d+ rows? in \d+ tables?/g, '<n> rows in <n> tables')
      // The running bot destroys the key as soon as it hears of the removal.
      .replaceAll(/(Erased .*) (?:\d+|no) linked keys?/g, '$1 <n> linked keys')
      .replaceAll(/\d+ audit records?/g, '<n> audit records')
  );
}

describe.skipIf(skip)('npm run tenant', () => {
  test('a workspace is listed, exported and erased beside the bot, which goes on for the other one', async () => {
    const { acme, beta } = bot.slack.workspaces;
    const steps: Record<string, string> = {};
    const betaOps = [...bot.slack.world.channels.values()].find(
      ({ teamId, kind }) => teamId === beta.id && kind === 'channel',
    );
    for (const { id } of [acme, beta]) await install(bot, id);
    await connect(bot, alice, 'C0OPS0000', bot.cdn.key, acme.id);
    await connect(bot, alice, betaOps?.id ?? '', bot.cdn.key, beta.id);
    steps['list'] = await type('list');
    const directory = await createTempDirectory();
    steps['export'] = await type(`export ${acme.id} ${join(directory, 'acme.ndjson')}`, { directory });
    expect(await readFile(join(directory, 'acme.ndjson'), 'utf8')).toContain('{"table" : "linked_keys"');
    steps['no such workspace'] = await type(`export T0NOBODY0 ${join(directory, 'none')}`);
    steps['the deployment'] = await type('erase deployment --yes deployment');
    steps['not confirmed'] = await type(`erase ${acme.id}`);
    steps['another confirmed'] = await type(`erase ${acme.id} --yes ${beta.id}`);
    steps['still installed'] = await type(`erase ${acme.id} --yes ${acme.id}`);
    steps['no words'] = await type('erase');
    expect(bot.slack.calls.filter(({ method }) => method === 'apps.uninstall')).toEqual([]);

    steps['erased'] = await type(`erase ${acme.id} --yes ${acme.id} --uninstall`);
    expect(bot.slack.calls.filter(({ method }) => method === 'apps.uninstall')).toHaveLength(1);
    expect(steps).toMatchSnapshot();
    // Slack tells the running bot of the removal, and the job of that is erased with the rest where it comes early enough. Told
    // once more, the bot leaves a trace; the same again takes it.
    await bot.slack.event({ type: 'app_uninstalled' }, { teamId: acme.id });
    const { store } = readStoreConfig(bot.env);
    const database = await openDatabase({ ...store, log: createMemoryLog() });
    const countOf = async (tenant: string): Promise<number> => {
      const rows = database.db.selectFrom('sealed_versions').select('kind').where('tenant', '=', tenant);
      return (await rows.execute()).length;
    };
    await expect.poll(() => bot.logs.join('')).toContain('access ended');
    await type(`erase ${acme.id} --yes ${acme.id}`);
    expect(await countOf(acme.id)).toBe(0);
    expect(await countOf(beta.id)).toBe(2);
    await database.close();
    expect(await type('list')).not.toContain(acme.id);

    const person = bot.slack.as(alice, betaOps?.id ?? '', beta.id);
    await person.slash('zones');
    await person.waitForMessage(({ reads }) => /\d+ zones/.test(reads));
  });
});
