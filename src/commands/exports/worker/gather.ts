import { createCipheriv, createDecipheriv, createHash, randomBytes, randomUUID } from 'node:crypto';
import { closeSync, mkdirSync, openSync, readSync, unlinkSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { UserError } from '../../../errors.ts';
import { byteOrderMark } from '../../../lib/csv.ts';
import { createFileScanner } from '../../../secrets/scanner.ts';
import type { EventFigures, ExportRequest, UnreadReason } from '../../../views/exports/exports.ts';
import type { EventColumns } from '../csv/columns.ts';
import {
  createPseudonymizer,
  createRowCounter,
  findHeader,
  headerBytes,
  readCsv,
  writePlain,
  writeSafe,
} from '../csv/csv.ts';
import { createEventCounter } from '../csv/figures.ts';

export const exportLimits = {
  /** Slack's limit for one file: https://slack.com/help/articles/201330736 */
  fileBytes: 1_000_000_000,
  /** A larger log is passed on without being read as CSV: its answer has the number of rows and bytes only. */
  summaryBytes: 32_000_000,
};

/** A file of an export, ready to be sent. */
export interface GatheredFile {
  /** `raw`: what the CDN sent, or its pseudonymized form. `safe`: the copy for spreadsheets. */
  readonly kind: 'raw' | 'safe';
  readonly length: number;
  /** Hexadecimal. */
  readonly sha256: string;
}

export interface GatheredLog<File extends GatheredFile = GatheredFile> {
  readonly files: readonly File[];
  /** Events; with the first row where it is no header that is recognized. */
  readonly rows: number;
  /** As the CDN sent them. */
  readonly bytes: number;
  readonly figures: EventFigures | undefined;
  /** Why there are none. */
  readonly unread: UnreadReason | undefined;
}

export type StopReason =
  /** Larger than what may be sent. `announced`: the length, if it was known before. */
  | { readonly kind: 'too-large'; readonly limit: number; readonly announced?: number | undefined }
  /** Live secrets of these kinds are in the log. */
  | { readonly kind: 'secret'; readonly kinds: readonly string[] }
  /** An attempt exceeded its time limit. */
  | { readonly kind: 'overdue' }
  /** Processes died while they made this export. */
  | { readonly kind: 'abandoned' }
  /** It was cancelled, or another attempt has it. */
  | { readonly kind: 'taken' };

/** The bot itself stops an export. */
export class ExportStopped extends Error {
  override readonly name = 'ExportStopped';
  readonly reason: StopReason;

  constructor(reason: StopReason) {
    super(`the export was stopped: ${reason.kind}`);
    this.reason = reason;
  }
}

export type StoredFile = GatheredFile & { readonly content: EncryptedTempFile };

interface GatherOptions {
  readonly wanted: Pick<ExportRequest, 'from' | 'to' | 'pseudonyms' | 'spreadsheetSafe'>;
  readonly limits?: typeof exportLimits;
  readonly directory: string;
  readonly onProgress: (progress: { readonly bytes: number; readonly rows: number }) => void;
}

interface FileWriter {
  readonly content: EncryptedTempFile;
  readonly write: (piece: Uint8Array) => void;
  readonly end: () => StoredFile;
}

/**
 * Writes a log to a temporary file as it comes, and makes its summary and its other forms from there. Memory does not grow
 * with the log. If it fails, no file is left.
 *
 * @throws UserError where a wanted form cannot be made; ExportStopped: too-large, secret.
 */
export async function gatherLog(
  source: { readonly body: AsyncIterable<Uint8Array>; readonly length: number | undefined },
  { wanted, limits = exportLimits, directory, onProgress }: GatherOptions,
): Promise<GatheredLog<StoredFile>> {
  const { fileBytes: limit, summaryBytes } = limits;
  const { length: announced = 0 } = source;
  if (announced > limit) throw new ExportStopped({ kind: 'too-large', limit, announced });
  const opened: EncryptedTempFile[] = [];
  const openFile = (kind: GatheredFile['kind']): FileWriter => {
    const content = createEncryptedTempFile(directory);
    opened.push(content);
    const scan = createFileScanner();
    return {
      content,
      write(piece): void {
        const kinds = scan(piece);
        if (kinds.length > 0) throw new ExportStopped({ kind: 'secret', kinds });
        content.write(piece);
        if (content.length() > limit) throw new ExportStopped({ kind: 'too-large', limit });
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
      if (start.length < headerBytes) start = Buffer.concat([start, piece]).subarray(0, headerBytes);
      counter.add(piece);
      raw.write(piece);
      onProgress({ bytes, rows: counter.rows() });
    }
    const file = raw.end();
    const columns = findHeader(start);
    const isLarge = bytes > summaryBytes;
    const isRead = !isLarge || wanted.pseudonyms || wanted.spreadsheetSafe;
    const events = columns && !isLarge ? createEventCounter(columns, wanted) : undefined;
    const read = isRead
      ? await readLog(start, file.content, { wanted, columns, events, openFile })
      : undefined;
    const rows = Math.max(0, (read?.rows ?? counter.rows()) - (columns ? 1 : 0));
    onProgress({ bytes, rows });
    if (wanted.pseudonyms) file.content.discard();
    let unread: UnreadReason | undefined;
    if (isLarge) unread = 'large';
    else if (!read) unread = 'not-csv';
    else if (!columns && rows > 0) unread = 'no-header';
    return {
      files: [...(wanted.pseudonyms ? [] : [file]), ...(read?.files ?? [])],
      rows,
      bytes,
      figures: unread === undefined ? events?.result() : undefined,
      unread,
    };
  } catch (error) {
    for (const file of opened) file.discard();
    throw error;
  }
}

interface ReadOptions {
  readonly wanted: GatherOptions['wanted'];
  /** Of the first row, if that is a header. */
  readonly columns: EventColumns | undefined;
  readonly events: ReturnType<typeof createEventCounter> | undefined;
  readonly openFile: (kind: GatheredFile['kind']) => FileWriter;
}

/** Reads a log as CSV and makes its other forms. Undefined where it cannot be read, and no other form is wanted. */
async function readLog(
  start: Buffer,
  content: EncryptedTempFile,
  { wanted, columns, events, openFile }: ReadOptions,
) {
  const pseudonymize = wanted.pseudonyms ? createPseudonymizer(columns?.addresses ?? []) : undefined;
  const plain = wanted.pseudonyms ? openFile('raw') : undefined;
  const safe = wanted.spreadsheetSafe ? openFile('safe') : undefined;
  safe?.write(Buffer.from(byteOrderMark));
  let rows = 0;
  let batch: (readonly string[])[] = [];
  const flush = (): void => {
    plain?.write(Buffer.from(writePlain(batch)));
    safe?.write(Buffer.from(writeSafe(batch)));
    batch = [];
  };
  try {
    await readCsv(start, content.read(), (cells) => {
      const isHeader = rows === 0 && columns !== undefined;
      const row = pseudonymize && !isHeader ? pseudonymize(cells) : cells;
      rows += 1;
      if (!isHeader) events?.add(row);
      if (plain || safe) batch.push(row);
      if (batch.length >= rowsAtOnce) flush();
    });
    flush();
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && String(error.code).startsWith('CSV_'))) throw error;
    if (!plain && !safe) return undefined;
    throw new UserError(
      'The CDN’s file cannot be read as CSV, so no other form of it can be made.',
      'Export it as it is: without pseudonyms and without the spreadsheet-safe copy.',
    );
  }
  return { rows, files: [plain, safe].flatMap((file) => file?.end() ?? []) };
}

const rowsAtOnce = 1000;

export type EncryptedTempFile = ReturnType<typeof createEncryptedTempFile>;

const pieceLength = 256 * 1024;

/**
 * A file for personal data. It has no name, so the system removes it with this process, however the process ends. It is
 * encrypted under a key that only this process's memory holds, so what remains on the disk cannot be read. Written once,
 * then read. Synchronous: use only in worker threads.
 */
export function createEncryptedTempFile(directory: string) {
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const file = openUnnamed(directory);
  // The key is used for this one file, so a counter from zero never repeats.
  const key = randomBytes(32);
  const counter = Buffer.alloc(16);
  const cipher = createCipheriv('aes-256-ctr', key, counter);
  const hash = createHash('sha256');
  let length = 0;
  let isOpen = true;

  return {
    length: () => length,
    write(piece: Uint8Array): void {
      hash.update(piece);
      const sealed = cipher.update(piece);
      for (let at = 0; at < sealed.length; ) at += writeSync(file, sealed, at);
      length += sealed.length;
    },
    /** Once, after the last piece. Returns the SHA-256 of the plain bytes, hexadecimal. */
    finish: () => hash.digest('hex'),
    /** The whole file, from the beginning. */
    *read(): Generator<Uint8Array, void> {
      const decipher = createDecipheriv('aes-256-ctr', key, counter);
      // One buffer for all pieces: decrypting copies.
      const buffer = Buffer.allocUnsafeSlow(pieceLength);
      for (let at = 0; at < length; ) {
        const bytes = readSync(file, buffer, 0, pieceLength, at);
        if (bytes === 0) throw new Error('the temporary file is shorter than what was written to it');
        at += bytes;
        yield decipher.update(buffer.subarray(0, bytes));
      }
    },
    discard(): void {
      if (isOpen) closeSync(file);
      isOpen = false;
    },
  };
}

/** The file loses its name at once; a process that is killed right then leaves an empty one. */
function openUnnamed(directory: string): number {
  const path = join(directory, `${randomUUID()}.spool`);
  const file = openSync(path, 'wx+', 0o600);
  try {
    unlinkSync(path);
  } catch (error) {
    closeSync(file);
    throw error;
  }
  return file;
}
