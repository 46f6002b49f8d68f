import { afterAll, beforeAll, expect, test } from 'vitest';
import { ask, type Bot, connect, startBot } from '../../support/bot.ts';
import { readStable } from '../../support/words.ts';
import { says } from '../words.ts';

const alice = 'U0ALICE00';
const bob = 'U0BOB0000';
const ops = 'C0OPS0000';

let bot: Bot;
beforeAll(async () => {
  bot = await startBot({ transport: 'http', zones: 3 });
  await connect(bot, alice, ops);
  await connect(bot, bob, ops);
});
afterAll(() => bot.stop());

test('while the CDN is slow, a command that waits for its turn says so once, and its answer takes that place', async () => {
  const person = bot.slack.as(alice, ops);
  const slow = Promise.withResolvers<void>();
  bot.cdn.faults.add({ times: Infinity, until: slow.promise });
  // As many as one person may have at once.
  for (let nth = 0; nth < 32; nth += 1) await person.slash('zones');
  expect(await person.slash('whoami')).toMatchObject({ status: 200, timedOut: false });
  await person.slash('connect');
  const told = await person.waitForMessage(says.waiting(32));
  expect(told.ephemeral).toBe(true);
  const form = await person.waitForMessage(says.waiting(33));

  // Somebody else does not wait, and is told nothing but the answer.
  const before = bot.slack.as(bob, ops).messages().length;
  await ask(bot.slack.as(bob, ops), 'whoami');
  expect(bot.slack.as(bob, ops).messages()).toHaveLength(before + 1);

  slow.resolve();
  bot.cdn.faults.clear();
  const find = (ts: string) => person.messages().find((message) => message.ts === ts)?.reads;
  await expect.poll(() => find(told.ts)).toContain('@Alice Adams');
  // A form cannot open any more, and says so in the place of its notice.
  await expect.poll(() => find(form.ts)).toMatch(/^(?!Waiting)/);
  expect(readStable(find(form.ts) ?? '')).toMatchSnapshot();
  await expect.poll(() => person.messages().filter(({ reads }) => /Working|Waiting/.test(reads))).toEqual([]);
  expect(bot.slack.problems).toEqual([]);
});

test('where twenty thousand wait, the next command is refused, and its person is told', async () => {
  const [busy, other] = [bot.slack.as(alice, ops), bot.slack.as(bob, ops)];
  bot.cdn.faults.add({ times: Infinity, until: new Promise(() => {}) });
  // The CDN is given up on after a while, so that 32 of them end: some more are typed than may wait.
  for (let nth = 0; nth < 20_200; nth += 1) await busy.slash('zones');
  await other.slash('whoami');
  const refused = await other.waitForMessage(says.full);
  expect(readStable(refused.reads)).toMatchSnapshot();
}, 240_000);
