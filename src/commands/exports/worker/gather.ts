import { UserError } from '../../../errors.ts';
import { createFileScanner } from '../../../secrets/scanner.ts';
import type { ExportRequest } from '../../../views/exports/exports.ts';
import type { EventFigures, UnreadReason } from '../../../views/exports/report.ts';
import { createEventCounter } from '../csv/figures.ts';
import { createCsvReader, findHeader, headerBytes } from '../csv/reader.ts';
import { createPseudonymizer, createSafeWriter, writePlain } from '../csv/rewrite.ts';
import { createRowCounter } from '../csv/rows.ts';

import { createEncryptedTempFile, type EncryptedTempFile } from './encrypted-temp-file.ts';

export interface ExportLimits {
  /** Slack's limit for one file: https://slack.com/help/articles/201330736 */
  readonly fileBytes: number;
  /** A larger log is passed on without being read as CSV: its answer has the number of rows and bytes only. */
  readonly summaryBytes: number;
}

export const exportLimits: ExportLimits = { fileBytes: 1_000_000_000, summaryBytes: 32_000_000 };

/** A file of an export, ready to be sent. */
export interface GatheredFile {
  /** `raw`: what the CDN sent, or its pseudonymized form. `safe`: the copy for spreadsheets. */
  readonly kind: 'raw' | 'safe';
  readonly length: number;
  readonly sha256: string;
}

export interface GatheredLog<File extends GatheredFile = GatheredFile> {
  readonly files: readonly File[];
  /** Events; with the first row where it is no header that is recognized. */
  readonly rows: number;
  /** As the CDN sent them. */
  readonly bytes: number;
  /** The log is empty, or has only a header that is recognized. */
  readonly isEmpty: boolean;
  readonly figures: EventFigures | undefined;
  /** Why there are none. */
  readonly unread: UnreadReason | undefined;
  /** Of the first file, hexadecimal. */
  readonly sha256: string;
}

/** The log is larger than what may be sent. */
export class ExportTooLarge extends Error {
  override readonly name = 'ExportTooLarge';
  /** The announced length; undefined where only the limit was exceeded. */
  readonly announced: number | undefined;
  readonly limit: number;

  constructor(limit: number, announced?: number) {
    super('the export is too large');
    this.limit = limit;
    this.announced = announced;
  }
}

/** A live secret is in the log. */
export class SecretFound extends Error {
  override readonly name = 'SecretFound';
  readonly kinds: readonly string[];

  constructor(kinds: readonly string[]) {
    super('a live secret is in a file');
    this.kinds = kinds;
  }
}

export type StoredFile = GatheredFile & { readonly content: EncryptedTempFile };

interface GatherOptions {
  readonly wanted: Pick<ExportRequest, 'pseudonyms' | 'spreadsheetSafe'>;
  readonly limits: ExportLimits;
  readonly directory: string;
  readonly onProgress: (progress: { readonly bytes: number; readonly rows: number }) => void;
}

/**
 * Writes a log to a temporary file as it comes, and makes its summary and its other forms from there. Memory does not grow
 * with the log. If it fails, no file is left.
 *
 * @throws UserError where a wanted form cannot be made.
 */
export async function gatherLog(
  source: { readonly body: AsyncIterable<Uint8Array>; readonly length: number | undefined },
  { wanted, limits, directory, onProgress }: GatherOptions,
): Promise<GatheredLog<StoredFile>> {
  const { fileBytes, summaryBytes } = limits;
  if (source.length !== undefined && source.length > fileBytes)
    throw new ExportTooLarge(fileBytes, source.length);
  const opened: EncryptedTempFile[] = [];
  const openFile = (kind: GatheredFile['kind']): FileWriter => {
    const content = createEncryptedTempFile(directory);
    opened.push(content);
    const scan = createFileScanner();
    return {
      write(piece): void {
        const kinds = scan(piece);
        if (kinds.length > 0) throw new SecretFound(kinds);
        content.write(piece);
        if (content.length() > fileBytes) throw new ExportTooLarge(fileBytes);
      },
      end: () => ({ kind, length: content.length(), sha256: content.finish(), content }),
    };
  };

  try {
    const raw = openFile('raw');
    const counter = createRowCounter();
    let bytes = 0;
    let start = Buffer.alloc(0);
    for await (const piece of source.body) {
      bytes += piece.length;
      if (bytes > fileBytes) throw new ExportTooLarge(fileBytes);
      if (start.length < headerBytes) start = Buffer.concat([start, piece]).subarray(0, headerBytes);
      counter.add(piece);
      raw.write(piece);
      onProgress({ bytes, rows: counter.rows() });
    }
    const file = raw.end();
    const hasHeader = findHeader(start) !== undefined;

    const isRewritten = wanted.pseudonyms || wanted.spreadsheetSafe;
    const isLarge = bytes > summaryBytes;
    const read = isRewritten || !isLarge ? await readLog(file.content, wanted, openFile) : undefined;
    const all = isLarge ? counter.rows() : (read?.rows ?? counter.rows());
    const rows = Math.max(0, all - (hasHeader ? 1 : 0));
    onProgress({ bytes, rows });
    if (wanted.pseudonyms) file.content.discard();
    const [first, ...others] = [...(wanted.pseudonyms ? [] : [file]), ...(read?.files ?? [])];
    let unread: UnreadReason | undefined;
    if (isLarge) unread = 'large';
    else if (!read?.figures) unread = 'not-csv';
    else if (!hasHeader && rows > 0) unread = 'no-header';
    return {
      files: [first ?? file, ...others],
      rows,
      bytes,
      isEmpty: rows === 0,
      figures: unread === undefined ? read?.figures : undefined,
      unread,
      sha256: (first ?? file).sha256,
    };
  } catch (error) {
    for (const file of opened) file.discard();
    throw error;
  }
}

interface FileWriter {
  readonly write: (piece: Uint8Array) => void;
  readonly end: () => StoredFile;
}

/** Reads a log as CSV and makes its other forms. Without figures and rows it could not be read. */
async function readLog(
  content: EncryptedTempFile,
  wanted: GatherOptions['wanted'],
  openFile: (kind: GatheredFile['kind']) => FileWriter,
): Promise<{
  readonly figures: EventFigures | undefined;
  readonly rows: number | undefined;
  readonly files: readonly StoredFile[];
}> {
  const plain = wanted.pseudonyms ? openFile('raw') : undefined;
  const safe = wanted.spreadsheetSafe ? openFile('safe') : undefined;
  const pseudonymize = wanted.pseudonyms ? createPseudonymizer() : undefined;
  const writeSafe = createSafeWriter();
  const events = createEventCounter();
  let rows = 0;
  let batch: (readonly string[])[] = [];
  const reader = createCsvReader((cells) => {
    const row = pseudonymize ? pseudonymize(cells) : cells;
    rows += 1;
    events.add(row);
    if (plain || safe) batch.push(row);
  });
  const flush = (): void => {
    if (batch.length === 0) return;
    plain?.write(Buffer.from(writePlain(batch)));
    safe?.write(Buffer.from(writeSafe(batch)));
    batch = [];
  };
  try {
    for (const piece of content.read()) {
      await reader.write(piece);
      flush();
    }
    await reader.end();
    flush();
  } catch (error) {
    if (!isCsvError(error)) throw error;
    if (plain || safe) throw createUnreadableError();
    return { figures: undefined, rows: undefined, files: [] };
  }
  return { figures: events.result(), rows, files: [plain, safe].flatMap((file) => file?.end() ?? []) };
}

function isCsvError(error: unknown): boolean {
  return error instanceof Error && 'code' in error && String(error.code).startsWith('CSV_');
}

function createUnreadableError(): UserError {
  return new UserError(
    'The CDN’s file cannot be read as CSV, so no other form of it can be made.',
    'Export it as it is: without pseudonyms and without the spreadsheet-safe copy.',
  );
}
