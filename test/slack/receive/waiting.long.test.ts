import { afterAll, expect, test } from 'vitest';
import { ask, connect, startBot } from '../../support/bot.ts';
import { alice, bob, offers, ops, says } from '../words.ts';

const bot = await startBot({ transport: 'http', zones: 3 });
await connect(bot, alice, ops);
await connect(bot, bob, ops);
afterAll(() => bot.stop());

test('while the CDN is slow, a command that waits for its turn says so once, and its answer takes that place', async () => {
  const person = bot.slack.as(alice, ops);
  const slow = Promise.withResolvers<void>();
  bot.cdn.faults.add({ times: Infinity, until: slow.promise });
  // As many as one person may have at once.
  for (let nth = 0; nth < 32; nth += 1) await person.slash('zones');
  expect(await person.slash('whoami')).toMatchObject({ status: 200, timedOut: false });
  await person.slash('connect');
  const told = await person.waitForMessage(says.waiting);
  expect(told.ephemeral).toBe(true);

  // Somebody else does not wait, and is told nothing but the answer.
  const before = bot.slack.as(bob, ops).messages().length;
  await ask(bot.slack.as(bob, ops), 'whoami');
  expect(bot.slack.as(bob, ops).messages()).toHaveLength(before + 1);

  slow.resolve();
  bot.cdn.faults.clear();
  const find = (ts: string) => person.messages().find((message) => message.ts === ts)?.reads;
  await expect.poll(() => find(told.ts)).toContain('@Alice Adams');
  await expect.poll(() => person.messages().filter(({ reads }) => /Working|Waiting/.test(reads))).toEqual([]);
});

test('a press that waits for its turn for more than three seconds is answered, and so is what comes later', async () => {
  const person = bot.slack.as(alice, ops);
  const menu = await ask(person, 'help');
  const slow = Promise.withResolvers<void>();
  bot.cdn.faults.add({ times: Infinity, until: slow.promise });
  for (let nth = 0; nth < 32; nth += 1) await person.slash('zones');
  await person.press('help:run:0', { ts: menu.ts, value: 'whoami' });
  const typed = await person.slash('connect');
  expect(typed).toMatchObject({ status: 200, timedOut: false });
  // What is told of the command that was typed after it: the press has waited longer.
  await person.waitForMessage(says.waiting);
  slow.resolve();
  bot.cdn.faults.clear();
  await person.waitForMessage(offers('connect:forget'));
  expect(await ask(person, 'whoami')).toSatisfy(offers('connect:forget'));
});
