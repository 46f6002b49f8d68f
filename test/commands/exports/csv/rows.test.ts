import { parse } from 'csv-parse/sync';
import { stringify } from 'csv-stringify/sync';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { createRowCounter } from '../../../../src/commands/exports/csv/rows.ts';
import { csvFormat, cuts, splitBytes, table } from './arbitraries.ts';

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
  ['a CR in a cell where rows end with LF', 'a,b\nc\rd,e\n', 2],
])('%s', (_, text, rows) => {
  for (let cut = 0; cut <= text.length; cut += 1) expect(countRows(Buffer.from(text), [cut])).toBe(rows);
});
