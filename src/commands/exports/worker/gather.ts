import { createCipheriv, createDecipheriv, createHash, randomBytes, randomUUID } from 'node:crypto';
import { closeSync, mkdirSync, openSync, readSync, unlinkSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { UserError } from '../../../errors.ts';
import { byteOrderMark } from '../../../lib/csv.ts';
import { hourMs, minuteMs } from '../../../lib/time.ts';
import { createFileScanner } from '../../../secrets/scanner.ts';
import { formatBytes, formatDuration } from '../../../views/blocks/format.ts';
import type { EventFigures, ExportRequest, UnreadReason } from '../../../views/exports/exports.ts';
import {
  createEventCounter,
  createPseudonymizer,
  createRowCounter,
  type EventColumns,
  findHeader,
  headerBytes,
  readCsv,
  writePlain,
  writeSafe,
} from '../csv.ts';

export const exportLimits = {
  /** Slack's limit for one file: https://slack.com/help/articles/201330736 */
  fileBytes: 1_000_000_000,
  /** Above this the file is not read as CSV, only its rows and bytes are counted. */
  summaryBytes: 32_000_000,
};

export interface GatheredFile {
  /** `raw`: as sent, or pseudonymized. `safe`: for spreadsheets. */
  readonly kind: 'raw' | 'safe';
  readonly length: number;
  /** Hexadecimal. */
  readonly sha256: string;
}

export interface GatheredLog<File extends GatheredFile = GatheredFile> {
  readonly files: readonly File[];
  /** With the first row, where it is no header that is recognized. */
  readonly rows: number;
  readonly bytes: number;
  readonly figures: EventFigures | undefined;
  readonly unread: UnreadReason | undefined;
}

export class SecretInFile extends Error {
  override readonly name = 'SecretInFile';
  readonly kinds: readonly string[];

  constructor(kinds: readonly string[]) {
    super(`a file holds live secrets: ${kinds.join(', ')}`);
    this.kinds = kinds;
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

/** Memory does not grow with the log. @throws UserError, SecretInFile; then no file is left. */
export async function gatherLog(
  source: { readonly body: AsyncIterable<Uint8Array>; readonly length: number | undefined },
  { wanted, limits = exportLimits, directory, onProgress }: GatherOptions,
): Promise<GatheredLog<StoredFile>> {
  const { fileBytes: limit, summaryBytes } = limits;
  const { length: announced = 0 } = source;
  if (announced > limit) throw explainSize(wanted, limit, announced);
  const opened: EncryptedTempFile[] = [];
  const openFile = (kind: GatheredFile['kind']): FileWriter => {
    const content = createEncryptedTempFile(directory);
    opened.push(content);
    const scan = createFileScanner();
    return {
      content,
      write(piece): void {
        const kinds = scan(piece);
        if (kinds.length > 0) throw new SecretInFile(kinds);
        content.write(piece);
        if (content.length() > limit) throw explainSize(wanted, limit);
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
    const isRead = counter.rows() > 0 && (!isLarge || wanted.pseudonyms || wanted.spreadsheetSafe);
    const events = columns && !isLarge ? createEventCounter(columns, wanted) : undefined;
    const read = isRead
      ? await readLog(start, file.content, { wanted, columns, events, openFile })
      : undefined;
    const rows = Math.max(0, (read?.rows ?? counter.rows()) - (columns ? 1 : 0));
    onProgress({ bytes, rows });
    if (wanted.pseudonyms) file.content.discard();
    let unread: UnreadReason | undefined;
    if (/^\s*\[\s*[{[]/u.test(start.toString())) unread = 'json';
    else if (isLarge) unread = 'large';
    else if (!read && rows > 0) unread = 'not-csv';
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

/** `announced`: if the length was known before. */
function explainSize({ from, to }: GatherOptions['wanted'], limit: number, announced?: number): UserError {
  const size = announced === undefined ? `more than ${formatBytes(limit)}` : formatBytes(announced);
  // Events are not spread evenly, so 20% is left free.
  const pieces = announced === undefined ? 2 : Math.max(2, Math.ceil(announced / (limit * 0.8)));
  const ms = (to.getTime() - from.getTime()) / pieces;
  const unit = ms < 2 * hourMs ? minuteMs : hourMs;
  const length = formatDuration(Math.max(1, Math.floor(ms / unit)) * unit);
  return new UserError(
    `This export is ${size}, and Slack accepts files up to ${formatBytes(limit)}.`,
    `Choose a window of about ${length}, or filter.`,
  );
}

interface ReadOptions {
  readonly wanted: GatherOptions['wanted'];
  readonly columns: EventColumns | undefined;
  readonly events: ReturnType<typeof createEventCounter> | undefined;
  readonly openFile: (kind: GatheredFile['kind']) => FileWriter;
}

/** Undefined where the log is no CSV, and no other form is wanted. */
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
      'Export it unchanged: without pseudonyms and without the spreadsheet-safe copy.',
    );
  }
  return { rows, files: [plain, safe].flatMap((file) => file?.end() ?? []) };
}

const rowsAtOnce = 1000;

export type EncryptedTempFile = ReturnType<typeof createEncryptedTempFile>;

const pieceLength = 256 * 1024;

/** Without a name, so that it ends with this process, and encrypted under a key in memory. Synchronous: for threads. */
export function createEncryptedTempFile(directory: string) {
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const file = openUnnamed(directory);
  // The key is for this one file, so a counter from zero never repeats.
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
    /** Returns the SHA-256 of the plain bytes, hexadecimal. */
    finish: () => hash.digest('hex'),
    *read(): Generator<Uint8Array, void> {
      const decipher = createDecipheriv('aes-256-ctr', key, counter);
      // One buffer suffices: decrypting copies.
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

/** A process that is killed right here leaves an empty file. */
function openUnnamed(directory: string): number {
  const path = join(directory, `${randomUUID()}.spool`);
  const file = openSync(path, 'wx+', 0o600);
  unlinkSync(path);
  return file;
}
