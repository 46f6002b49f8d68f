import { afterAll, beforeAll, expect, test } from 'vitest';
import { zone } from '../../../simulator/cdn/zones.ts';
import { type Bot, connect, startBot } from '../../support/bot.ts';
import { findMarks } from '../../support/canary/markers.ts';
import { readStable } from '../../support/words.ts';

const alice = 'U0ALICE00';
const ops = 'C0OPS0000';
let bot: Bot;

beforeAll(async () => {
  bot = await startBot({ zones: 12 });
  await connect(bot, alice, ops);
  const rule = {
    ...(bot.cdn.data.zones[11]?.EdgeRules?.[6] as object),
    Description: 'Log in at the origin',
    ActionParameter2: 'Bearer CANARY-edge-rule-request-header-1',
  };
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
afterAll(() => bot.stop());

async function ask(words: string): Promise<string> {
  const person = bot.slack.as(alice, ops);
  const before = new Set(person.messages().map(({ ts }) => ts));
  await person.slash(words);
  const answer = await person.waitForMessage(({ ts }) => !before.has(ts));
  expect(findMarks(answer.reads, [])).toEqual([]);
  return readStable(answer);
}

test('two zones stand side by side, and of secrets only whether they are the same', async () => {
  expect(await ask('compare twin-a twin-b')).toMatchSnapshot('what differs');
  let all = await ask('compare twin-a and twin-b all');
  const person = bot.slack.as(alice, ops);
  const { ts = '', blocks } = person.messages().at(-1) ?? {};
  const pages = JSON.stringify(blocks).match(/(?<="value":")compare:show 2001 2002 all \d+/gu) ?? [];
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
  await ask('compare twin-a twin-b');
  const { ts } = person.messages().at(-1) ?? { ts: '' };
  await person.press('compare:show', { ts });
  await person.waitForMessage(
    (message) => message.ts === ts && JSON.stringify(message.blocks).includes(' all 2'),
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
  expect(await ask('compare twin nowhere')).toMatchSnapshot('several');
  expect(await ask('compare twin-a nowhere')).toMatchSnapshot('none');
  expect(await ask('compare twin-a twin-a')).toMatchSnapshot('one');
  expect(await ask('compare a b c d')).toMatchSnapshot('more than two');
});
