import { expect, test } from 'vitest';
import { ask, connect, startBot } from '../../support/bot.ts';
import { alice, bob, offers, ops, says } from '../words.ts';

test('while the CDN is slow, a command that waits for its turn says so once, its answer takes that place, and a press is answered', async () => {
  await using bot = await startBot({ transport: 'http', zones: 3 });
  const [person, other] = [bot.slack.as(alice, ops), bot.slack.as(bob, ops)];
  for (const id of [alice, bob]) await connect(bot, id, ops);
  const menu = await ask(person, 'help');
  const countAnswers = (): number => person.messages().filter(offers('connect:forget')).length;
  const answers = countAnswers();
  const slow = Promise.withResolvers<void>();
  bot.cdn.faults.add({ times: Infinity, until: slow.promise });
  // As many as one person may have at once.
  for (let nth = 0; nth < 32; nth += 1) await person.slash('zones');
  await person.press('help:run:0', { ts: menu.ts, value: 'whoami' });
  expect(await person.slash('whoami')).toMatchObject({ status: 200, timedOut: false });
  await person.slash('connect');
  const told = await person.waitForMessage(says.waiting);
  expect(told.ephemeral).toBe(true);

  // Somebody else does not wait, and is told nothing but the answer.
  const before = other.messages().length;
  await ask(other, 'whoami');
  expect(other.messages()).toHaveLength(before + 1);

  slow.resolve();
  bot.cdn.faults.clear();
  const find = (ts: string) => person.messages().find((message) => message.ts === ts)?.reads;
  await expect.poll(() => find(told.ts)).toContain('@Alice Adams');
  await expect.poll(() => person.messages().filter(({ reads }) => /Working|Waiting/.test(reads))).toEqual([]);
  await expect.poll(countAnswers).toBe(answers + 2);
  expect(await ask(person, 'whoami')).toSatisfy(offers('connect:forget'));
});
