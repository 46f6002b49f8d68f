import { once } from 'node:events';
import type { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Spooled } from '../views/blocks/message.ts';
import { splitCsv } from './csv/parts.ts';
import { createPseudonymizer } from './csv/pseudonyms.ts';
import { createSpreadsheetEscaper } from './csv/spreadsheet-safe.ts';
import type { ExportRequest } from './model.ts';
import type { EventStats } from './stats/event-stats.ts';
import { createCsvStatsThread } from './worker/csv-stats-thread.ts';
import type { SpoolFile } from './worker/transfer.ts';

/** One file of an export, ready to be sent. */
export interface ExportFile {
  readonly spooled: Spooled;
  /** `raw`: what the service sent, pseudonyms aside. `safe`: the copy for spreadsheets. */
  readonly kind: 'raw' | 'safe';
  /** From 1 on. */
  readonly part: number;
  readonly sha256: string;
}

export interface ExportFiles {
  readonly files: readonly ExportFile[];
  readonly parts: number;
  readonly figures: EventStats;
  /** Of the whole log. */
  readonly sha256: string;
}

export interface ExportLimits {
  /** Slack takes no larger file. */
  readonly fileBytes: number;
  /** Where an export is split; a copy for spreadsheets grows by its quotes. */
  readonly partBytes: number;
  /** The parts one export may have. */
  readonly parts: number;
  /** The files one message may have, its chart among them. */
  readonly files: number;
}

/**
 * 1 GB a file: https://slack.com/help/articles/201330736. Of files in one message Slack's documentation says nothing;
 * fourteen are taken, fifteen end in `internal_error`: https://github.com/slackapi/python-slack-sdk/issues/1653.
 */
export const exportLimits: ExportLimits = {
  fileBytes: 1_000_000_000,
  partBytes: 700_000_000,
  parts: 10,
  files: 14,
};

/** The log is larger than what can be sent. */
export class ExportTooLarge extends Error {
  override readonly name = 'ExportTooLarge';
  /** How large, as far as is known: what the service announced, else what had come. */
  readonly bytes: number;
  readonly announced: boolean;
  /** What may be sent. */
  readonly limit: number;

  constructor(bytes: number, { announced, limit }: { announced: boolean; limit: number }) {
    super('the export is too large');
    this.bytes = bytes;
    this.announced = announced;
    this.limit = limit;
  }
}

/** How far it is: looked at whenever somebody wants to know. */
export interface GatheredFiles {
  /** From the CDN. */
  bytes: number;
  rows: number;
  /** To Slack. */
  sent: number;
}

export interface GatherOptions {
  readonly limits: ExportLimits;
  readonly openFile: () => Promise<SpoolFile>;
  readonly gathered: GatheredFiles;
}

/**
 * Streams a log into files that wait to be sent, counting on the way; memory does not grow with it. Where it fails,
 * nothing is left.
 */
export async function gatherFiles(
  source: { readonly body: AsyncIterable<Uint8Array>; readonly length: number | undefined },
  wanted: Pick<ExportRequest, 'pseudonyms' | 'spreadsheetSafe' | 'split'>,
  { limits, openFile, gathered }: GatherOptions,
): Promise<ExportFiles> {
  const mostParts = Math.min(limits.parts, Math.floor((limits.files - 1) / (wanted.spreadsheetSafe ? 2 : 1)));
  const limit = wanted.split ? limits.partBytes * mostParts : limits.fileBytes;
  if (source.length !== undefined && source.length > limit) {
    throw new ExportTooLarge(source.length, { announced: true, limit });
  }
  // A whole file is hashed where it is written.
  const figures = createCsvStatsThread({ hashes: wanted.split });
  const files: ExportFile[] = [];
  const spools: SpoolFile[] = [];
  let parts = 0;

  try {
    const pieces = counted(wanted.pseudonyms ? through(arriving(), createPseudonymizer()) : arriving());
    if (wanted.split) for await (const part of splitCsv(pieces, limits.partBytes)) await write(part);
    else await write(pieces);
    const result = await figures.result();
    return { files, parts, figures: result, sha256: result.sha256 ?? files[0]?.sha256 ?? '' };
  } catch (error) {
    for (const spool of spools) await spool.discard();
    throw error;
  } finally {
    await figures.close();
  }

  async function* arriving(): AsyncGenerator<Uint8Array, void> {
    for await (const piece of source.body) {
      gathered.bytes += piece.length;
      if (gathered.bytes > limit) throw new ExportTooLarge(gathered.bytes, { announced: false, limit });
      yield piece;
    }
  }

  async function* counted(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void> {
    for await (const piece of pieces) {
      await figures.add(piece);
      gathered.rows = figures.rows();
      yield piece;
    }
  }

  async function write(pieces: AsyncIterable<Uint8Array>): Promise<void> {
    parts += 1;
    if (parts > mostParts) throw new ExportTooLarge(gathered.bytes, { announced: false, limit });
    const raw = await begin('raw');
    if (!wanted.spreadsheetSafe) {
      for await (const piece of pieces) await raw.write(piece);
      return raw.finish();
    }
    const safe = await begin('safe');
    const copy = createSpreadsheetEscaper();
    const copying = pipeline(copy, async (safePieces: AsyncIterable<Uint8Array>) => {
      for await (const piece of safePieces) await safe.write(piece);
    });
    copying.catch(() => undefined);
    try {
      for await (const piece of pieces) {
        await raw.write(piece);
        if (!copy.write(piece)) await Promise.race([once(copy, 'drain'), copying]);
      }
      copy.end();
      await copying;
    } finally {
      copy.destroy();
    }
    await raw.finish();
    await safe.finish();
  }

  async function begin(kind: ExportFile['kind']) {
    const spooled = await openFile();
    spools.push(spooled);
    const part = parts;
    return {
      async write(piece: Uint8Array): Promise<void> {
        await spooled.write(piece);
        if (spooled.length() <= limits.fileBytes) return;
        throw new ExportTooLarge(spooled.length(), { announced: false, limit: limits.fileBytes });
      },
      async finish(): Promise<void> {
        files.push({ spooled, kind, part, sha256: await spooled.finish() });
      },
    };
  }
}

async function* through(
  pieces: AsyncIterable<Uint8Array>,
  transform: Transform,
): AsyncGenerator<Uint8Array, void> {
  const feeding = pipeline(pieces, transform);
  // What it fails with comes out of the transform as well.
  feeding.catch(() => undefined);
  for await (const piece of transform) yield piece as Buffer;
  await feeding;
}
