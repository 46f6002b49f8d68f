import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { message } from '../../../src/views/blocks/blocks.ts';
import { button } from '../../../src/views/blocks/buttons.ts';
import { replaceNativeBlocks } from '../../../src/views/blocks/native.ts';
import { type Cell, renderLines, renderTable } from '../../../src/views/blocks/table.ts';
import { findProblems, longText as text } from '../any.ts';

test('rows that do not fit are left out, last first, and the caption counts them', () => {
  const rows = Array.from({ length: 240 }, (_, nth) => [`zone ${nth}`, { number: nth, text: `${nth} GB` }]);
  const [table] = renderTable({ caption: 'by bandwidth', columns: ['Zone', 'Month'], rows });
  expect(table?.rows).toHaveLength(101);
  expect(table?.caption).toBe('100 of 240: by bandwidth');
  const long = rows.map(([, size]): Cell[] => ['x'.repeat(250), size ?? '']);
  const [cut] = renderTable({ caption: 'by bandwidth', columns: ['Zone', 'Month'], rows: long, total: 1000 });
  expect(cut?.caption).toBe('39 of 1,000: by bandwidth');
});

test('a table without rows is left out', () => {
  expect(renderTable({ caption: 'Nothing', columns: ['Zone'], rows: [] })).toEqual([]);
});

test('in words, a row is a line whose name is bold, and moments stay', () => {
  const rows: Cell[][] = [
    ['check<out>', { number: 5, text: '5 GB' }, { at: new Date('2026-11-22T11:46:00Z') }],
    ['api', { number: -1, text: 'not reported' }, ' '],
  ];
  const blocks = renderTable({ caption: 'Zones', columns: ['Zone', 'Month', 'When'], rows });
  expect(replaceNativeBlocks(blocks)).toMatchSnapshot();
});

const write = (count: number): string => {
  const rows = Array.from({ length: count }, (_, nth) => [`zone ${nth}`, { number: nth, text: `${nth} GB` }]);
  const [block] = replaceNativeBlocks(renderTable({ caption: 'x', columns: ['Zone', 'Month'], rows }));
  return block?.type === 'section' ? (block.text?.text ?? '') : '';
};

test('in words, ten lines are the most, and the last says how many more there are', () => {
  expect(write(10).split('\n')).toHaveLength(10);
  expect(write(100).split('\n')).toHaveLength(10);
  expect(write(100)).toMatch(/\nand 91 more$/u);
});

test('texts of other columns than the first stand behind the name: a phone shows ten characters of them', () => {
  const rows: Cell[][] = [
    ['shop', 'disabled', { number: 5, text: '5 GB' }, 'old TLS'],
    ['api', ' ', { number: 1, text: '1 GB' }, ''],
  ];
  const [table] = renderTable({ caption: 'x', columns: ['Zone', 'Status', 'Month', 'Weak'], rows });
  const read = table?.rows.map((cells) => cells.map((cell) => (cell.type === 'rich_text' ? '' : cell.text)));
  expect(read).toEqual([
    ['Zone', 'Month'],
    ['shop (disabled, old TLS)', '5 GB'],
    ['api', '1 GB'],
  ]);
});

const turn = (label: string, page: number) => button(label, 'x:page', String(page));

test.each([0, 1, 10, 11, 87])('%d rows of texts are lines, as many a page as a phone shows', (count) => {
  const rows = Array.from({ length: count }, (_, nth) => [`Setting ${nth}`, 'on'.repeat(1 + (nth % 40))]);
  const seen: string[] = [];
  const pages = Math.max(1, renderLines({ rows, turn }).pages.length);
  for (let page = 1; page <= pages; page += 1) {
    const { picture, chosen } = renderLines({ rows, page, turn });
    const lines = picture[0]?.text?.text.split('\n') ?? [];
    expect(lines.length).toBeLessThanOrEqual(10);
    const height = lines.reduce((sum, line) => sum + Math.ceil(line.length / 36), 0);
    expect(height).toBeLessThanOrEqual(17);
    const shown = lines.filter((line) => line.startsWith('*'));
    seen.push(...shown);
    const left = count - seen.length;
    expect(lines.at(-1)).toBe(left > 0 ? `and ${left} more` : shown.at(-1));
    expect(chosen).toBe(count === 0 ? '' : `${seen.length - shown.length + 1}–${seen.length} of ${count}`);
  }
  expect(seen).toHaveLength(count);
});

test('any table is one that Slack takes, drawn and in words', () => {
  const cell: fc.Arbitrary<Cell> = fc.oneof(text, fc.constant({ at: new Date('2026-11-22T11:46:00Z') }));
  const number: fc.Arbitrary<Cell> = fc.record({
    number: fc.double({ noNaN: true, noDefaultInfinity: true }),
    text,
  });
  // A column with numbers holds nothing else, or it would sort as text.
  const any = fc.array(fc.constantFrom(cell, number), { minLength: 1, maxLength: 20 }).chain((kinds) =>
    fc.record({
      caption: text,
      columns: fc.array(text, { minLength: kinds.length, maxLength: kinds.length }),
      rows: fc.array(fc.tuple(...kinds), { maxLength: 130 }),
    }),
  );
  fc.assert(
    fc.property(any, (given) => {
      expect(findProblems(message('x', renderTable(given)))).toEqual([]);
    }),
    { numRuns: 50 },
  );
});
