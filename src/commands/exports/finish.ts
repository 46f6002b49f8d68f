import { defineMessage, type Refusal, type RenderContext } from '../../outbox/outbox.ts';
import type { Db, Trx } from '../../store/schema.ts';
import type { Message } from '../../views/blocks/blocks.ts';
import type { Failure } from '../../views/blocks/failure.ts';
import * as views from '../../views/exports/exports.ts';
import {
  type ExportMove,
  type ExportPorts,
  type ExportRow,
  findExport,
  installationOf,
  moveExport,
  toExportSummary,
} from './store.ts';

/** The outcome of an export as stored, for its message. The other facts are columns. */
export type ExportOutcome =
  | (Pick<views.Done, 'files' | 'summary' | 'unread'> & { readonly kind: 'done' })
  | { readonly kind: 'unknown' }
  | { readonly kind: 'cancelled'; readonly by: string }
  | { readonly kind: 'failed'; readonly failure: Failure; readonly offers: readonly views.Offer[] };

/** Undefined if the export has not ended, or its outcome was erased. */
export function readOutcome({ ending }: ExportRow): ExportOutcome | undefined {
  if (ending === null) return undefined;
  return JSON.parse(ending, toDate) as ExportOutcome;
}

/** The ends of an offered window. */
function toDate(key: string, value: unknown): unknown {
  return (key === 'from' || key === 'to') && typeof value === 'string' ? new Date(value) : value;
}

export function renderOutcome(row: ExportRow, outcome: ExportOutcome, shownIn: views.OutcomePlace): Message {
  const one = toExportSummary(row);
  switch (outcome.kind) {
    case 'done':
      return views.renderDone(one, { ...outcome, shownIn });
    case 'unknown':
      return views.renderUnknown(one, shownIn);
    case 'cancelled':
      return views.renderCancelled(one, outcome.by);
    case 'failed':
      return views.renderFailed(one, outcome.failure, outcome.offers);
  }
}

export interface FinishContext {
  readonly ports: Pick<ExportPorts, 'audit' | 'outbox'>;
  readonly now: () => Date;
}

/** What is stored when an export ends. `sha256` goes into the audit. */
export interface FinishFacts extends Pick<Partial<ExportRow>, 'row_count' | 'byte_count' | 'files'> {
  readonly sha256?: string | undefined;
}

/**
 * Ends an export: its last state, its message, which becomes the outcome, and the audit record. False if it has moved on
 * already.
 */
export async function finishExport(
  trx: Trx,
  { ports, now }: FinishContext,
  move: ExportMove,
  outcome: ExportOutcome,
  { sha256, ...columns }: FinishFacts = {},
): Promise<boolean> {
  const ending = JSON.stringify(outcome);
  const row = await moveExport(trx, move, { ...columns, state: outcome.kind, ending, ended_at: now() });
  if (!row) return false;
  if (!(await ports.outbox.edit(trx, exportMessageId(row.id)))) await putEndNotice(trx, row, { ports, now });
  const { request, rows, bytes } = toExportSummary(row);
  await ports.audit.record(
    {
      tenant: row.tenant,
      actor: row.user_id,
      event: outcome.kind === 'done' || outcome.kind === 'unknown' ? 'export-made' : 'export-ended',
      subject: `shield zone ${request.shieldZoneId}`,
      detail: {
        export: row.id,
        outcome: outcome.kind,
        ...(outcome.kind === 'cancelled' ? { by: outcome.by } : {}),
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
    },
    trx,
  );
  return true;
}

/** The id in the outbox of the message that shows the progress, then the outcome. */
export function exportMessageId(id: string): string {
  return `export:${id}`;
}

// A form that is still open shows a failed start itself and takes the notice back.
const noticeAfterMs = 2_000;

/** Tells the person directly: the export's message cannot show the outcome. */
export async function putEndNotice(trx: Trx, row: ExportRow, { ports, now }: FinishContext): Promise<void> {
  await ports.outbox.put(trx, {
    id: endNoticeId(row.id),
    kind: endNotice,
    about: { id: row.id },
    installation: installationOf(row),
    to: { places: [row.user_id] },
    doubt: 'once',
    notBefore: new Date(now().getTime() + noticeAfterMs),
  });
}

export function endNoticeId(id: string): string {
  return `export-end:${id}`;
}

export type AboutExport = { readonly id: string };

export const endNotice = defineMessage({
  kind: 'export-end',
  render: ({ id }: AboutExport, { db }: RenderContext<ExportPorts>) => renderExport(db, id, 'direct'),
  renderInstead: ({ id }, refusal, { db }) => renderExport(db, id, 'direct', refusal),
});

/** The current message of an export; undefined if its outcome was erased. */
export async function renderExport(
  db: Db,
  id: string,
  shownIn: views.OutcomePlace,
  refusal?: Refusal,
): Promise<Message | undefined> {
  const row = await findExport(db, id);
  if (!row || row.request === null) return undefined;
  const one = toExportSummary(row);
  const outcome = readOutcome(row);
  if (refusal?.code === 'held_back')
    return outcome && views.renderBlocked(one, outcome.kind, refusal.reference);
  const first = { phase: 'starting', rows: 0, bytes: 0, elapsedMs: 0, attempt: 1 } as const;
  return outcome ? renderOutcome(row, outcome, shownIn) : views.renderProgress(one, first);
}
