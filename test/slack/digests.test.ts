import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Bot, connect, startBot } from '../bot.ts';

let bot: Bot;
beforeAll(async () => {
  bot = await startBot({ zones: 8 });
  await connect(bot, 'U0ALICE00', 'C0OPS0000');
});
afterAll(async () => bot.stop());

test('a digest is ordered in a form, previewed, announced, run at once, paused, resumed, deleted and brought back', async () => {
  const alice = bot.slack.as('U0ALICE00', 'C0OPS0000');
  await alice.slash('digest new');
  await alice.waitForModal((view) => view.reads.includes('Time zone'));
  await alice.press('digests:preview');
  await alice.waitForModal(/Only you see this/);
  await alice.closeModal();
  const outcome = await alice.submit();
  expect(outcome.errors).toBeUndefined();
  const saved = await alice.waitForModal(/Saved/);
  expect(saved.reads).toMatch(/Zones overview every workday at 09:00, Europe\/Berlin/);
  expect(saved.reads.match(/09:00/gu)).toHaveLength(4);
  await alice.press('digests:run');
  await alice.closeModal();
  const post = await alice.waitForMessage(
    (message) => !message.ephemeral && /asked for by/.test(message.reads),
    10_000,
  );
  expect(post.reads).toMatch(/8 zones/);
  expect(bot.slack.problems).toEqual([]);
});
