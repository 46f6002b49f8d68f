import type { OriginError } from '../../api/origin-errors/origin-errors.ts';
import { createSeenIds } from '../../api/origin-errors/seen-ids.ts';
import { type CsvColumn, writeCsv, writeCsvHeader } from '../../lib/csv.ts';
import { createTempFile } from '../../lib/temp-file.ts';
import { type DayRange, listDays, yieldToEventLoop } from '../../lib/time.ts';
import type { FileKind } from '../../views/origin-errors/report.ts';
import type { With } from '../context.ts';

interface EntryFile {
  readonly path: string;
  readonly entries: number;
  readonly skipped: number;
  readonly incomplete: readonly string[];
  /** Days with too many entries to sort. */
  readonly unsorted: readonly string[];
}

/** Lines between two pauses: about a millisecond's work. */
const linesAtOnce = 200;
/** Entries of a day held for sorting: about ten megabytes. */
const maxSorted = 10_000;

/**
 * Writes every entry of the days into a file, each once, sorted by time; days with too many entries are written while
 * they arrive. Entries after `until` are left out. Undefined if there are none. Rethrows read errors: half a file would
 * pass for a whole one.
 */
export async function writeEntries(
  zoneId: string,
  days: DayRange,
  kind: FileKind,
  until: number | undefined,
  context: With<'tempDirectory'>,
): Promise<EntryFile | undefined> {
  const { originErrors } = await context.cdn();
  const spool = await createTempFile(context.tempDirectory);
  const { header, lines } = formats[kind];
  const ids = createSeenIds();
  const incomplete: string[] = [];
  let entries = 0;
  let skipped = 0;
  const unsorted: string[] = [];
  const held: OriginError[] = [];
  let written = Promise.resolve();
  /** Later batches are written after earlier ones. */
  const release = (): Promise<void> => {
    written = writeAfter(written, held.splice(0));
    // The next await reports a full disk; if reading failed meanwhile, none follows.
    written.catch(() => undefined);
    return written;
  };
  const writeAfter = async (earlier: Promise<void>, all: readonly OriginError[]): Promise<void> => {
    await earlier;
    for (let at = 0; at < all.length; at += linesAtOnce) {
      await spool.write(lines(all.slice(at, at + linesAtOnce).map(toFileRow)));
      await yieldToEventLoop();
    }
  };
  try {
    await spool.write(header);
    // Day by day, in order.
    for (const day of listDays(days)) {
      let most = maxSorted;
      const read = await originErrors.forEach(zoneId, day, (entry) => {
        if (until !== undefined && (entry.at ?? 0) > until) return;
        if (entry.id !== '' && !ids.isNew(entry.id)) return;
        entries += 1;
        held.push(entry);
        if (held.length < most) return;
        most = linesAtOnce;
        return release();
      });
      if (most === maxSorted) held.sort(compareTime);
      else unsorted.push(day);
      await release();
      skipped += read.skipped;
      if (read.moreExist) incomplete.push(day);
    }
    if (entries === 0) {
      await spool.discard();
      return undefined;
    }
    await spool.finish();
    return { path: spool.path, entries, skipped, incomplete, unsorted };
  } catch (error) {
    await written.catch(() => undefined);
    await spool.discard();
    throw error;
  }
}

/** Entries without a time come last. */
function compareTime(one: Pick<FileRow, 'at'>, other: Pick<FileRow, 'at'>): number {
  return (one.at ?? Number.MAX_VALUE) - (other.at ?? Number.MAX_VALUE);
}

/** An entry as the file shows it: nothing that may be secret. */
export interface FileRow {
  readonly at?: number | undefined;
  readonly errorCode: OriginError['errorCode'];
  readonly statusCode: OriginError['statusCode'];
  readonly serverZone: OriginError['serverZone'];
  readonly url: string | undefined;
  readonly message: string | undefined;
  readonly logId: string;
}

export function toFileRow(entry: OriginError): FileRow {
  const { at, errorCode, statusCode, serverZone, id } = entry;
  const { requestUrl, message } = entry.details() ?? {};
  return { at, errorCode, statusCode, serverZone, url: requestUrl, message, logId: id };
}

/** The same file from cached rows. Undefined if there are none. */
export async function writeRows(
  rows: readonly FileRow[],
  known: Pick<EntryFile, 'skipped' | 'incomplete'>,
  kind: FileKind,
  context: With<'tempDirectory'>,
): Promise<EntryFile | undefined> {
  if (rows.length === 0) return undefined;
  const spool = await createTempFile(context.tempDirectory);
  const { header, lines } = formats[kind];
  try {
    await spool.write(header);
    await spool.write(lines(rows.toSorted(compareTime)));
    await spool.finish();
  } catch (error) {
    await spool.discard();
    throw error;
  }
  return { path: spool.path, entries: rows.length, ...known, unsorted: [] };
}

const columns: readonly CsvColumn<FileRow>[] = [
  { name: 'time', cell: ({ at }) => (at === undefined ? undefined : new Date(at).toISOString()) },
  { name: 'errorCode', cell: ({ errorCode }) => errorCode },
  { name: 'statusCode', cell: ({ statusCode }) => statusCode },
  { name: 'serverZone', cell: ({ serverZone }) => serverZone },
  { name: 'url', cell: ({ url }) => url },
  { name: 'message', cell: ({ message }) => message },
  { name: 'logId', cell: ({ logId }) => logId },
];

/** One line per entry, with the members that answers show and no possible secrets. */
const formats: Readonly<
  Record<FileKind, { readonly header: string; readonly lines: (rows: readonly FileRow[]) => string }>
> = {
  csv: { header: writeCsvHeader(columns), lines: (rows) => writeCsv(columns, rows) },
  ndjson: {
    header: '',
    lines: (rows) =>
      rows
        .map((row) => Object.fromEntries(columns.map(({ name, cell }) => [name, cell(row)])))
        .map((line) => `${JSON.stringify(line)}\n`)
        .join(''),
  },
};
