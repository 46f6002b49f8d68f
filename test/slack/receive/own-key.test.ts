import { expect, test } from 'vitest';
import { features } from '../../../src/commands/registry.ts';
import { connect, followMessages, useBot } from '../../support/bot.ts';
import { alice, ops } from '../words.ts';

// Shapes that no rule takes for a key.
const ownKeys = ['1b7e0f4c-92ad-4d13-8e60-5f3a7c21d9b8', 'our_shop_key_2024'];

const names = features.flatMap(({ commands }) =>
  commands.flatMap(({ name, aliases = [] }) => [name, ...aliases]),
);
const bot = await useBot({ zones: 3, env: { ADMIN_USER_IDS: alice } }, []);
for (const key of ownKeys) bot.cdn.data.accessKeys.set(key, 'full');

test.each(ownKeys)('the person’s own key %s behind any word is refused and never repeated', async (key) => {
  await connect(bot, alice, ops, key);
  const person = bot.slack.as(alice, ops);
  const [calls, { all: answers }] = [bot.slack.calls.length, followMessages(person)];
  const typed = [...names.filter((name) => name !== 'disconnect'), 'frobnicate', 'why why', 'audit 50', ''];
  await Promise.all(typed.map((words) => person.slash(`${words} ${key}`)));
  await expect.poll(() => answers().length, { timeout: 20_000 }).toBe(typed.length);
  expect(answers().filter(({ blocks }) => !JSON.stringify(blocks).includes('connect:'))).toEqual([]);
  expect(person.modal()).toBeUndefined();
  expect(JSON.stringify([bot.slack.calls.slice(calls), answers()])).not.toContain(key);
  expect(bot.logs.join('')).not.toContain(key);
});
