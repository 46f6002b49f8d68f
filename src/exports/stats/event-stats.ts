import { createHash } from 'node:crypto';
import { hourMs } from '../../lib/time.ts';
import { type CsvRow, cellKinds, cellText, unescapeQuotes } from '../csv/cells.ts';
import { eventColumns } from '../csv/columns.ts';
import { createCsvRows } from '../csv/rows.ts';
import { createAddressReader } from './addresses.ts';
import { createGroupCounts, type GroupCounts } from './counts.ts';
import { createTimeReader } from './time.ts';
import { redactUrl, type Span } from './urls.ts';

/** What people want to know of a shield event log, beside how much it is. */
export const eventSubjects = ['action', 'country', 'rule', 'ip', 'url'] as const;
export type EventSubject = (typeof eventSubjects)[number];

/** The most frequent words of a column, at most five; cells without a word are not counted. */
export interface TopWords {
  readonly words: readonly (readonly [word: string, count: number])[];
  /** 0: the counts are exact. Otherwise each word came at least `count` and at most `count + missed` times. */
  readonly missed: number;
}

export interface EventStats {
  /** Without the header and empty lines. Exact: a line break between quotes begins no row. */
  readonly rows: number;
  /** Of these, rows with another number of cells than the header, with stray quotes, or too long to be read. */
  readonly broken: number;
  readonly bytes: number;
  /** SHA-256 of the bytes, hexadecimal; undefined where it was not wanted. */
  readonly sha256: string | undefined;
  /** Rows by the hour (UTC, ms at its beginning), in order and without gaps; empty where no time can be read. */
  readonly hours: readonly (readonly [start: number, count: number])[];
  /** Rows that are in no hour. */
  readonly untimed: number;
  /** There is nothing in the file but, at most, a header that can be read: no event, and nothing else that counts. */
  readonly empty: boolean;
  /** undefined: the file has no such column. URLs as `shownUrl` leaves them, and counted so. */
  readonly top: Readonly<Record<EventSubject, TopWords | undefined>>;
}

export interface EventStatsOptions {
  /** Whether to hash the bytes: it takes an eighth of the time, and somebody else may do it. As a rule yes. */
  readonly hashes?: boolean;
}

export interface EventCounter {
  /** Takes the next piece of the file, cut anywhere. Nothing of it is kept. */
  readonly add: (piece: Uint8Array) => void;
  /** So far. */
  readonly rows: () => number;
  /** Once, after the last piece. */
  readonly result: () => EventStats;
}

/** The window of an export is three days; times that lie further apart are not those of events. */
const mostHours = 24 * 32;
const shown = 5;

/**
 * Counts an event log in CSV while it passes, in memory that does not grow with it. The order of the columns is free,
 * and any of them may be missing.
 */
export function createEventStats({ hashes = true }: EventStatsOptions = {}): EventCounter {
  const hash = hashes ? createHash('sha256') : undefined;
  const times = createTimeReader();
  const hours = new Map<number, number>();
  let bytes = 0;
  let rows = 0;
  let broken = 0;
  let first = Number.POSITIVE_INFINITY;
  let last = Number.NEGATIVE_INFINITY;
  let timed = 0;
  let width = -1;
  let timeColumn = -1;
  // For cells that stand in the file with doubled quotes; a tally looks at no more of a word.
  const room = Buffer.allocUnsafeSlow(1_024);
  const urlRoom = Buffer.allocUnsafeSlow(1_024);
  const oneSpelling = createAddressReader();
  const word: Span = { bytes: room, from: 0, to: 0 };
  // The hour that the last row was in: the next one mostly is as well.
  let hour = Number.NaN;
  let inHour = 0;
  const tallies: { column: number; subject: EventSubject; tally: GroupCounts }[] = [];

  const readHeader = (row: CsvRow): void => {
    width = row.cells;
    const { time, subjects } = eventColumns(Array.from({ length: width }, (_, nth) => cellText(row, nth)));
    timeColumn = time;
    for (const [subject, column] of subjects) tallies.push({ column, subject, tally: createGroupCounts() });
  };

  const countTime = (row: CsvRow): void => {
    const at = times.read(row.bytes, row.from[timeColumn] as number, row.to[timeColumn] as number);
    if (Number.isNaN(at)) return;
    const start = at - (at % hourMs);
    if (start === hour) inHour += 1;
    else if (!enterHour(start)) return;
    if (at < first) first = at;
    if (at > last) last = at;
    timed += 1;
  };

  const leaveHour = (): void => {
    if (inHour > 0) hours.set(hour, (hours.get(hour) ?? 0) + inHour);
    inHour = 0;
  };

  const enterHour = (start: number): boolean => {
    const isNear =
      timed === 0 || Math.max(last, start) - Math.min(first - (first % hourMs), start) < mostHours * hourMs;
    if (!isNear) return false;
    leaveHour();
    hour = start;
    inHour = 1;
    return true;
  };

  const onRow = (row: CsvRow): void => {
    const { cells } = row;
    if (cells === 0 && !row.broken) return;
    if (width < 0) return readHeader(row);
    rows += 1;
    if (row.broken || cells !== width) broken += 1;
    if (timeColumn >= 0 && timeColumn < cells) countTime(row);
    for (let nth = 0; nth < tallies.length; nth += 1) {
      const { column, subject, tally } = tallies[nth] as (typeof tallies)[number];
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
      // Cut before it is counted, so that each token is not a word of its own.
      if (subject === 'url') redactUrl(word, urlRoom);
      else if (subject === 'ip') oneSpelling(word);
      if (word.to > word.from) tally.add(word.bytes, word.from, word.to);
    }
  };

  const reader = createCsvRows(onRow);
  return {
    add(piece) {
      bytes += piece.length;
      hash?.update(piece);
      reader.write(piece);
    },
    rows: () => rows,
    result() {
      reader.end();
      leaveHour();
      const top: Record<EventSubject, TopWords | undefined> = {
        action: undefined,
        country: undefined,
        rule: undefined,
        ip: undefined,
        url: undefined,
      };
      for (const { subject, tally } of tallies) top[subject] = tally.top(shown);
      return {
        rows,
        broken,
        bytes,
        sha256: hash?.digest('hex'),
        hours: timed > 0 ? withoutGaps(hours, first, last) : [],
        untimed: rows - timed,
        empty: rows === 0 && (width < 0 || timeColumn >= 0 || tallies.length > 0),
        top,
      };
    },
  };
}

function withoutGaps(hours: ReadonlyMap<number, number>, first: number, last: number): [number, number][] {
  const begin = first - (first % hourMs);
  const count = Math.floor((last - begin) / hourMs) + 1;
  return Array.from({ length: count }, (_, nth) => {
    const start = begin + nth * hourMs;
    return [start, hours.get(start) ?? 0];
  });
}
