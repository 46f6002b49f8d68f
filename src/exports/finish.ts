import type { Kysely, Transaction } from 'kysely';
import type { Schema } from '../store/schema.ts';
import { notifyOutcomeJob } from './notify-outcome.ts';
import { type ExportOutcome, writeOutcome } from './outcome.ts';
import type { ExportPorts } from './ports.ts';
import { type ExportRow, findExport, toExportSummary } from './queries/exports.ts';
import type { OutcomeColumns } from './queries/transitions.ts';

/** Dependencies of ending an export. */
export interface FinishContext {
  readonly db: Kysely<Schema>;
  readonly ports: Pick<ExportPorts, 'audit' | 'enqueue'>;
  readonly now: () => Date;
}

/**
 * Ends an export in one transaction: the move to its last state, the audit record, and the job that shows the outcome.
 * False if `move` found that it had ended already.
 */
export async function finishExport(
  { db, ports, now }: FinishContext,
  { id, ending, sha256 }: { readonly id: string; readonly ending: ExportOutcome; readonly sha256?: string },
  move: (trx: Transaction<Schema>, end: OutcomeColumns) => Promise<boolean>,
): Promise<boolean> {
  return db.transaction().execute(async (trx) => {
    if (!(await move(trx, { endedAt: now(), ending: writeOutcome(ending) }))) return false;
    const row = await findExport(trx, id);
    if (!row) throw new Error('an export is gone while it ends');
    await ports.enqueue(notifyOutcomeJob, { id }, { in: trx });
    await ports.audit.record(recordOf(row, ending, sha256), { in: trx });
    return true;
  });
}

function recordOf(
  row: ExportRow,
  ending: ExportOutcome,
  sha256: string | undefined,
): Parameters<ExportPorts['audit']['record']>[0] {
  const { request, rows, bytes } = toExportSummary(row);
  return {
    tenant: row.tenant,
    actor: row.user_id,
    event: ending.kind === 'done' || ending.kind === 'unknown' ? 'export-made' : 'export-ended',
    subject: `shield zone ${request.shieldZoneId}`,
    detail: {
      export: row.id,
      outcome: ending.kind,
      ...(ending.kind === 'cancelled' ? { by: ending.by } : {}),
      from: request.from.toISOString(),
      to: request.to.toISOString(),
      channel: row.channel ?? 'direct message',
      rows,
      bytes,
      filters: request.filters.length,
      pseudonyms: request.pseudonyms,
      spreadsheetSafe: request.spreadsheetSafe,
      ...(sha256 === undefined ? {} : { sha256 }),
    },
  };
}
