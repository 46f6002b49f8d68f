import { afterAll, expect, test } from 'vitest';
import { features } from '../../../src/commands/registry.ts';
import { connect, startBot } from '../../support/bot.ts';
import { alice, ops } from '../words.ts';

// Shapes that no rule takes for a key.
const ownKeys = ['1b7e0f4c-92ad-4d13-8e60-5f3a7c21d9b8', 'our_shop_key_2024'];

const bot = await startBot({ zones: 3, env: { ADMIN_USER_IDS: alice } });
for (const key of ownKeys) bot.cdn.data.accessKeys.set(key, 'full');
afterAll(() => bot.stop());

test.each(ownKeys)(
  'the person’s own key %s behind any word is refused and never repeated',
  async (key) => {
    await connect(bot, alice, ops, key);
    const person = bot.slack.as(alice, ops);
    const before = bot.slack.calls.length;
    const names = features.flatMap(({ commands }) =>
      commands.flatMap(({ name, aliases = [] }) => [name, ...aliases]),
    );
    for (const words of [
      ...names.filter((name) => name !== 'disconnect'),
      'frobnicate',
      'why why',
      'audit 50',
      '',
    ]) {
      const known = new Set(person.messages().map(({ ts }) => ts));
      await person.slash(`${words} ${key}`);
      const answer = await person.waitForMessage(({ ts }) => !known.has(ts));
      expect([words, JSON.stringify(answer.blocks).includes('connect:')]).toEqual([words, true]);
      expect(person.modal()).toBeUndefined();
    }
    const sent = JSON.stringify([bot.slack.calls.slice(before), person.messages()]);
    expect(sent).not.toContain(key);
    expect(bot.logs.join('')).not.toContain(key);
  },
  60_000,
);
