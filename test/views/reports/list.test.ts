import { expect, test } from 'vitest';
import { findCondition } from '../../../src/commands/reports/checks/list.ts';
import { type Listed, renderList } from '../../../src/views/reports/card.ts';
import type { Alert } from '../../../src/views/reports/report.ts';
import { findMessageProblems } from '../../support/slack-limits.ts';

const row = (nth: number): Listed => ({
  report: {
    kind: 'alert',
    id: `k${String(nth).padStart(4, '0')}`,
    channel: 'C0OPS0000',
    owner: { userId: 'U0ALICE00' },
    paused: nth % 5 === 0 ? { reason: 'failing' } : undefined,
    subject: {
      condition: findCondition('errors'),
      targets: ['1', '2', '3', '4'],
      called: Object.fromEntries(['1', '2', '3'].map((id) => [id, 'zone-'.repeat(nth % 20)])),
      threshold: 50,
      window: 10,
      every: 5,
      timeZone: 'UTC',
    },
  } as unknown as Alert,
  state: {
    text: `:rotating_light: *firing* since Mon 23 Nov 10:02 ${'x'.repeat(nth % 200)}`,
    flags: ['firing'],
  },
  own: nth % 2 === 0,
  manages: true,
});

test.each([0, 1, 15, 200])('the pages of %i reports are messages that Slack takes', (count) => {
  const rows = Array.from({ length: count }, (_, nth) => row(nth));
  const shown = new Set<string>();
  for (let page = 1; page === 1 || shown.size < count; page += 1) {
    const message = renderList('alert', rows, { asOf: new Date(0), page });
    expect(findMessageProblems(message)).toEqual([]);
    const text = JSON.stringify(message.blocks);
    const found = rows.filter(({ report }) => text.includes(report.id));
    for (const { report } of found) shown.add(report.id);
    if (page > count) break;
  }
  expect(shown.size).toBe(count);
});

test.each([1, 166])('page %i of a thousand reports is a message that Slack takes', (page) => {
  const rows = Array.from({ length: 1_000 }, (_, nth) => row(nth));
  expect(findMessageProblems(renderList('alert', rows, { asOf: new Date(0), page }))).toEqual([]);
});
