import { type AuditRecord, writeRecord } from '../../auth/audit/record.ts';
import type { AuditFilter } from '../../auth/audit/trail.ts';
import { writeCsv } from '../../lib/csv.ts';
import { createTempFile } from '../../lib/temp-file.ts';
import type { With } from '../context.ts';

const kinds = ['csv', 'ndjson'] as const;
export type AuditFile = (typeof kinds)[number];

export function isAuditFile(kind: string): kind is AuditFile {
  return kinds.some((one) => one === kind);
}

interface SpooledAudit {
  readonly path: string;
  readonly records: number;
  /** The hash that the last record of the whole chain has; undefined where records were left out by a filter. */
  readonly head: string | undefined;
}

/**
 * Writes records into a file, oldest first, up to what is the newest when it begins. Undefined where there are none.
 * NDJSON has every member that the hashes are made of; CSV is for people and spreadsheets.
 */
export async function writeAuditFile(
  tenant: string,
  kind: AuditFile,
  filter: AuditFilter,
  { audit, tempDirectory, signal }: With<'audit' | 'tempDirectory'>,
): Promise<SpooledAudit | undefined> {
  const { head } = await audit.check(tenant, 1);
  if (!head) return undefined;
  const spool = await createTempFile(tempDirectory);
  const { header, lines } = formats[kind];
  let records = 0;
  try {
    await spool.write(header);
    for await (const piece of audit.pieces(tenant, head.seq, filter)) {
      signal.throwIfAborted();
      records += piece.length;
      await spool.write(lines(piece));
    }
    if (records === 0) {
      await spool.discard();
      return undefined;
    }
    await spool.finish();
    return { path: spool.path, records, head: records === head.seq ? head.hash : undefined };
  } catch (error) {
    await spool.discard();
    throw error;
  }
}

const columns = ['seq', 'time', 'who', 'event', 'subject', 'detail', 'reference', 'hash'] as const;

const formats: Readonly<
  Record<AuditFile, { readonly header: string; readonly lines: (piece: readonly AuditRecord[]) => string }>
> = {
  csv: {
    header: writeCsv([columns]),
    lines: (piece) =>
      writeCsv(
        piece.map(({ seq, at, actor, event, subject, detail, requestId, hash }) => [
          seq,
          at.toISOString(),
          actor,
          event,
          subject ?? undefined,
          Object.keys(detail).length === 0 ? undefined : JSON.stringify(detail),
          requestId ?? undefined,
          hash,
        ]),
      ),
  },
  ndjson: {
    header: '',
    lines: (piece) => piece.map((record) => `${writeRecord(record)}\n`).join(''),
  },
};
