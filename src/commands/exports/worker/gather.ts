import { createFileScanner } from '../../../secrets/scanner.ts';
import { createPseudonymizer } from '../csv/addresses.ts';
import { createCsvSplitter } from '../csv/rewrite.ts';
import { createSpreadsheetEscaper } from '../csv/spreadsheet-safe.ts';
import type { ExportRequest } from '../model.ts';
import type { EventStats } from '../stats/event-stats.ts';
import { createEncryptedTempFile, type EncryptedTempFile } from './encrypted-temp-file.ts';
import { type ExportLimits, ExportTooLarge, SecretFound } from './limits.ts';
import { startStatsThread } from './stats-thread.ts';

/** A file of an export, ready to be sent. */
export interface GatheredFile {
  /** `raw`: what the CDN sent, or its pseudonymized form. `safe`: the copy for spreadsheets. */
  readonly kind: 'raw' | 'safe';
  /** From 1 on. */
  readonly part: number;
  readonly length: number;
  readonly sha256: string;
}

export interface GatheredLog<File extends GatheredFile = GatheredFile> {
  readonly files: readonly File[];
  readonly parts: number;
  readonly stats: EventStats;
  /** Of the whole log. */
  readonly sha256: string;
}

export interface ExportProgress {
  readonly bytes: number;
  readonly rows: number;
  /** The length that the CDN announced. */
  readonly announced: number | undefined;
  /** Taken by Slack. */
  readonly sent: number;
}

type TempFile = GatheredFile & { readonly content: EncryptedTempFile };

/**
 * Writes a log to temporary files and counts its events on the way. Memory does not grow with the log. The memory of
 * the source's pieces is released. If it fails, no file is left.
 */
export async function gatherLog(
  source: { readonly body: AsyncIterable<Uint8Array>; readonly length: number | undefined },
  {
    wanted,
    limits,
    directory,
    onProgress,
  }: {
    readonly wanted: Pick<ExportRequest, 'pseudonyms' | 'spreadsheetSafe' | 'split'>;
    readonly limits: ExportLimits;
    readonly directory: string;
    readonly onProgress: (progress: Pick<ExportProgress, 'bytes' | 'rows'>) => void;
  },
): Promise<GatheredLog<TempFile>> {
  const mostParts = Math.min(limits.parts, Math.floor(limits.files / (wanted.spreadsheetSafe ? 2 : 1)));
  const limit = wanted.split ? limits.partBytes * mostParts : limits.fileBytes;
  if (source.length !== undefined && source.length > limit)
    throw new ExportTooLarge({ bytes: source.length, announced: true, limit });
  // The hash of a file that is not split is the hash of the log.
  const stats = startStatsThread({ hashes: wanted.split });
  const pseudonymizer = wanted.pseudonyms ? createPseudonymizer() : undefined;
  const splitter = wanted.split
    ? createCsvSplitter(limits.partBytes, { onPart: startPart, onBytes: (bytes) => part?.write(bytes) })
    : undefined;
  const opened: EncryptedTempFile[] = [];
  const files: TempFile[] = [];
  let parts = 0;
  let part: ReturnType<typeof openPart> | undefined;
  let bytes = 0;

  try {
    if (!splitter) startPart();
    for await (const piece of source.body) {
      bytes += piece.length;
      if (bytes > limit) throw new ExportTooLarge({ bytes, announced: false, limit });
      // The rewriter uses its memory again.
      await process(pseudonymizer ? new Uint8Array(pseudonymizer.write(piece)) : piece);
      onProgress({ bytes, rows: stats.rows() });
    }
    if (pseudonymizer) await process(new Uint8Array(pseudonymizer.end()));
    splitter?.end();
    part?.end();
    const result = await stats.result();
    onProgress({ bytes, rows: result.rows });
    return { files, parts, stats: result, sha256: result.sha256 ?? files[0]?.sha256 ?? '' };
  } catch (error) {
    stats.cancel();
    for (const file of opened) file.discard();
    throw error;
  }

  async function process(piece: Uint8Array): Promise<void> {
    if (splitter) splitter.write(piece);
    else part?.write(piece);
    await stats.add(piece);
  }

  function startPart(): void {
    part?.end();
    parts += 1;
    if (parts > mostParts) throw new ExportTooLarge({ bytes, announced: false, limit });
    part = openPart();
  }

  function openPart() {
    const raw = openFile('raw');
    const safe = wanted.spreadsheetSafe ? openFile('safe') : undefined;
    const escaper = safe && createSpreadsheetEscaper();
    return {
      write(piece: Uint8Array): void {
        raw.write(piece);
        if (escaper) safe?.write(escaper.write(piece));
      },
      end(): void {
        if (escaper) safe?.write(escaper.end());
        raw.end();
        safe?.end();
      },
    };
  }

  function openFile(kind: GatheredFile['kind']) {
    const content = createEncryptedTempFile(directory);
    opened.push(content);
    const scan = createFileScanner();
    const nth = parts;
    return {
      write(piece: Uint8Array): void {
        const kinds = scan(piece);
        if (kinds.length > 0) throw new SecretFound(kinds);
        content.write(piece);
        if (content.length() > limits.fileBytes)
          throw new ExportTooLarge({ bytes: content.length(), announced: false, limit: limits.fileBytes });
      },
      end: () =>
        void files.push({ kind, part: nth, length: content.length(), sha256: content.finish(), content }),
    };
  }
}
