import { expect, test } from 'vitest';
import { button } from '../../../src/views/blocks/buttons.ts';
import { type Listed, renderList } from '../../../src/views/reports/list.ts';
import { findMessageProblems } from '../../support/slack-limits.ts';

const row = (nth: number): Listed => ({
  id: `k${String(nth).padStart(4, '0')}`,
  state: `:rotating_light: *firing* since Mon 23 Nov 10:02 ${'x'.repeat(nth % 200)}`,
  what: `more than 50 origin errors in ${'zone-with-a-long-name, '.repeat(nth % 20)}`,
  place: 'C0OPS0000',
  owner: 'U0ALICE00',
  own: nth % 2 === 0,
  manages: true,
  urgency: nth % 3,
  buttons: ['Check now', 'Pause', 'Edit', 'Delete'].map((label) => button(label, 'alerts:x', 'k7f3q')),
  takeOver: nth % 5 === 0 ? button('Take over', 'alerts:take-over', 'k7f3q') : undefined,
});

test.each([0, 1, 15, 16, 200, 1_000])('a list of %i reports is a message that Slack takes', (count) => {
  const rows = Array.from({ length: count }, (_, nth) => row(nth));
  const words = { noun: 'alert', none: 'None.', counts: [] } as const;
  const budget = { used: 3, limit: 1200, resetsAt: new Date(0) };
  const message = renderList(rows, words, { budget, asOf: new Date(0) });
  expect(findMessageProblems(message)).toEqual([]);
  const text = JSON.stringify(message.blocks);
  expect(rows.filter(({ id }) => text.includes(id))).toHaveLength(Math.min(count, 65));
});
