import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { sql } from 'kysely';
import { describe, expect, onTestFinished, test } from 'vitest';
import { readStoreConfig } from '../../src/app/config.ts';
import { tenantCommand } from '../../src/cli/tenant.ts';
import { UserError } from '../../src/errors.ts';
import { openDatabase } from '../../src/store/database.ts';
import { generateKeys } from '../auth/keyring/keyrings.ts';
import { type Bot, connect, createPublicUrl, install, startBot } from '../support/bot.ts';
import { createMemoryLog, prepareEngines } from '../support/engines.ts';
import { createTempDirectory } from '../support/temp-directory.ts';
import { createTerminal } from '../support/terminal.ts';
import { readStable } from '../support/words.ts';

const { postgres } = await prepareEngines();
const alice = 'U0ALICE00';

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
  const said = [...printed, ...lines].filter((line) => !line.startsWith('  ')).join('\n');
  return readStable(said, hidden)
    .replaceAll(/\d+ rows? in \d+ tables?/g, '<n> rows in <n> tables')
    .replaceAll(/\d+ audit records?/g, '<n> audit records');
}

describe.skipIf(postgres.skip)('npm run tenant', () => {
  test('a workspace is listed, exported and erased beside the bot, which goes on for the other one', async () => {
    const { databaseUrl } = await postgres.createLocation();
    const env = { DATABASE_URL: databaseUrl?.reveal() ?? '', ENCRYPTION_KEYS: generateKeys('k1') };
    await using bot = await startBot({
      transport: 'http',
      install: 'oauth',
      env: { ...(await createPublicUrl()), ...env },
    });
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

    const { store } = readStoreConfig(bot.env);
    const database = await openDatabase({ ...store, log: createMemoryLog() });
    onTestFinished(() => database.close());
    const { db } = database;
    const isBusy = async (): Promise<boolean> => {
      const open = sql`select from pgboss.job where name = 'end-access' and state < 'completed'
        union all select from installations where tenant = ${acme.id}`;
      return (await open.execute(db)).rows.length > 0;
    };
    await bot.slack.event({ type: 'app_uninstalled' }, { teamId: acme.id });
    await expect.poll(isBusy).toBe(false);
    steps['erased'] = await type(bot, `erase ${acme.id} --yes ${acme.id}`);
    expect(steps).toMatchSnapshot();
    expect(await type(bot, 'list')).not.toContain(acme.id);
    const sealed = await db.selectFrom('sealed_versions').select('tenant').execute();
    expect(sealed.map(({ tenant }) => tenant)).toEqual([beta.id, beta.id]);

    const person = bot.slack.as(alice, betaOps?.id ?? '', beta.id);
    await person.slash('zones');
    await person.waitForMessage(({ reads }) => /\d+ zones/.test(reads));
  });
});
