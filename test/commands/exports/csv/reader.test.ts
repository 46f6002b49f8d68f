import { parse } from 'csv-parse/sync';
import { stringify } from 'csv-stringify/sync';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { createRowCounter, headerBytes, readCsv } from '../../../../src/commands/exports/csv/csv.ts';
import { csvFormat, cuts, splitBytes, table } from './arbitraries.ts';

async function read(file: Buffer, cuts: readonly number[] = []): Promise<string[][]> {
  const rows: string[][] = [];
  await readCsv(file.subarray(0, headerBytes), splitBytes(file, cuts), (row) => rows.push([...row]));
  return rows;
}

test('any table is read wherever it is cut', async () => {
  await fc.assert(
    fc.asyncProperty(table, csvFormat, cuts, async (rows, format, cuts) => {
      expect(await read(Buffer.from(stringify(rows, format)), cuts)).toEqual(rows);
    }),
  );
});

test.each([',', ';', '\t', '|'])(
  'a file that is separated by %j is read by its header',
  async (separator) => {
    const rows = [
      ['Timestamp', 'Client IP', 'URL'],
      ['2026-11-20T10:00:00Z', '203.0.113.7', '/a,b;c|d'],
    ];
    expect(await read(Buffer.from(stringify(rows, { delimiter: separator })))).toEqual(rows);
  },
);

test.each([
  ['rows of different widths', 'a,b\nc\nd,e,f\n', [['a', 'b'], ['c'], ['d', 'e', 'f']]],
  ['a quote in a bare cell', 'a"b,c\n', [['a"b', 'c']]],
  ['text behind a closing quote', '"a"b,c\n', [['"a"b', 'c']]],
  ['empty lines', '\na,b\n\n', [['a', 'b']]],
  [
    'rows that end differently',
    'a,b\r\nc,d\ne,f\r\n',
    [
      ['a', 'b'],
      ['c', 'd'],
      ['e', 'f'],
    ],
  ],
  [
    'a header that ends with LF above rows that end with CR LF',
    'a,b\nc,d\r\n',
    [
      ['a', 'b'],
      ['c', 'd'],
    ],
  ],
  ['nothing', '', []],
])('%s', async (_, text, rows) => {
  expect(await read(Buffer.from(text))).toEqual(rows);
});

test.each([
  ['a quote that is never closed', Buffer.from('a,b\n1,"2\n3,4\n'), 'CSV_QUOTE_NOT_CLOSED'],
  ['a row that no memory should hold', Buffer.alloc(9_000_000, 'x'), 'CSV_MAX_RECORD_SIZE'],
])('%s cannot be read', async (_, file, code) => {
  await expect(read(file, [70_000])).rejects.toMatchObject({ code });
});

test('an error of the callback is thrown', async () => {
  const failure = new Error('enough');
  const file = Buffer.from('a,b\n'.repeat(30_000));
  const reading = readCsv(file.subarray(0, headerBytes), [file], () => {
    throw failure;
  });
  await expect(reading).rejects.toBe(failure);
});

function countRows(file: Buffer, cuts: readonly number[] = []): number {
  const counter = createRowCounter();
  for (const piece of splitBytes(file, cuts)) counter.add(piece);
  return counter.rows();
}

test('rows of any table are counted as csv-parse counts them, wherever the file is cut', () => {
  fc.assert(
    fc.property(table, csvFormat, cuts, (rows, format, cuts) => {
      const file = Buffer.from(stringify(rows, format));
      expect(parse(file, { bom: true })).toHaveLength(rows.length);
      expect(countRows(file, cuts)).toBe(rows.length);
    }),
    { numRuns: 1000 },
  );
});

test.each([
  ['nothing', '', 0],
  ['a line break between quotes', 'a,"b\nc"\n', 1],
  ['doubled quotes before a line break', '"a ""b""\nc",d\n', 1],
  ['no line break at the end', 'a,b\nc,', 2],
  ['empty lines', '\na,b\n\n\r\nc,d\r\n\r\n', 2],
  ['rows that end with CR alone', 'a,b\r"c\rd","e"\rf,\r', 3],
])('%s', (_, text, rows) => {
  for (let cut = 0; cut <= text.length; cut += 1) expect(countRows(Buffer.from(text), [cut])).toBe(rows);
});
