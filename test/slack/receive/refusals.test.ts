import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { generateKeys } from '../../auth/keyring/keyrings.ts';
import { ask, type Bot, connect, startBot } from '../../support/bot.ts';
import { prepareEngines } from '../../support/engines.ts';
import { alice, bob, offers, ops } from '../words.ts';

const { postgres } = await prepareEngines();

describe.skipIf(postgres.skip)('on PostgreSQL', () => {
  let bot: Bot;
  let database: Client;
  beforeAll(async () => {
    const connectionString = (await postgres.createLocation()).databaseUrl?.reveal() ?? '';
    bot = await startBot({ env: { DATABASE_URL: connectionString, ENCRYPTION_KEYS: generateKeys('k1') } });
    database = new Client({ connectionString });
    await database.connect();
  });
  afterAll(async () => {
    await database.end();
    await bot.stop();
  });

  const readDenied = async (): Promise<unknown[]> => {
    const { rows } = await database.query(
      "select subject from audit_records where event = 'denied' order by seq",
    );
    return rows.map(({ subject }: { subject: unknown }) => subject);
  };

  test('two refusals of one command within a minute are one record, of another command a second', async () => {
    const person = bot.slack.as(bob, ops);
    for (let nth = 0; nth < 2; nth += 1) expect(await ask(person, 'audit')).toSatisfy(offers('help:run:0'));
    expect(await readDenied()).toEqual(['audit']);
    // A missing key is no denial.
    expect(await ask(person, 'zones')).toSatisfy(offers('connect:open'));
    await person.slash('settings');
    await person.waitForModal(offers('help:run:0'));
    expect(await readDenied()).toEqual(['audit', 'settings']);
  });

  test('with a key that does not open, help, whoami and connect still answer', async () => {
    await connect(bot, alice, ops);
    await database.query("update linked_keys set sealed = replace(sealed, '.', '.A')");
    const person = bot.slack.as(alice, ops);
    expect(await ask(person, 'zones')).toSatisfy(offers('connect:open'));
    expect(await ask(person, 'help')).toSatisfy(offers('help:run:0'));
    // A word as long as a key has the key looked up, so that it is never repeated.
    expect((await ask(person, 'help certificates')).reads).not.toBe('');
    expect(await ask(person, 'whoami')).toSatisfy(offers('connect:forget'));
    await connect(bot, alice, ops);
    expect((await ask(person, 'zones')).reads).toContain('25 zones');
  });
});
