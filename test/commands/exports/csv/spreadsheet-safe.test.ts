import { parse } from 'csv-parse/sync';
import { stringify } from 'csv-stringify/sync';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { createSpreadsheetEscaper } from '../../../../src/commands/exports/csv/spreadsheet-safe.ts';
import { escapeFormulas, isFormula, writeCsv } from '../../../../src/lib/csv.ts';
import { cell, csvFormat, cuts, rewrite, splitBytes, table } from './arbitraries.ts';

function makeSafe(file: Uint8Array, cuts: readonly number[] = []): Buffer {
  return rewrite(createSpreadsheetEscaper(), splitBytes(file, cuts));
}

const read = (file: Uint8Array): string[][] => parse(file, { bom: true, relax_column_count: true });

/** What a spreadsheet could see first: without blanks, invisible signs and quotes in front. */
const beginning = (text: string): string =>
  // oxlint-disable-next-line no-control-regex -- control characters are what is looked for here
  text.replace(/^[\s\u{0}-\u{1f}\u{200b}\u{feff}"]*/u, '').slice(0, 1);
const columns = [
  { name: 'first', cell: () => 'x' },
  { name: 'text', cell: (text: string) => text },
];
const dangerous = Array.from('=+-@＝＋－＠');

test('in no cell of any table is there a formula left, and the harmless cells are what they were', () => {
  fc.assert(
    fc.property(table, csvFormat, cuts, (rows, how, cuts) => {
      const safe = read(makeSafe(Buffer.from(stringify(rows, how)), cuts));
      expect(safe.map((row) => row.length)).toEqual(rows.map((row) => row.length));
      for (const [nth, row] of rows.entries())
        for (const [column, text] of row.entries()) {
          const made = safe[nth]?.[column] ?? '';
          expect(dangerous).not.toContain(beginning(made));
          expect(made).not.toMatch(/^[\t\r\n]/u);
          expect(made).toBe(escapeFormulas(text));
          expect(made.replaceAll("'", '')).toBe(text.replaceAll("'", ''));
          expect(/^[a-z\d/][^;\t\r\n]*$/iu.test(text) ? made : text).toBe(text);
        }
    }),
    { numRuns: 500 },
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
  'where cells are split at %j, in none of any table is there a formula left, quotes or not',
  (separator) => {
    fc.assert(
      fc.property(table, csvFormat, cuts, (rows, how, cuts) => {
        const safe = makeSafe(Buffer.from(stringify(rows, how)), cuts);
        const split: string[][] = parse(safe, {
          bom: true,
          delimiter: separator,
          quote: false,
          record_delimiter: ['\r\n', '\n', '\r'],
          relax_column_count: true,
        });
        const opened = asOpened(safe.toString().replace(/^\u{feff}/u, ''), separator);
        for (const cell of [...split.flat(), ...opened]) expect(dangerous).not.toContain(beginning(cell));
      }),
      { numRuns: 500 },
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
  expect(read(makeSafe(Buffer.from(stringify([['x', text]]))))).toEqual([['x', safe]]);
  expect(read(Buffer.from(writeCsv(columns, [text])))).toEqual([['x', safe]]);
});

test('however much nobody sees stands in front of it, it is a formula, in a time that does not explode', () => {
  const hidden = `a;${'\u{200b}'.repeat(5000)}=1`;
  const [[made = ''] = []] = read(makeSafe(Buffer.from(`"${hidden}"`)));
  expect(made).toBe(hidden.replace(';', ";'"));
  const many = Buffer.from(`"${';\u{200b}'.repeat(1_500_000)}"`);
  expect(makeSafe(many).length).toBeLessThan(many.length * 1.5);
});

test('what is safe stays as it is', () => {
  fc.assert(
    fc.property(table, csvFormat, (rows, how) => {
      const once = makeSafe(Buffer.from(stringify(rows, how)));
      expect(makeSafe(once).equals(once)).toBe(true);
    }),
  );
});

test('byte for byte', () => {
  const file = '\u{feff}time,"user agent"\r\n1,=1+1\r\n2,"=HYPERLINK(""x"")"\r\n3,\r\n\r\n4,"a\r\n+b"';
  const safe =
    '\u{feff}"time","user agent"\r\n"1","\'=1+1"\r\n"2","\'=HYPERLINK(""x"")"\r\n"3",\r\n\r\n"4","a\r\n\'+b"';
  expect(makeSafe(Buffer.from(file)).toString()).toBe(safe);
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
  expect(isFormula(text)).toBe(true);
});

test.each(['', 'a', '1-2', "'=1", '/=1', 'a=1', ' a', '"quoted"', '…=1', 'ü'])('%j is none', (text) => {
  expect(isFormula(text)).toBe(false);
});

test('a small file is made by the same rule', () => {
  fc.assert(
    fc.property(cell, (text) => {
      const [row] = read(Buffer.from(writeCsv(columns, [text])));
      expect(row?.[1]).toBe(escapeFormulas(text));
    }),
  );
});

test('a broken file becomes a whole one in which nothing runs', () => {
  const file = '=a"b,"c"=d,x\r\n"=never closed,\n1';
  const rows = read(makeSafe(Buffer.from(file)));
  expect(rows).toEqual([[`'=a"b`, 'c=d', 'x'], [`'=never closed,\n1`]]);
});

test('bytes that are no text are kept', () => {
  const file = Buffer.from('61ff2c3dfe0a', 'hex');
  expect(makeSafe(file).toString('hex')).toBe('2261ff222c22273dfe220a');
});

test('a row that no memory should hold is an error that says so', () => {
  const row = Buffer.alloc(9_000_000, 'x');
  expect(() => makeSafe(row)).toThrowErrorMatchingSnapshot();
});
