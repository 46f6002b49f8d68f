import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Bot, connect, startBot } from '../../support/bot.ts';
import { buttons } from '../../support/command-harness.ts';

let bot: Bot;
beforeAll(async () => {
  bot = await startBot({ zones: 12 });
  await connect(bot, 'U0ALICE00', 'C0OPS0000');
});
afterAll(async () => bot.stop());

test('in the conversation with the bot the zones are counted, and any of them is picked and shared', async () => {
  const alice = bot.slack.as('U0ALICE00', 'DU0ALICE00');
  alice.say('errors 1h status:404');
  const zones = await alice.waitForMessage(/12 zones .*404.*as of/su);
  const pick = 'origin-errors:pick:1h status:404';
  const [option] = await alice.suggest(pick, 'checkout', { ts: zones.ts });
  await alice.choose(pick, String(option?.['value']), { ts: zones.ts });
  const picked = await alice.waitForMessage(({ ts, text }) => ts > zones.ts && text.includes('checkout'));
  expect(picked.reads).toContain('status:404');

  const menu = zones.blocks
    .flatMap((block) => ('elements' in block ? (block['elements'] as { action_id?: string }[]) : []))
    .map(({ action_id: id = '' }) => id)
    .find((id) => id.startsWith('share:to:'));
  await alice.choose(menu ?? '', 'C0OPS0000', { ts: zones.ts });
  const copy = await bot.slack
    .as('U0BOB0000', 'C0OPS0000')
    .waitForMessage(({ ephemeral, text }) => !ephemeral && text.includes('12 zones'));
  const words = buttons(copy).get('Open with my key')?.[1];
  expect(words).toMatch(/^errors all \S+T\d\d:\d\d\.\.\S+Z status:404$/u);
  expect(bot.slack.problems).toEqual([]);
});

test('all entries of an answer come as a file into the person’s own messages, and nothing of it stays', async () => {
  const alice = bot.slack.as('U0ALICE00', 'C0OPS0000');
  await alice.slash('errors checkout yesterday UTC');
  const answer = await alice.waitForMessage(/\b240\b.*\bcheckout\b/u);
  expect(answer.ephemeral).toBe(true);
  // Her own, as Slack has it.
  expect(answer.reads).toContain('Europe/Berlin');
  const [id, value] = buttons(answer).get('All as CSV') ?? [];
  await alice.choose('menu:more', `${id} ${value}`);
  const inDm = bot.slack.as('U0ALICE00', 'DU0ALICE00');
  const sent = await inDm.waitForMessage(
    ({ files }) => files.some(({ name }) => name.endsWith('.csv')),
    10_000,
  );
  expect(sent.files).toMatchObject([{ name: expect.stringMatching(/^origin-errors-checkout-.*\.csv$/u) }]);
  await bot.app.stop();
  expect(await readdir(join(bot.env['DATA_DIR'] ?? '', 'spool'))).toEqual([]);
  expect(bot.slack.problems).toEqual([]);
  expect(bot.logs.join('')).not.toContain('CANARY');
});
