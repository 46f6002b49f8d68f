import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { dayMs } from '../../../src/lib/time.ts';
import { generateKeys } from '../../auth/keyring/keyrings.ts';
import { type Bot, connect, disconnect, startBot } from '../../support/bot.ts';
import { findMarks } from '../../support/canary/markers.ts';
import { prepareEngines } from '../../support/engines.ts';
import { readStable } from '../../support/words.ts';

const engines = await prepareEngines();
const alice = 'U0ALICE00';
const bob = 'U0BOB0000';
const ops = 'C0OPS0000';

describe.each([engines.embedded])('settings over time on $name', ({ createLocation }) => {
  describe('in Slack', () => {
    let bot: Bot;
    beforeAll(async () => {
      const { databaseUrl } = await createLocation();
      const env = databaseUrl && { DATABASE_URL: databaseUrl.reveal(), ENCRYPTION_KEYS: generateKeys('k1') };
      bot = await startBot({ zones: 12, ...(env ? { env } : {}) });
      await connect(bot, alice, ops);
    });
    afterAll(() => bot.stop());

    /** What the last answer to these words reads: `Comparing…` comes before it where all zones are looked at. */
    async function ask(words: string, user = alice): Promise<string> {
      const person = bot.slack.as(user, ops);
      const before = new Set(person.messages().map(({ ts }) => ts));
      await person.slash(words);
      const answer = await person.waitForMessage(
        ({ ts, reads }) => !before.has(ts) && !reads.trim().endsWith('…'),
      );
      expect(findMarks(answer.reads, [])).toEqual([]);
      return readStable(answer);
    }

    /** The zone by its name, with these members from now on. */
    function change(name: string, members: object): void {
      const zone = bot.cdn.data.zones.find(({ Name }) => Name === name);
      Object.assign(zone ?? {}, members);
    }

    test('the first look keeps, later ones tell what changed, newest first', async () => {
      expect(await ask('changes')).toMatchSnapshot('first look');
      expect(await ask('changes')).toMatchSnapshot('nothing changed');
      const [rule, ...rules] = bot.cdn.data.zones[0]?.EdgeRules ?? [];
      change('shop', {
        EnableTLS1: true,
        BlockedIps: ['10.0.0.1', '10.0.0.2'],
        MonthlyBandwidthLimit: 9e12,
        ZoneSecurityKey: 'CANARY-zone-security-key-new',
        OriginUrl: 'https://deploy:CANARY-origin-password@origin-new.example.com',
        ErrorPageCustomCode: '<b>gone</b>'.repeat(100),
        EdgeRules: [...rules.toReversed(), { ...rule, Enabled: false, Description: 'Old pages' }],
      });
      change('docs', { Enabled: false, Suspended: true });
      expect(await ask('changes')).toMatchSnapshot('of all zones');
      expect(await ask('changes shop 24h')).toMatchSnapshot('of one zone');
      expect(await ask('changes blog last 2 weeks')).toMatchSnapshot('of another zone');
    });

    test('zones that come and go are told', async () => {
      const [gone] = bot.cdn.data.zones.splice(5, 1);
      const answer = await ask('changes');
      if (gone) bot.cdn.data.zones.push(gone);
      expect(answer).toMatch(/\bdeleted\b/u);
      expect(await ask('changes')).toMatch(/\bnew\b/u);
    });

    test('the zone and the period are read together, or refused with the words that do', async () => {
      expect(await ask('changes shop forever')).toMatchSnapshot('no zone of that name');
      const early = await ask('changes shop yesterday');
      expect(early.replaceAll(/\b\d{1,2} [A-Z][a-z]{2}\b/gu, '<day>')).toMatchSnapshot('before the baseline');
      const day = new Date(Date.now() - 5 * dayMs).toISOString().slice(0, 10);
      expect(await ask(`changes since ${day} 10:00`)).toMatch(/^\d+ settings changed .* since/u);
      expect(await ask('changes 200d')).toMatchSnapshot('too long');
      expect(await ask('changes nowhere')).toMatchSnapshot('no zone');
    });

    test('a period and a zone of the menu answer in its place', async () => {
      const person = bot.slack.as(alice, ops);
      await ask('changes');
      const { ts } = person.messages().at(-1) ?? { ts: '' };
      await person.choose('menu:select:0', 'changes:show 30d all 1', { ts });
      await person.waitForMessage((message) => message.ts === ts && message.reads.includes('30 days'));
      await person.suggest('changes:zone', 'shop', { ts });
      await person.choose('changes:zone', '1001', { ts });
      await person.waitForMessage((message) => message.ts > ts && /shop/u.test(message.reads));
    });

    test('people see what their own looks found, and a new key after a disconnect begins anew', async () => {
      await connect(bot, bob, ops);
      expect(await ask('changes', bob)).toMatchSnapshot('first look of another');
      await disconnect(bot.slack.as(alice, ops));
      await connect(bot, alice, ops);
      expect(await ask('changes')).toMatchSnapshot('first look anew');
    });
  });
});
