import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ask, useBot } from '../../support/bot.ts';
import { buttons } from '../../support/command-harness.ts';
import { readStable } from '../../support/words.ts';

const ops = 'C0OPS0000';
const random = 'C0RANDOM0';

const bot = await useBot({ zones: 12 }, ['U0ALICE00', 'U0BOB0000']);

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
  // An undo never overwrites a later change.
  const set = await ask(admin, 'here zone video');
  await ask(admin, 'here none');
  await admin.press('origin-errors:day:0', { ts: set.ts });
  const refused = await admin.waitForMessage(({ reads }) => reads.startsWith(':warning:'));
  expect(readStable(refused)).toMatchSnapshot('changed since');
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

// The last: the bot stops.
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
