import { UserError } from '../../../errors.ts';
import { createFileScanner } from '../../../secrets/scanner.ts';
import type { ExportRequest } from '../../../views/exports/exports.ts';
import type { EventFigures, UnreadReason } from '../../../views/exports/report.ts';
import { createEventCounter } from '../csv/figures.ts';
import { createCsvReader } from '../csv/reader.ts';
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

/**
 * Writes a log to temporary files and counts its events on the way. Memory does not grow with the log. If it fails, no
 * file is left.
 *
 * @throws UserError where a wanted copy cannot be made: nothing is sent that lacks what was asked for.
 */
export async function gatherLog(
  source: { readonly body: AsyncIterable<Uint8Array>; readonly length: number | undefined },
  {
    wanted,
    limits,
    directory,
    onProgress,
  }: {
    readonly wanted: Pick<ExportRequest, 'pseudonyms' | 'spreadsheetSafe'>;
    readonly limits: ExportLimits;
    readonly directory: string;
    readonly onProgress: (progress: { readonly bytes: number; readonly rows: number }) => void;
  },
): Promise<GatheredLog<StoredFile>> {
  const { fileBytes, summaryBytes } = limits;
  if (source.length !== undefined && source.length > fileBytes)
    throw new ExportTooLarge(fileBytes, source.length);
  const opened: EncryptedTempFile[] = [];
  const openFile = (kind: GatheredFile['kind']) => {
    const content = createEncryptedTempFile(directory);
    opened.push(content);
    const scan = createFileScanner();
    return {
      write(piece: Uint8Array): void {
        const kinds = scan(piece);
        if (kinds.length > 0) throw new SecretFound(kinds);
        content.write(piece);
        if (content.length() > fileBytes) throw new ExportTooLarge(fileBytes);
      },
      end: (): StoredFile => ({ kind, length: content.length(), sha256: content.finish(), content }),
    };
  };

  try {
    const raw = openFile('raw');
    const safe = wanted.spreadsheetSafe ? openFile('safe') : undefined;
    const writeSafe = createSafeWriter();
    const pseudonymize = wanted.pseudonyms ? createPseudonymizer() : undefined;
    const isRewritten = wanted.pseudonyms || wanted.spreadsheetSafe;
    const counter = createRowCounter();
    const events = createEventCounter();
    let bytes = 0;
    let batch: (readonly string[])[] = [];
    let unread: UnreadReason | undefined;

    const reader = createCsvReader((cells) => {
      const row = pseudonymize ? pseudonymize(cells) : cells;
      if (bytes <= summaryBytes) events.add(row);
      if (isRewritten) batch.push(row);
    });
    const isRead = (): boolean => isRewritten || (unread === undefined && bytes <= summaryBytes);
    const read = async (work: () => Promise<void>): Promise<void> => {
      try {
        await work();
      } catch (error) {
        if (!isCsvError(error)) throw error;
        if (isRewritten) throw createUnreadableError();
        unread = 'not-csv';
      }
      if (batch.length === 0) return;
      if (pseudonymize) raw.write(Buffer.from(writePlain(batch)));
      safe?.write(Buffer.from(writeSafe(batch)));
      batch = [];
    };

    for await (const piece of source.body) {
      bytes += piece.length;
      if (bytes > fileBytes) throw new ExportTooLarge(fileBytes);
      counter.add(piece);
      if (!pseudonymize) raw.write(piece);
      if (isRead()) await read(() => reader.write(piece));
      onProgress({ bytes, rows: counter.rows() });
    }
    if (isRead()) await read(() => reader.end());
    const hasHeader = events.hasHeader();
    const rows = Math.max(0, counter.rows() - (hasHeader ? 1 : 0));
    onProgress({ bytes, rows });
    const isEmpty = rows === 0;
    if (bytes > summaryBytes) unread = 'large';
    else if (!hasHeader && !isEmpty) unread ??= 'no-header';
    const first = raw.end();
    return {
      files: [first, ...(safe ? [safe.end()] : [])],
      rows,
      bytes,
      isEmpty,
      figures: unread === undefined ? events.result() : undefined,
      unread,
      sha256: first.sha256,
    };
  } catch (error) {
    for (const file of opened) file.discard();
    throw error;
  }
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
