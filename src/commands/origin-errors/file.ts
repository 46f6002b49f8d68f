import { createSeenIds } from '../../api/origin-errors/counts.ts';
import { createFilter } from '../../api/origin-errors/filters.ts';
import type { OriginError } from '../../api/origin-errors/origin-errors.ts';
import { type CsvColumn, writeCsv, writeCsvHeader } from '../../lib/csv.ts';
import { writeTempFile } from '../../lib/temp-file.ts';
import { listDays, yieldToEventLoop } from '../../lib/time.ts';
import type { ZoneErrors } from '../../views/origin-errors/overview.ts';
import { daysOf } from '../../views/origin-errors/period.ts';
import type { ZoneQuestion } from '../../views/origin-errors/question.ts';
import type { SharedFile } from '../../views/share.ts';
import type { Context } from '../define.ts';
import { createPeriodTest } from './read.ts';

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
 * Writes every entry that is asked about into a file, each once, sorted by time; days with too many entries are written while
 * they arrive. Entries after `until` are left out. Undefined if there are none. Rethrows read errors: half a file would
 * pass for a whole one.
 */
export async function writeEntries(
  { zone, period, filters }: ZoneQuestion,
  kind: SharedFile,
  until: number | undefined,
  context: Context,
): Promise<EntryFile | undefined> {
  const { originErrors } = await context.cdn();
  const { header, lines } = formats[kind];
  const isOfPeriod = createPeriodTest(period);
  const isWanted = createFilter(filters);
  const ids = createSeenIds();
  return writeTempFile(context.tempDirectory, async (writeText) => {
    await writeText(header);
    const incomplete: string[] = [];
    const unsorted: string[] = [];
    const held: OriginError[] = [];
    let entries = 0;
    let skipped = 0;
    let written = Promise.resolve();
    const writeAfter = async (earlier: Promise<void>, all: readonly OriginError[]): Promise<void> => {
      await earlier;
      for (let at = 0; at < all.length; at += linesAtOnce) {
        await writeText(lines(all.slice(at, at + linesAtOnce).map(toFileRow)));
        await yieldToEventLoop();
      }
    };
    /** Appends the buffered entries. */
    const flush = (): Promise<void> => {
      entries += held.length;
      written = writeAfter(written, held.splice(0));
      // The next await reports a full disk; if reading failed meanwhile, none follows.
      written.catch(() => undefined);
      return written;
    };
    // Day by day, in order.
    for (const day of listDays(daysOf(period))) {
      let most = maxSorted;
      const read = await originErrors.forEach(zone.id, day, (entry) => {
        if (!isOfPeriod(entry, day) || !isWanted(entry)) return;
        if (until !== undefined && (entry.at ?? 0) > until) return;
        if (entry.id !== '' && !ids.isNew(entry.id)) return;
        held.push(entry);
        if (held.length < most) return;
        most = linesAtOnce;
        return flush();
      });
      if (most === maxSorted) held.sort(compareTime);
      else unsorted.push(day);
      await flush();
      skipped += read.skipped;
      if (read.moreExist) incomplete.push(day);
    }
    return entries > 0 ? { entries, skipped, incomplete, unsorted } : undefined;
  });
}

/** Entries without a time come last. */
function compareTime(one: OriginError, other: OriginError): number {
  return (one.at ?? Number.MAX_VALUE) - (other.at ?? Number.MAX_VALUE);
}

/** An entry as the file shows it: nothing that may be secret. */
function toFileRow(entry: OriginError) {
  const { at, errorCode, statusCode, serverZone, id } = entry;
  const { requestUrl, message } = entry.details() ?? {};
  return { at, errorCode, statusCode, serverZone, url: requestUrl, message, logId: id };
}

interface Format<Row> {
  readonly header: string;
  readonly lines: (rows: readonly Row[]) => string;
}

function createFormats<Row>(columns: readonly CsvColumn<Row>[]): Readonly<Record<SharedFile, Format<Row>>> {
  const toLine = (row: Row): string =>
    `${JSON.stringify(Object.fromEntries(columns.map(({ name, cell }) => [name, cell(row)])))}\n`;
  return {
    csv: { header: writeCsvHeader(columns), lines: (rows) => writeCsv(columns, rows) },
    ndjson: { header: '', lines: (rows) => rows.map(toLine).join('') },
  };
}

const formats = createFormats<ReturnType<typeof toFileRow>>([
  { name: 'time', cell: ({ at }) => writeTime(at) },
  { name: 'errorCode', cell: ({ errorCode }) => errorCode },
  { name: 'statusCode', cell: ({ statusCode }) => statusCode },
  { name: 'serverZone', cell: ({ serverZone }) => serverZone },
  { name: 'url', cell: ({ url }) => url },
  { name: 'message', cell: ({ message }) => message },
  { name: 'logId', cell: ({ logId }) => logId },
]);

function writeTime(at: number | undefined): string | undefined {
  return at === undefined ? undefined : new Date(at).toISOString();
}

const zoneFormats = createFormats<ZoneErrors>([
  { name: 'zoneId', cell: ({ zone }) => zone.id },
  { name: 'zone', cell: ({ zone }) => zone.name },
  { name: 'lastHour', cell: ({ recent }) => recent },
  { name: 'errors', cell: ({ total }) => total },
  { name: 'withoutTime', cell: ({ undated }) => undated },
  { name: 'mostlyCode', cell: ({ mostly }) => mostly?.errorCode },
  { name: 'mostlyStatus', cell: ({ mostly }) => mostly?.statusCode },
  { name: 'last', cell: ({ last }) => writeTime(last) },
]);

/** Writes a line for each zone: 25 at most. The path; undefined if there are none. */
export async function writeOverview(
  zones: readonly ZoneErrors[],
  kind: SharedFile,
  { tempDirectory }: Context,
): Promise<string | undefined> {
  const { header, lines } = zoneFormats[kind];
  const file = await writeTempFile(tempDirectory, async (write) => {
    await write(header + lines(zones));
    return zones.length > 0 ? {} : undefined;
  });
  return file?.path;
}
