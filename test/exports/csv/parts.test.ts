import { buffer } from 'node:stream/consumers';
import { parse } from 'csv-parse/sync';
import { stringify } from 'csv-stringify/sync';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { UserError } from '../../../src/errors.ts';
import { splitCsv } from '../../../src/exports/csv/parts.ts';
import { csvFormat, cuts, splitBytes, table } from './arbitraries.ts';

/** The pieces, and whether whoever gave them was told that no more are wanted. */
function source(pieces: readonly Buffer[]): { file: AsyncIterable<Buffer>; isClosed: () => boolean } {
  let isClosed = false;
  async function* file(): AsyncGenerator<Buffer> {
    try {
      for (const piece of pieces) yield piece;
    } finally {
      isClosed = true;
    }
  }
  return { file: file(), isClosed: () => isClosed };
}

async function parts(pieces: readonly Buffer[], mostBytes: number): Promise<Buffer[]> {
  const all: Buffer[] = [];
  for await (const part of splitCsv(source(pieces).file, mostBytes)) all.push(await buffer(part));
  return all;
}

const read = (file: Uint8Array): string[][] => parse(file, { bom: true });

test('the parts of any table have its header and all its rows in order, and are as large as they may be', async () => {
  await fc.assert(
    fc.asyncProperty(table, csvFormat, cuts, fc.nat(100), async (rows, how, cuts, room) => {
      // A mark at the beginning and a line break at the end aside.
      const sizeOf = (row: string[]): number =>
        Buffer.byteLength(stringify([row], { ...how, bom: false, eof: true }));
      const sizes = rows.map(sizeOf);
      const most = (sizes[0] ?? 0) + 3 + Math.max(...sizes) + room;
      const file = Buffer.from(stringify(rows, how));
      const made = await parts(splitBytes(file, cuts), most);
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

test('an empty file has no part, a header alone is one', async () => {
  expect(await parts([], 100)).toEqual([]);
  expect((await parts([Buffer.from('a,b')], 100)).map(String)).toEqual(['a,b']);
});

test('a row that fits into no part is an error that says so', async () => {
  const file = Buffer.from(`a,b\n1,2\n3,${'x'.repeat(100)}\n`);
  await expect(parts([file], 50)).rejects.toThrow(UserError);
});

test('a part that is not read to its end is passed over', async () => {
  const { file } = source([Buffer.from('h\n11\n'), Buffer.from('22\n33\n4'), Buffer.from('4\n')]);
  const first: string[] = [];
  for await (const part of splitCsv(file, 8))
    for await (const piece of part) {
      first.push(String(piece));
      break;
    }
  expect(first).toEqual(['h\n11\n', 'h\n']);
});

test('whoever stops is not given more, and the source is told', async () => {
  const { file, isClosed } = source(Array.from({ length: 50 }, () => Buffer.from('a,b\n')));
  const made = splitCsv(file, 8);
  await made.next();
  await made.return(undefined);
  expect(isClosed()).toBe(true);
});
