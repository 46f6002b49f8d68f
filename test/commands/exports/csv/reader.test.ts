import { stringify } from 'csv-stringify/sync';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { createCsvReader } from '../../../../src/commands/exports/csv/reader.ts';
import { csvFormat, cuts, splitBytes, table } from './arbitraries.ts';

async function read(file: Buffer, cuts: readonly number[] = []): Promise<string[][]> {
  const rows: string[][] = [];
  const reader = createCsvReader((row) => rows.push([...row]));
  for (const piece of splitBytes(file, cuts)) await reader.write(piece);
  await reader.end();
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
  const reader = createCsvReader(() => {
    throw failure;
  });
  const reading = reader.write(Buffer.from('a,b\n'.repeat(30_000))).then(() => reader.end());
  await expect(reading).rejects.toBe(failure);
});
