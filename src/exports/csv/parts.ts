import { UserError } from '../../errors.ts';
import { createCsvRows } from './rows.ts';

/** A piece of a part: never empty. */
interface Cut {
  readonly bytes: Buffer;
  readonly beginsPart: boolean;
}

/**
 * Cuts a CSV file between rows into parts of at most `mostBytes`, each of which begins with the header: read each part
 * to its end before asking for the next one. A file that fits is one part, byte for byte; an empty file is none. Holds
 * one piece and one row at most.
 *
 * Fails with a UserError where one row and the header are larger than a part.
 */
export async function* splitCsv(
  source: AsyncIterable<Uint8Array>,
  mostBytes: number,
): AsyncGenerator<AsyncIterable<Buffer>> {
  const cuts = cut(source, mostBytes);
  try {
    let next = await cuts.next();
    const part = async function* (): AsyncGenerator<Buffer> {
      do {
        if (next.done) return;
        yield next.value.bytes;
        next = await cuts.next();
      } while (!next.done && !next.value.beginsPart);
    };
    while (!next.done) {
      const begun: Cut = next.value;
      yield part();
      // Whoever did not read a part to its end has no use for it.
      while (!next.done && (next.value === begun || !next.value.beginsPart)) next = await cuts.next();
    }
  } finally {
    await cuts.return(undefined);
  }
}

async function* cut(source: AsyncIterable<Uint8Array>, mostBytes: number): AsyncGenerator<Cut, void> {
  let header: Buffer | undefined;
  let ready: Cut[] = [];
  let inPart = 0;
  let beginsPart = true;
  // Rows are copied one by one: the reader uses its bytes again.
  const { add, taken } = createGathering();
  const handOn = (): void => {
    const bytes = taken();
    if (bytes.length === 0) return;
    ready.push({ bytes, beginsPart });
    beginsPart = false;
  };
  const rows = createCsvRows(
    (row) => {
      const length = row.end - row.start;
      if (header && inPart + length > mostBytes && inPart > header.length) {
        handOn();
        ready.push({ bytes: header, beginsPart: true });
        beginsPart = false;
        inPart = header.length;
      }
      if (inPart + length > mostBytes) throw tooLong(mostBytes);
      add(row.bytes, row.start, row.end);
      inPart += length;
      if (!header && row.cells > 0) header = Buffer.from(row.bytes.subarray(row.start, row.end));
    },
    { longest: mostBytes, longer: 'refuse' },
  );
  for await (const piece of source) {
    rows.write(piece);
    handOn();
    yield* ready;
    ready = [];
  }
  rows.end();
  handOn();
  yield* ready;
}

/** Bytes that are put together until they are taken. */
function createGathering(): {
  readonly add: (bytes: Buffer, from: number, to: number) => void;
  readonly taken: () => Buffer;
} {
  let room = Buffer.allocUnsafeSlow(131_072);
  let length = 0;
  return {
    add(bytes, from, to) {
      const needed = length + to - from;
      if (needed > room.length) {
        const larger = Buffer.allocUnsafeSlow(Math.max(needed, room.length * 2));
        room.copy(larger, 0, 0, length);
        room = larger;
      }
      length += bytes.copy(room, length, from, to);
    },
    taken() {
      const bytes = Buffer.from(room.subarray(0, length));
      length = 0;
      return bytes;
    },
  };
}

function tooLong(mostBytes: number): UserError {
  return new UserError(
    `One row of the file is larger than ${mostBytes} bytes, and cannot be cut.`,
    'Narrow the filters.',
  );
}
