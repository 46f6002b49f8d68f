import type { OriginError } from '../api/origin-errors.ts';
import { csvOf } from '../reports/csv.ts';
import { type Days, eachDay, startOf } from '../reports/days.ts';
import { createSeenIds } from '../reports/seen-ids.ts';
import { createSpool } from '../spool.ts';
import type { Context } from './define.ts';

export const fileKinds = ['csv', 'ndjson'] as const;
export type FileKind = (typeof fileKinds)[number];

interface EntryFile {
  readonly path: string;
  readonly entries: number;
  readonly skipped: number;
  readonly incomplete: readonly string[];
}

/** Lines that are made at once: about a millisecond's work. */
const batch = 200;

/**
 * Writes every entry of the days into a file while they arrive, each once. Undefined where there are none. Throws
 * what reading threw: half a file would pass for a whole one.
 */
export async function spoolEntries(
  zoneId: string,
  days: Days,
  kind: FileKind,
  context: Context,
): Promise<EntryFile | undefined> {
  const { originErrors } = await context.cdn();
  const spool = await createSpool(context.spoolDirectory);
  const { header, lines } = formats[kind];
  const ids = createSeenIds();
  const incomplete: string[] = [];
  let entries = 0;
  let skipped = 0;
  let waiting: OriginError[] = [];
  const flush = (): void | Promise<void> => {
    const text = lines(waiting);
    waiting = [];
    return spool.write(text);
  };
  try {
    await spool.write(header);
    // One day after the other: the file is in their order.
    for (const day of eachDay(days)) {
      const read = await originErrors.forEach(zoneId, new Date(startOf(day)), (entry) => {
        if (entry.id !== '' && !ids.isNew(entry.id)) return;
        entries += 1;
        waiting.push(entry);
        if (waiting.length >= batch) return flush();
      });
      await flush();
      skipped += read.skipped;
      if (read.moreExist) incomplete.push(day);
    }
    if (entries === 0) {
      await spool.discard();
      return undefined;
    }
    await spool.finish();
    return { path: spool.path, entries, skipped, incomplete };
  } catch (error) {
    await spool.discard();
    throw error;
  }
}

const columns = ['time', 'errorCode', 'statusCode', 'serverZone', 'url', 'message', 'logId'] as const;

/** One line an entry: what the answer shows of it, and nothing that may be secret. */
const formats: Readonly<
  Record<FileKind, { readonly header: string; readonly lines: (entries: readonly OriginError[]) => string }>
> = {
  csv: {
    header: csvOf([columns]),
    lines: (entries) => csvOf(entries.map(cells)),
  },
  ndjson: {
    header: '',
    lines: (entries) =>
      entries
        .map((entry) => {
          const values = cells(entry);
          return `${JSON.stringify(Object.fromEntries(columns.map((name, index) => [name, values[index]])))}\n`;
        })
        .join(''),
  },
};

/** In the order of `columns`. */
function cells(entry: OriginError): (string | number | undefined)[] {
  const { at, errorCode, statusCode, serverZone, id } = entry;
  const { requestUrl, message } = entry.details() ?? {};
  const time = at === undefined ? undefined : new Date(at).toISOString();
  return [time, errorCode, statusCode, serverZone, requestUrl, message, id];
}
