import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Bot, connect, startBot } from '../../support/bot.ts';
import { readStable } from '../../support/words.ts';

const ops = 'C0OPS0000';
const random = 'C0RANDOM0';

let bot: Bot;
beforeAll(async () => {
  bot = await startBot({ zones: 12 });
  for (const person of ['U0ALICE00', 'U0BOB0000']) await connect(bot, person, ops);
});
afterAll(async () => bot.stop());

async function ask(person: ReturnType<Bot['slack']['as']>, words: string) {
  const before = new Set(person.messages().map(({ ts }) => ts));
  await person.slash(words);
  return person.waitForMessage(({ ts }) => !before.has(ts));
}

test('the errors of a channel’s zone are one word away, and the answer says whose zone it is', async () => {
  const [admin, bob] = ['U0ALICE00', 'U0BOB0000'].map((id) => bot.slack.as(id, ops));
  if (!admin || !bob) throw new Error('nobody is there');
  expect(readStable(await ask(admin, 'here'))).toMatchSnapshot('none yet');
  expect(readStable(await ask(admin, 'here zone checkout'))).toMatchSnapshot('set');
  const answer = await ask(bob, 'errors');
  expect(answer.text).toContain('checkout');
  expect(answer.reads.split('\n').at(-1)).toContain('checkout');
  expect((await ask(bob, 'errors yesterday')).text).toMatch(/yesterday .* checkout/u);
  expect((await ask(bob, 'errors video')).text).toContain('video');

  // Elsewhere, and on demand here, it is all zones.
  expect((await ask(bob, 'errors all yesterday')).text).toContain('of 12 zones');
  const elsewhere = bot.slack.as('U0BOB0000', random);
  await elsewhere.slash('errors');
  await elsewhere.waitForMessage(/of 12 zones/u);

  const gone = await ask(admin, 'here none');
  expect(readStable(gone)).toMatchSnapshot('taken away');
  await bob.slash('errors');
  await bob.waitForMessage(({ text }) => /of 12 zones .* now/u.test(text));
  await admin.press('origin-errors:day:0', { ts: gone.ts });
  await admin.waitForMessage(({ ts, text }) => ts === gone.ts && text.includes('checkout'));
  await ask(admin, 'here none');
  expect(bot.slack.problems).toEqual([]);
});

test('who is no admin and no operator sees the zone and cannot set it', async () => {
  const bob = bot.slack.as('U0BOB0000', ops);
  expect(readStable(await ask(bob, 'here zone checkout'))).toMatchSnapshot('refused');
  expect(readStable(await ask(bob, 'here'))).toMatchSnapshot('looked at');
});

test('in the bot’s own conversation there is no channel to set a zone for', async () => {
  const alice = bot.slack.as('U0ALICE00', 'DU0ALICE00');
  expect(readStable(await ask(alice, 'here zone checkout'))).toMatchSnapshot();
});
