import { beforeAll, describe, expect, test } from 'vitest';
import { zone } from '../../../simulator/cdn/zones.ts';
import { dayMs } from '../../../src/lib/time.ts';
import { ask, connect, disconnect, followMessages, useBot } from '../../support/bot.ts';
import { findMarks } from '../../support/canary/markers.ts';
import { readStable } from '../../support/words.ts';

const bot = await useBot({ zones: 12 });
const [alice, bob, ops] = ['U0ALICE00', 'U0BOB0000', 'C0OPS0000'] as const;

const rule = {
  ...(bot.cdn.data.zones[11]?.EdgeRules?.[6] as object),
  Description: 'Log in at the origin',
  ActionParameter2: 'Bearer CANARY-edge-rule-request-header-1',
};

/** What the last answer to these words reads: `Comparing…` comes before it where all zones are looked at. */
async function readLast(words: string, user: string = alice): Promise<string> {
  const person = bot.slack.as(user, ops);
  const { next } = followMessages(person);
  await person.slash(words);
  const answer = await next(({ reads }) => !reads.trim().endsWith('…'));
  expect(findMarks(answer.reads, [])).toEqual([]);
  return readStable(answer);
}

/** The zone by its name, with these members from now on. */
function change(name: string, members: object): void {
  const zone = bot.cdn.data.zones.find(({ Name }) => Name === name);
  Object.assign(zone ?? {}, members);
}

describe('settings over time', () => {
  test('the first look keeps, later ones tell what changed, newest first', async () => {
    expect(await readLast('changes')).toMatchSnapshot('first look');
    expect(await readLast('changes')).toMatchSnapshot('nothing changed');
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
    expect(await readLast('changes')).toMatchSnapshot('of all zones');
    expect(await readLast('changes shop 24h')).toMatchSnapshot('of one zone');
    expect(await readLast('changes blog last 2 weeks')).toMatchSnapshot('of another zone');
  });

  test('zones that come and go are told', async () => {
    const [gone] = bot.cdn.data.zones.splice(5, 1);
    const answer = await readLast('changes');
    if (gone) bot.cdn.data.zones.push(gone);
    expect(answer).toMatch(/\bdeleted\b/u);
    expect(await readLast('changes')).toMatch(/\bnew\b/u);
  });

  test('the zone and the period are read together, or refused with the words that do', async () => {
    expect(await readLast('changes shop forever')).toMatchSnapshot('no zone of that name');
    const early = await readLast('changes shop yesterday');
    expect(early.replaceAll(/\b\d{1,2} [A-Z][a-z]{2}\b/gu, '<day>')).toMatchSnapshot('before the baseline');
    const day = new Date(Date.now() - 5 * dayMs).toISOString().slice(0, 10);
    expect(await readLast(`changes since ${day} 10:00`)).toMatch(/^\d+ settings changed .* since/u);
    expect(await readLast('changes 200d')).toMatchSnapshot('too long');
    expect(await readLast('changes nowhere')).toMatchSnapshot('no zone');
  });

  test('a period and a zone of the menu answer in its place', async () => {
    const person = bot.slack.as(alice, ops);
    await readLast('changes');
    const { ts } = person.messages().at(-1) ?? { ts: '' };
    await person.choose('menu:select:0', 'origin-errors:day:0 changes 30d', { ts });
    await person.waitForMessage((message) => message.ts === ts && message.reads.includes('30 days'));
    await person.suggest('changes:zone', 'shop', { ts });
    await person.choose('changes:zone', '1001', { ts });
    await person.waitForMessage((message) => message.ts > ts && /shop/u.test(message.reads));
  });

  test('people see what their own looks found, and a new key after a disconnect begins anew', async () => {
    await connect(bot, bob, ops);
    expect(await readLast('changes', bob)).toMatchSnapshot('first look of another');
    await disconnect(bot.slack.as(alice, ops));
    await connect(bot, alice, ops);
    expect(await readLast('changes')).toMatchSnapshot('first look anew');
  });
});

async function readFirst(words: string): Promise<string> {
  const answer = await ask(bot.slack.as(alice, ops), words);
  expect(findMarks(answer.reads, [])).toEqual([]);
  return readStable(answer);
}

describe('two zones', () => {
  beforeAll(() => {
    const like = { ZoneSecurityKey: 'CANARY-zone-security-key-alike', EdgeRules: [{ ...rule, Guid: 'one' }] };
    bot.cdn.data.zones.push(
      zone({ Id: 2001, Name: 'twin-a', ...like, AWSSigningKey: 'CANARY-aws-signing-key-a' } as never),
      zone({
        Id: 2002,
        Name: 'twin-b',
        ...like,
        AWSSigningKey: 'CANARY-aws-signing-key-b',
        EdgeRules: [{ ...rule, Guid: 'two' }],
        EnableTLS1: true,
        BlockedCountries: ['DE', 'AT'],
      } as never),
    );
  });

  test('two zones stand side by side, and of secrets only whether they are the same', async () => {
    expect(await readFirst('compare twin-a twin-b')).toMatchSnapshot('what differs');
    let all = await readFirst('compare twin-a and twin-b all');
    const person = bot.slack.as(alice, ops);
    const { ts = '', blocks } = person.messages().at(-1) ?? {};
    const pages =
      JSON.stringify(blocks).match(/(?<="value":")origin-errors:day:0 compare 2001 2002 all page:\d+/gu) ??
      [];
    for (const page of pages.slice(1)) {
      const before = person.messages().at(-1)?.reads;
      await person.choose('menu:select:0', page, { ts });
      all += `\n${readStable(await person.waitForMessage(({ reads }) => reads !== before && reads === person.messages().at(-1)?.reads))}`;
    }
    expect(all.split('\n').filter((line) => line.endsWith(', the same'))).toMatchSnapshot(
      'hidden and the same',
    );
  });

  test('everything is one press away, in its place', async () => {
    const person = bot.slack.as(alice, ops);
    await readFirst('compare twin-a twin-b');
    const { ts } = person.messages().at(-1) ?? { ts: '' };
    await person.press('origin-errors:day:0', { ts });
    await person.waitForMessage(
      (message) => message.ts === ts && JSON.stringify(message.blocks).includes(' all page:2'),
    );
  });

  test('a missing zone is asked for in a form, and the same one twice is refused there', async () => {
    const person = bot.slack.as(alice, ops);
    const before = person.messages().length;
    await person.slash('compare 2001');
    await person.waitForModal(/Compare/u);
    await person.suggest('otherZone', 'twin');
    await person.choose('otherZone', '2001');
    const refused = await person.submit();
    expect(Object.keys(refused.errors ?? {})).toEqual(['otherZone']);
    await person.choose('otherZone', '2002');
    await person.submit();
    await person.waitForMessage(({ ts }) => person.messages().findIndex((one) => one.ts === ts) >= before);
  });

  test('words that name no zone, or several, are asked about', async () => {
    expect(await readFirst('compare twin nowhere')).toMatchSnapshot('several');
    expect(await readFirst('compare twin-a nowhere')).toMatchSnapshot('none');
    expect(await readFirst('compare twin-a twin-a')).toMatchSnapshot('one');
    expect(await readFirst('compare a b c d')).toMatchSnapshot('more than two');
  });
});
