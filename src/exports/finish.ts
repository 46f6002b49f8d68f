import type { Kysely, Transaction } from 'kysely';
import type { Schema } from '../store/schema.ts';
import { notifyOutcomeJob } from './notify-outcome.ts';
import { type ExportOutcome, writeOutcome } from './outcome.ts';
import type { ExportPorts } from './ports.ts';
import { type ExportRow, findExport } from './queries/exports.ts';
import type { OutcomeColumns } from './queries/outcomes.ts';
import { settleUnknown } from './queries/transitions.ts';
import { toExportSummary } from './rows.ts';

/** What ending an export takes. */
export interface FinishContext {
  readonly db: Kysely<Schema>;
  readonly ports: Pick<ExportPorts, 'audit' | 'enqueue'>;
  readonly now: () => Date;
}

/**
 * Ends an export: `move` and what it stores, the record, and the job that tells people, all of it or nothing. A process
 * that dies afterwards takes none of them with it. False where `move` found that it had ended already.
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

/** Ends an export whose attempt died while Slack was asked to show the files. False where none did. */
export async function finishAsUnknown(context: FinishContext, id: string): Promise<boolean> {
  return finishExport(context, { id, ending: { kind: 'unknown' } }, (trx, end) =>
    settleUnknown(trx, id, context.now(), end),
  );
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
