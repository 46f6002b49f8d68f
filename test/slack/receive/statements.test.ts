import pg from 'pg';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { generateKeys } from '../../auth/keyring/keyrings.ts';
import { connect, startBot } from '../../support/bot.ts';
import { prepareEngines } from '../../support/engines.ts';

const alice = 'U0ALICE00';
const ops = 'C0OPS0000';
const engines = await prepareEngines();
afterEach(() => void vi.restoreAllMocks());

/** The statements about claims, settings and keys that the driver is given from now on. */
function recordStatements(): string[] {
  const statements: string[] = [];
  const query = Reflect.get(pg.Client.prototype, 'query');
  vi.spyOn(pg.Client.prototype, 'query').mockImplementation(function (this: pg.Client, ...about: unknown[]) {
    const [given] = about as [string | { readonly text: string }];
    const text = typeof given === 'string' ? given : given.text;
    if (/\b(?:deliveries|policies|linked_keys)\b/u.test(text)) statements.push(text);
    return Reflect.apply(query, this, about) as never;
  });
  return statements;
}

describe.each(engines.both)('on $name', ({ skip, createLocation }) => {
  test.skipIf(skip)('claim, policy and key of a delivery are one statement', async () => {
    const statements = recordStatements();
    const { dataDir, databaseUrl } = await createLocation();
    const bot = await startBot({
      role: 'web',
      env: databaseUrl
        ? { DATABASE_URL: databaseUrl.reveal(), ENCRYPTION_KEYS: generateKeys('k1') }
        : { DATA_DIR: dataDir },
    });
    try {
      await connect(bot, alice, ops);
      // It was published for the new key, as a delivery of its own.
      await bot.slack.called('views.publish');
      const person = bot.slack.as(alice, ops);
      const count = async (deliver: () => Promise<unknown>, isAnswer: RegExp): Promise<number> => {
        statements.length = 0;
        const known = new Set(person.messages().map(({ reads }) => reads));
        await deliver();
        await person.waitForMessage(({ reads }) => !known.has(reads) && isAnswer.test(reads));
        return statements.length;
      };
      expect([
        await count(() => person.slash('whoami'), /connected/u),
        await count(() => person.slash('zones'), /25 zones.*\n?.*this month/u),
        await count(
          () => person.choose('menu:more', 'zones:page:off sort=attention&only=off'),
          /or suspended/u,
        ),
        await count(() => person.slash('zones a-word-that-may-be-a-key'), /a-word-that-may-be-a-key/u),
      ]).toEqual([1, 1, 1, 1]);
    } finally {
      await bot.stop();
    }
  });
});
