import { parse } from 'csv-parse/sync';
import { stringify } from 'csv-stringify/sync';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { cellText, createCsvRows } from '../../../../src/commands/exports/csv/rows.ts';
import { UserError } from '../../../../src/errors.ts';
import { csvFormat, cuts, splitBytes, table } from './arbitraries.ts';

interface Read {
  readonly rows: string[][];
  readonly broken: boolean[];
  /** Every byte of every row, joined. */
  readonly bytes: string;
}

function read(pieces: readonly Uint8Array[], options?: Parameters<typeof createCsvRows>[1]): Read {
  const rows: string[][] = [];
  const broken: boolean[] = [];
  const bytes: string[] = [];
  const reader = createCsvRows((row) => {
    rows.push(Array.from({ length: row.cells }, (_, nth) => cellText(row, nth)));
    broken.push(row.broken);
    bytes.push(row.bytes.toString('latin1', row.start, row.end));
  }, options);
  for (const piece of pieces) reader.write(piece);
  reader.end();
  return { rows, broken, bytes: bytes.join('') };
}

const readText = (text: string): Read => read([Buffer.from(text)]);

test('any table is read as csv-parse reads it, wherever its bytes are cut', () => {
  fc.assert(
    fc.property(table, csvFormat, cuts, (rows, how, cuts) => {
      const file = Buffer.from(stringify(rows, how));
      const known = parse(file, { bom: true, relax_column_count: true });
      const found = read(splitBytes(file, cuts));
      expect(found.rows).toEqual(known);
      expect(found.rows).toEqual(rows);
      expect(found.broken.some(Boolean)).toBe(false);
      expect(found.bytes).toBe(file.toString('latin1'));
    }),
    { numRuns: 1000 },
  );
});

test('rows are counted as csv-parse counts them, whatever stands in cells that are not quoted', () => {
  const bare = fc.string({ unit: fc.constantFrom('a', ' ', '\r', 'ü'), maxLength: 6 });
  const rows = fc.array(fc.array(bare, { minLength: 2, maxLength: 4 }), { minLength: 1, maxLength: 8 });
  fc.assert(
    fc.property(rows, fc.constantFrom('\n', '\r\n'), cuts, (cells, end, cuts) => {
      // The first line says how lines end.
      const file = Buffer.from(['x,y', ...cells.map((row) => row.join(','))].join(end));
      const known = parse(file, { record_delimiter: ['\r\n', '\n'], relax_column_count: true });
      expect(read(splitBytes(file, cuts)).rows).toEqual(known);
    }),
    { numRuns: 500 },
  );
});

test('any bytes are read to their end, the same wherever they are cut', () => {
  const bytes = fc.string({ unit: fc.constantFrom(...Array.from('"",\r\n a\u{feff}ü')), maxLength: 60 });
  fc.assert(
    fc.property(bytes, cuts, (text, cuts) => {
      const file = Buffer.from(text);
      const whole = read([file]);
      expect(read(splitBytes(file, cuts))).toEqual(whole);
      expect(whole.bytes).toBe(file.toString('latin1'));
    }),
    { numRuns: 1000 },
  );
});

test.each([
  ['a line break between quotes', 'a,"b\nc"\n', [['a', 'b\nc']]],
  [
    'a line break of two signs between quotes',
    'a,"b\r\nc"\r\nd,e',
    [
      ['a', 'b\r\nc'],
      ['d', 'e'],
    ],
  ],
  ['doubled quotes', '"a ""b""",""""\n', [['a "b"', '"']]],
  [
    'no line break at the end',
    'a,b\nc,',
    [
      ['a', 'b'],
      ['c', ''],
    ],
  ],
  ['quotes around nothing', '"",""', [['', '']]],
  ['a byte order mark before a quote', '\u{feff}"a,b",c\n', [['a,b', 'c']]],
  ['rows of different widths', 'a,b\nc\nd,e,f\n', [['a', 'b'], ['c'], ['d', 'e', 'f']]],
  ['empty lines', '\na,b\n\n\r\nc,d\n', [[], ['a', 'b'], [], [], ['c', 'd']]],
  [
    'rows that end with a CR alone',
    'a,b\r"c\rd","e"\rf,\r',
    [
      ['a', 'b'],
      ['c\rd', 'e'],
      ['f', ''],
    ],
  ],
  [
    'quoted cells before a CR alone',
    '"a","b"\r"c","d"',
    [
      ['a', 'b'],
      ['c', 'd'],
    ],
  ],
  ['a header that ends with a CR alone, and nothing', 'a,b\r', [['a', 'b']]],
  [
    'a CR inside a cell where rows end otherwise',
    'a,b\nc\rd,e\n',
    [
      ['a', 'b'],
      ['c\rd', 'e'],
    ],
  ],
  [
    'the same after two signs',
    'a,b\r\nc\rd,e\r\n',
    [
      ['a', 'b'],
      ['c\rd', 'e'],
    ],
  ],
  ['nothing', '', []],
  ['a byte order mark and nothing', '\u{feff}', [[]]],
])('%s', (_, text, rows) => {
  expect(readText(text).rows).toEqual(rows);
  expect(readText(text).broken).not.toContain(true);
});

test.each([
  [
    'a quote in a bare cell is a character',
    'a"b,c\nd,e\n',
    [
      ['a"b', 'c'],
      ['d', 'e'],
    ],
    [true, false],
  ],
  [
    'what follows a closing quote belongs to the cell',
    '"a"b,c\nd,e\n',
    [
      ['ab', 'c'],
      ['d', 'e'],
    ],
    [true, false],
  ],
  [
    'also another quote',
    '"a ""x""" "b",c\nd,e',
    [
      ['a "x" "b"', 'c'],
      ['d', 'e'],
    ],
    [true, false],
  ],
  [
    'a quote that is never closed takes all that follows',
    'a,b\n"c,d\ne,f\n',
    [['a', 'b'], ['c,d\ne,f\n']],
    [false, true],
  ],
])('%s', (_, text, rows, broken) => {
  expect(readText(text)).toMatchObject({ rows, broken });
});

const long = `a,b\nc,"${'x"" ,\n'.repeat(40_000)}"\r\nd,e\n`;

test('a row that is too long is one broken row without cells, and the next one is read again', () => {
  const pieces = splitBytes(Buffer.from(long), [1000, 70_000, 70_001, 130_000]);
  const { rows, broken } = read(pieces, { longest: 10_000 });
  expect(rows).toEqual([['a', 'b'], [], ['d', 'e']]);
  expect(broken).toEqual([false, true, false]);
});

test('a row of nothing but cells is too long as well', () => {
  const { rows, broken } = read([Buffer.from(`a\n${','.repeat(200_000)}\nb\n`)]);
  expect(rows).toEqual([['a'], [], ['b']]);
  expect(broken).toEqual([false, true, false]);
});

test('whoever has to see every row refuses one that is too long', () => {
  expect(() => read([Buffer.from(long)], { longest: 10_000, longer: 'refuse' })).toThrow(UserError);
  expect(read([Buffer.from(long)], { longest: 1_000_000, longer: 'refuse' }).rows).toHaveLength(3);
});
