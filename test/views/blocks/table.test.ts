import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { message } from '../../../src/views/blocks/blocks.ts';
import { preferLines, replaceNativeBlocks } from '../../../src/views/blocks/native.ts';
import { type Cell, renderTable } from '../../../src/views/blocks/table.ts';
import { findMessageProblems } from '../../support/slack-limits.ts';

test('rows that do not fit are left out, last first, and the caption counts them', () => {
  const rows = Array.from({ length: 240 }, (_, nth) => [`zone ${nth}`, { number: nth, text: `${nth} GB` }]);
  const [table] = renderTable({ caption: 'by bandwidth', columns: ['Zone', 'Month'], rows });
  expect(table?.rows).toHaveLength(101);
  expect(table?.caption).toBe('100 of 240: by bandwidth');
  const long = rows.map(([, size]) => ['x'.repeat(250), size ?? '']);
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
  const rows = Array.from({ length: count }, (_, nth) => [`zone ${nth}`, `${nth} GB`]);
  const [block] = replaceNativeBlocks(renderTable({ caption: 'x', columns: ['Zone', 'Month'], rows }));
  return block?.type === 'section' ? (block.text?.text ?? '') : '';
};

test('in words, ten lines are the most, and the last says how many more there are', () => {
  expect(write(10).split('\n')).toHaveLength(10);
  expect(write(100).split('\n')).toHaveLength(10);
  expect(write(100)).toMatch(/\nand 91 more$/u);
});

const drawnAs = (count: number) =>
  preferLines(
    renderTable({
      caption: 'x',
      columns: ['Setting', 'Value'],
      rows: Array.from({ length: count }, () => ['TLS', 'on']),
    }),
  ).map(({ type }) => type);

test('a table of texts is lines as long as they hold it all', () => {
  expect([0, 1, 6, 7].map(drawnAs)).toEqual([[], ['section'], ['section'], ['data_table']]);
});

test('any table is one that Slack takes, drawn and in words', () => {
  const text = fc.oneof(
    fc.string({ maxLength: 400 }),
    fc.string({ maxLength: 30, unit: 'binary' }).map((any) => any.toWellFormed()),
    fc.constantFrom('', ' ', '<!channel>', '&', '\n'),
  );
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
      const blocks = renderTable(given);
      expect(findMessageProblems(message('x', blocks))).toEqual([]);
      expect(findMessageProblems(message('x', replaceNativeBlocks(blocks)))).toEqual([]);
    }),
    { numRuns: 50 },
  );
});
