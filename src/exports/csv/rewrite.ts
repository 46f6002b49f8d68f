import { Transform } from 'node:stream';
import type { CsvRow } from './cells.ts';
import { createCsvRows } from './rows.ts';

/** What a rewritten file is put together in. */
export interface Written {
  /** Room for so many more bytes, all of which may be written from `length` on. */
  readonly reserve: (bytes: number) => Buffer;
  length: number;
}

// Of one row: ten times what any server takes in an address and its headers together, times ten.
const longestRow = 8_388_608;

/** A CSV file written anew row by row, with as much in memory as one row and one piece take. */
export function createCsvRewriter(rewrite: (row: CsvRow, out: Written) => void): Transform {
  let room = Buffer.allocUnsafeSlow(131_072);
  const out: Written = {
    length: 0,
    reserve(bytes) {
      if (out.length + bytes > room.length) {
        const larger = Buffer.allocUnsafeSlow(Math.max(out.length + bytes, room.length * 2));
        room.copy(larger, 0, 0, out.length);
        room = larger;
      }
      return room;
    },
  };
  const written = (): Buffer => {
    const piece = Buffer.from(room.subarray(0, out.length));
    out.length = 0;
    return piece;
  };
  const rows = createCsvRows((row) => rewrite(row, out), { longest: longestRow, longer: 'refuse' });
  return new Transform({
    transform(piece: Uint8Array, _encoding, done) {
      done(...attempt(() => rows.write(piece)));
    },
    flush(done) {
      done(...attempt(rows.end));
    },
  });

  function attempt(run: () => void): [error: Error | null, piece?: Buffer] {
    try {
      run();
      return out.length === 0 ? [null] : [null, written()];
    } catch (error) {
      return [error as Error];
    }
  }
}
