import { createHash } from 'node:crypto';
import { dayMs } from '../../../lib/time.ts';
import { createAddressNormalizer } from '../csv/addresses.ts';
import { type EventSubject, eventColumns } from '../csv/columns.ts';
import { type CsvRow, cellKinds, cellText, createCsvRows } from '../csv/rows.ts';
import { createGroupCounts, type GroupCounts, type TopValues } from './counts.ts';
import { createTimeReader, slotMs } from './time.ts';
import { redactUrl, type Span } from './urls.ts';

export interface EventStats {
  /** Without the header and empty lines; a line break in quotes begins no row. */
  readonly rows: number;
  /** Rows with another number of cells than the header, with stray quotes, or too long to be read. */
  readonly broken: number;
  readonly bytes: number;
  /** SHA-256 of the bytes, hexadecimal; undefined unless requested. */
  readonly sha256: string | undefined;
  /** Rows each ten minutes (UTC; start in epoch ms), in order and without gaps; empty if no time can be read. */
  readonly slots: readonly (readonly [start: number, count: number])[];
  /** Rows without a readable time. */
  readonly untimed: number;
  /** The file has no events: it is empty, or has only a header that can be read. */
  readonly empty: boolean;
  /** At most five values a column; undefined: there is no such column. Empty cells are not counted; URLs are counted as `redactUrl` leaves them. */
  readonly top: Readonly<Partial<Record<EventSubject, TopValues | undefined>>>;
}

export interface EventStatsOptions {
  /** Whether to hash the bytes, an eighth of the time. */
  readonly hashes?: boolean;
}

/** An export covers three days at most; times further apart are no event times. */
const longestMs = 32 * dayMs;
const shown = 5;

/** Counts an event log in CSV as a stream, in bounded memory. Columns may be in any order, and any may be missing. */
export function createEventStats({ hashes = true }: EventStatsOptions = {}) {
  const hash = hashes ? createHash('sha256') : undefined;
  const times = createTimeReader();
  const slots = new Map<number, number>();
  let bytes = 0;
  let rows = 0;
  let broken = 0;
  let first = Number.POSITIVE_INFINITY;
  let last = Number.NEGATIVE_INFINITY;
  let timed = 0;
  let width = -1;
  let timeColumn = -1;
  // For cells with doubled quotes. Counting reads no more of a cell.
  const room = Buffer.allocUnsafeSlow(1_024);
  const urlRoom = Buffer.allocUnsafeSlow(1_024);
  const normalizeAddress = createAddressNormalizer();
  const word: Span = { bytes: room, from: 0, to: 0 };
  // That of the last row: usually also that of the next.
  let slot = Number.NaN;
  let inSlot = 0;
  const columns: { column: number; subject: EventSubject; counts: GroupCounts }[] = [];

  const readHeader = (row: CsvRow): void => {
    width = row.cells;
    const { time, subjects } = eventColumns(Array.from({ length: width }, (_, nth) => cellText(row, nth)));
    timeColumn = time;
    for (const [subject, column] of subjects) columns.push({ column, subject, counts: createGroupCounts() });
  };

  const countTime = (row: CsvRow): void => {
    const start = times.readSlot(row.bytes, row.from[timeColumn] as number, row.to[timeColumn] as number);
    if (start !== slot && !enterSlot(start)) return;
    inSlot += 1;
    timed += 1;
  };

  const leaveSlot = (): void => {
    if (inSlot > 0) slots.set(slot, (slots.get(slot) ?? 0) + inSlot);
    inSlot = 0;
  };

  /** False if it is no time, or too far from the others. */
  const enterSlot = (start: number): boolean => {
    const [from, to] = [Math.min(first, start), Math.max(last, start)];
    if (!(to - from < longestMs)) return false;
    leaveSlot();
    [slot, first, last] = [start, from, to];
    return true;
  };

  const onRow = (row: CsvRow): void => {
    const { cells } = row;
    if (cells === 0 && !row.broken) return;
    if (width < 0) return readHeader(row);
    rows += 1;
    if (row.broken || cells !== width) broken += 1;
    if (timeColumn >= 0 && timeColumn < cells) countTime(row);
    for (let nth = 0; nth < columns.length; nth += 1) {
      const { column, subject, counts } = columns[nth] as (typeof columns)[number];
      if (column >= cells) continue;
      const from = row.from[column] as number;
      const to = row.to[column] as number;
      if (from === to) continue;
      const kind = row.kinds[column] as number;
      word.bytes = row.bytes;
      word.from = from;
      word.to = to;
      if (kind === cellKinds.doubled) {
        word.bytes = room;
        word.from = 0;
        word.to = unescapeQuotes(row, column, room);
      } else if (kind === cellKinds.stray) {
        word.bytes = Buffer.from(cellText(row, column));
        word.from = 0;
        word.to = word.bytes.length;
      }
      // Redacted before it is counted: each token would be a value of its own.
      if (subject === 'url') redactUrl(word, urlRoom);
      else if (subject === 'ip') normalizeAddress(word);
      if (word.to > word.from) counts.add(word.bytes, word.from, word.to);
    }
  };

  const reader = createCsvRows(onRow);
  return {
    /** Takes the next piece of the file, cut anywhere. The piece is not kept. */
    add(piece: Uint8Array): void {
      bytes += piece.length;
      hash?.update(piece);
      reader.write(piece);
    },
    /** Counted so far. */
    rows: () => rows,
    /** Once, after the last piece. */
    result(): EventStats {
      reader.end();
      leaveSlot();
      const top = columns.map(({ subject, counts }) => [subject, counts.top(shown)] as const);
      return {
        rows,
        broken,
        bytes,
        sha256: hash?.digest('hex'),
        slots: timed > 0 ? fillGaps(slots, first, last) : [],
        untimed: rows - timed,
        empty: rows === 0 && (width < 0 || timeColumn >= 0 || columns.length > 0),
        top: Object.fromEntries(top),
      };
    },
  };
}

function fillGaps(slots: ReadonlyMap<number, number>, first: number, last: number): [number, number][] {
  return Array.from({ length: (last - first) / slotMs + 1 }, (_, nth) => {
    const start = first + nth * slotMs;
    return [start, slots.get(start) ?? 0];
  });
}

/** Writes a cell of the kind `doubled` with single quotes to `room`, as much as fits. Returns its length. */
function unescapeQuotes({ bytes, from, to }: CsvRow, nth: number, room: Buffer): number {
  const end = to[nth] as number;
  let length = 0;
  for (let at = from[nth] as number; at < end && length < room.length; at += 1) {
    const byte = bytes[at] as number;
    room[length++] = byte;
    if (byte === 0x22) at += 1;
  }
  return length;
}
