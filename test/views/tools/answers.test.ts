import type { DataTableBlock } from '@slack/types';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { renderTable } from '../../../src/views/blocks/table.ts';
import { toAssistantBlocks } from '../../../src/views/tools/answers.ts';

/** Slack counts the tables of an answer together: https://docs.slack.dev/ai/slackbot-mcp-client */
const most = 20_000;

function cut(tables: readonly DataTableBlock[]): DataTableBlock[] {
  return toAssistantBlocks({ text: 'An answer', blocks: [...tables] }, []) as DataTableBlock[];
}

function makeTable(rows: number, text: string): DataTableBlock[] {
  const columns = ['Zone', 'Status', 'Month'];
  return renderTable(
    { caption: 'by name', columns, rows: Array.from({ length: rows }, (_, nth) => [`${nth}`, text, text]) },
    100_000,
  );
}

test('tables stay with as many of their rows as fit together, however near they are to the limit', () => {
  fc.assert(
    fc.property(
      fc.array(
        fc.tuple(
          fc.integer({ min: 1, max: 100 }),
          fc.constantFrom('a', '](x', '"', '://', 'é', 'x'.repeat(90)),
        ),
        {
          minLength: 1,
          maxLength: 3,
        },
      ),
      (sizes) => {
        const given = sizes.flatMap(([rows, text]) => makeTable(rows, text));
        const tables = cut(given);
        expect(JSON.stringify(tables).length).toBeLessThanOrEqual(most);
        const [first] = tables;
        expect(first?.rows.length).toBeGreaterThan(1);
        const isCut = first?.rows.length !== given[0]?.rows.length;
        // What was cut fills the room but for a row and the words that say so.
        expect(isCut ? JSON.stringify(first).length : most).toBeGreaterThan(most - 400);
        expect(first?.caption?.includes('first')).toBe(isCut);
      },
    ),
    { numRuns: 200 },
  );
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
