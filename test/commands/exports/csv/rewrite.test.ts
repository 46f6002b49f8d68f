import { parse } from 'csv-parse/sync';
import { stringify } from 'csv-stringify/sync';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { createCsvSplitter } from '../../../../src/commands/exports/csv/rewrite.ts';
import { UserError } from '../../../../src/errors.ts';
import { csvFormat, cuts, splitBytes, table } from './arbitraries.ts';

function parts(pieces: readonly Buffer[], mostBytes: number): Buffer[] {
  const all: Buffer[][] = [];
  const splitter = createCsvSplitter(mostBytes, {
    onPart: () => void all.push([]),
    // The bytes are valid during the call only.
    onBytes: (bytes) => void all.at(-1)?.push(Buffer.from(bytes)),
  });
  for (const piece of pieces) splitter.write(piece);
  splitter.end();
  return all.map((part) => Buffer.concat(part));
}

const read = (file: Uint8Array): string[][] => parse(file, { bom: true });

test('the parts of any table have its header and all its rows in order, and are as large as they may be', () => {
  fc.assert(
    fc.property(table, csvFormat, cuts, fc.nat(100), (rows, how, cuts, room) => {
      // A mark at the beginning and a line break at the end aside.
      const sizeOf = (row: string[]): number =>
        Buffer.byteLength(stringify([row], { ...how, bom: false, eof: true }));
      const sizes = rows.map(sizeOf);
      const most = (sizes[0] ?? 0) + 3 + Math.max(...sizes) + room;
      const file = Buffer.from(stringify(rows, how));
      const made = parts(splitBytes(file, cuts), most);
      expect(made.every((part) => part.length <= most)).toBe(true);
      const [header = []] = rows;
      expect(made.map((part) => read(part)[0])).toEqual(made.map(() => header));
      expect([header, ...made.flatMap((part) => read(part).slice(1))]).toEqual(rows);
      expect(file.length > most || Buffer.concat(made).equals(file)).toBe(true);
      // No part could have taken the first row of the next one.
      const couldHave = made.filter((part, nth) => {
        const [, first] = made[nth + 1] ? read(made[nth + 1] as Buffer) : [];
        return first && part.length + sizeOf(first) <= most;
      });
      expect(couldHave).toEqual([]);
    }),
    { numRuns: 300 },
  );
});

test('an empty file has no part, a header alone is one', () => {
  expect(parts([], 100)).toEqual([]);
  expect(parts([Buffer.from('a,b')], 100).map(String)).toEqual(['a,b']);
});

test('a row that fits into no part is an error that says so', () => {
  const file = Buffer.from(`a,b\n1,2\n3,${'x'.repeat(100)}\n`);
  expect(() => parts([file], 50)).toThrow(UserError);
});
