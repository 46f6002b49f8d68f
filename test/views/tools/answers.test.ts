import type { DataTableBlock } from '@slack/types';
import { expect, test } from 'vitest';
import { renderTable } from '../../../src/views/blocks/table.ts';
import { readPlain, toAssistantBlocks } from '../../../src/views/tools/answers.ts';

test.each([
  ['a', 100],
  ['é](x"://', 100],
  ['x'.repeat(45), 100],
])('a table of %s stays with as many rows as Slack takes', (text, count) => {
  const rows = Array.from({ length: count }, (_, nth) => [`${nth}`, text, text, text]);
  const blocks = renderTable({ caption: 'by name', columns: ['Zone', 'One', 'Two', 'Three'], rows });
  const [table] = toAssistantBlocks({ text: 'An answer', blocks }, []) as DataTableBlock[];
  const length = JSON.stringify(table).length;
  const isCut = table?.rows.length !== blocks[0]?.rows.length;
  // https://docs.slack.dev/ai/slackbot-mcp-client
  expect(length).toBeLessThanOrEqual(20_000);
  expect(isCut ? length : 20_000).toBeGreaterThan(19_000);
  expect(table?.caption?.includes('first')).toBe(isCut);
});

test.each([
  { text: 'gh[token]', found: `ghp_${'a1'.repeat(12)}` },
  {
    text: 'key of the CDN',
    found: '4b1d2c3e-9f70-4c55-8a21-0d6e7f8a9b104b1d2c3e-9f70-4c55-8a21-0d6e7f8a9b10',
  },
  { text: 'storage key', found: '4b1d2c3e-9f70-4c55-8a210d6e7f8a-9b10-4b1d' },
  { text: 'token of a client', found: `cdn_${'aB3-'.repeat(10)}xyz` },
  { text: 'key of AWS', found: 'AKIAIOSFODNN7EXAMPLE' },
])('what looks like a $text is masked in blocks, and a UUID is not', ({ found }) => {
  const uuid = '4b1d2c3e-9f70-4c55-8a21-0d6e7f8a9b10';
  const text = { type: 'mrkdwn', text: `/a?k=${found} of ${uuid}`, verbatim: true } as const;
  const shown = JSON.stringify(toAssistantBlocks({ text: '', blocks: [{ type: 'section', text }] }, []));
  expect(shown).not.toContain(found);
  expect(shown).toContain(uuid);
});

test('a text of many openings and no end is read in one pass', () => {
  expect(readPlain('<'.repeat(500_000))).toHaveLength(500_000);
});
