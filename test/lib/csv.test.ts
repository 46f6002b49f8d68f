import { parse } from 'csv-parse/sync';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { writeSafe } from '../../src/commands/exports/csv.ts';
import { byteOrderMark, escapeCell, writeCsv, writeCsvHeader } from '../../src/lib/csv.ts';
import { table } from '../commands/exports/arbitraries.ts';

const makeSafe = (rows: string[][]): string => byteOrderMark + writeSafe(rows);

const read = (text: string): string[][] => parse(text, { bom: true, relax_column_count: true });

/** What a spreadsheet could see first: without blanks, invisible signs and quotes in front. */
const beginning = (text: string): string =>
  // oxlint-disable-next-line no-control-regex -- control characters are what is looked for here
  text.replace(/^[\s\u{0}-\u{1f}\u{200b}\u{feff}"]*/u, '').slice(0, 1);
const columns = [
  { name: 'first', cell: () => 'x' },
  { name: 'text', cell: (text: string) => text },
];
const dangerous = Array.from('=+-@＝＋－＠');

test('no cell of any table is a formula afterwards, and harmless cells are unchanged', () => {
  fc.assert(
    fc.property(table, (rows) => {
      const safe = read(makeSafe(rows));
      expect(safe.map((row) => row.length)).toEqual(rows.map((row) => row.length));
      for (const [nth, row] of rows.entries())
        for (const [column, text] of row.entries()) {
          const made = safe[nth]?.[column] ?? '';
          expect(dangerous).not.toContain(beginning(made));
          expect(made).not.toMatch(/^[\t\r\n]/u);
          expect(made).toBe(escapeCell(text));
          expect(made.replaceAll("'", '')).toBe(text.replaceAll("'", ''));
          expect(/^[a-z/][^;\t\r\n]*$/iu.test(text) ? made : text).toBe(text);
        }
    }),
    { numRuns: 200 },
  );
});

/** How spreadsheets read: a quote opens only where a cell begins, and what follows the closing one belongs to it. */
function asOpened(file: string, separator: string): string[] {
  const cells: string[] = [];
  for (let at = 0; at <= file.length; at += 1) {
    let cell = '';
    if (file[at] === '"') {
      for (at += 1; at < file.length && (file[at] !== '"' || file[at + 1] === '"'); at += 1) {
        cell += file[at];
        if (file[at] === '"') at += 1;
      }
      at += 1;
    }
    for (; at < file.length && !`${separator}\r\n`.includes(file.charAt(at)); at += 1) cell += file[at];
    cells.push(cell);
  }
  return cells;
}

test.each([';', '\t'])(
  'no cell of any table is a formula where a spreadsheet splits cells at %j',
  (separator) => {
    fc.assert(
      fc.property(table, (rows) => {
        const safe = makeSafe(rows);
        const split: string[][] = parse(safe, {
          bom: true,
          delimiter: separator,
          quote: false,
          record_delimiter: ['\r\n', '\n', '\r'],
          relax_column_count: true,
        });
        const opened = asOpened(safe.replace(/^\u{feff}/u, ''), separator);
        for (const cell of [...split.flat(), ...opened]) expect(dangerous).not.toContain(beginning(cell));
      }),
      { numRuns: 200 },
    );
  },
);

test.each([
  ['a;=1', "a;'=1"],
  ['a; \u{a0}＋1;-2', "a;' \u{a0}＋1;'-2"],
  ['a\r\n=1', "a\r\n'=1"],
  ['a\t"@x', 'a\t\'"@x'],
  ['=1;=1', "'=1;'=1"],
  ['(X11; Linux x86_64; rv:140.0)', '(X11; Linux x86_64; rv:140.0)'],
  ['a;;b, =c', 'a;;b, =c'],
])('%j becomes %j', (text, safe) => {
  expect(read(makeSafe([['x', text]]))).toEqual([['x', safe]]);
  expect(read(writeCsv(columns, [text]))).toEqual([['x', safe]]);
});

test.each([
  ['12345678901234567890', true],
  ['0301', true],
  ['12e34', true],
  [' 1.5E10 ', true],
  ['123456789012345', false],
  ['0', false],
  ['10.5', false],
  ['0x12', false],
  ['2026-11-20T10:00:00.000Z', false],
  ['12345678901234567890 events', false],
])('the id %j stays text: %s', (id, isMarked) => {
  expect(read(makeSafe([['x', id]]))).toEqual([['x', isMarked ? `'${id}` : id]]);
  expect(read(writeCsv(columns, [id]))).toEqual([['x', isMarked ? `'${id}` : id]]);
});

test('a file for spreadsheets begins with one byte order mark', () => {
  expect(writeCsvHeader(columns)).toBe('\u{feff}"first","text"\n');
});

test('a formula behind a long run of invisible characters is found in linear time', () => {
  const hidden = `a;${'\u{200b}'.repeat(5000)}=1`;
  expect(escapeCell(hidden)).toBe(hidden.replace(';', ";'"));
  const many = ';\u{200b}'.repeat(1_500_000);
  expect(escapeCell(many)).toBe(many);
});

test('a safe file stays as it is', () => {
  fc.assert(
    fc.property(table, (rows) => {
      const once = makeSafe(rows);
      expect(makeSafe(read(once))).toBe(once);
    }),
  );
});

test.each([
  '=1+1',
  '+1',
  '-2+3+cmd|x',
  '@SUM(1)',
  '\tx',
  '\rx',
  '\nx',
  '  =1',
  ' \t x',
  '\u{feff}=1',
  '\u{200b}\u{ad}=1',
  '\u{a0}@x',
  '＝1',
  ' －1',
  '"=1"',
  '\u{0}=1',
])('%j is a formula', (text) => {
  expect(escapeCell(text).startsWith("'")).toBe(true);
});

test.each(['', 'a', '1-2', "'=1", '/=1', 'a=1', ' a', '"quoted"', '…=1', 'ü'])('%j is none', (text) => {
  expect(escapeCell(text)).toBe(text);
});
