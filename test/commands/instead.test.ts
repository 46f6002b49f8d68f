import { expect, test } from 'vitest';
import { renderFailure } from '../../src/views/blocks/failure.ts';
import { buttons, createCommandHarness } from '../support/command-harness.ts';
import { findMessageProblems } from '../support/slack-limits.ts';

test.each<[typed: string, offered: string[]]>([
  ['zones sort:size', ['attention', 'bandwidth', 'charges'].map((by) => `zones sort:${by}`)],
  [
    'zones my shop sort:bandwith only:disabled',
    ['bandwidth', 'attention', 'charges'].map((by) => `zones my shop only:disabled sort:${by}`),
  ],
  ['zones only:wat', ['attention', 'suspended', 'disabled'].map((is) => `zones only:${is}`)],
  ['zones limit:5', ['zones sort:attention', 'zones sort:bandwidth', 'zones sort:charges']],
  ['errors shop yesterdy', ['errors shop yesterday']],
  ['errors shop 20/11/2026', ['errors shop 2026-11-20']],
  ['errors shop last 30 days', ['errors shop last 7 days', 'errors shop yesterday']],
  ['errors "my shop" 2026-02-30', ['errors "my shop" today', 'errors "my shop" yesterday']],
  ['errors 2099-01-01 shop', ['errors shop today', 'errors shop yesterday']],
])('%j is refused with buttons that say what would be right, and keep the rest', async (typed, offered) => {
  await using harness = await createCommandHarness({ zones: 3 });
  const person = harness.person();
  const { message, hint, offer } = await person.refuse(typed);
  const shown = renderFailure({ message, hint, offer });
  expect(findMessageProblems(shown)).toEqual([]);
  const drawn = [...buttons(shown).values()];
  expect(drawn.map(([, words]) => words)).toEqual(offered);
  // Each of them runs.
  for (const [action, words] of drawn) expect(await person.press(action, words)).not.toEqual([]);
});
