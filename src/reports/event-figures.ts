/** What people want to know of a shield event log, beside how much it is. */
export const eventSubjects = ['action', 'country', 'rule', 'ip', 'url'] as const;
export type EventSubject = (typeof eventSubjects)[number];

/** The most frequent words of a column, at most five. */
export interface TopWords {
  readonly words: readonly (readonly [word: string, count: number])[];
  /** 0: the counts are exact. Otherwise each word came at least `count` and at most `count + missed` times. */
  readonly missed: number;
}

export interface EventFigures {
  /** Without the header and empty lines. Exact: a line break between quotes begins no row. */
  readonly rows: number;
  /** Of these, rows with another number of cells than the header, with stray quotes, or too long to be read. */
  readonly broken: number;
  readonly bytes: number;
  /** SHA-256 of the bytes, hexadecimal. */
  readonly sha256: string;
  /** Of the earliest and the latest row, ms; undefined where no row has a time that can be read. */
  readonly first: number | undefined;
  readonly last: number | undefined;
  /** Rows by the hour (UTC, ms at its beginning), in order and without gaps; empty where no time can be read. */
  readonly hours: readonly (readonly [start: number, count: number])[];
  /** Rows that are in no hour. */
  readonly untimed: number;
  /** undefined: the file has no such column. */
  readonly top: Readonly<Record<EventSubject, TopWords | undefined>>;
}

export interface EventCounter {
  /** Takes the next piece of the file, cut anywhere. Nothing of it is kept. */
  readonly add: (piece: Uint8Array) => void;
  /** Once, after the last piece. */
  readonly result: () => EventFigures;
}

/**
 * Counts an event log in CSV while it passes, in memory that does not grow with it. The order of the columns is free,
 * and any of them may be missing.
 */
export function createEventFigures(): EventCounter {
  throw new Error('To be written');
}
