import { setTimeout as delay } from 'node:timers/promises';
import type { ExportSummary } from '../reports/event-export.ts';
import { type ExportRow, moveExport } from '../store/exports.ts';
import {
  exportCancelled,
  exportDone,
  exportFailed,
  exportUnknown,
  exportWaiting,
  type Offer,
} from '../views/event-logs.ts';
import type { Failure } from '../views/failure.ts';
import type { Message } from '../views/message.ts';
import type { JobContext } from './define.ts';
import { messageOf, placeOf, summaryOf } from './export-rows.ts';
import { type Posted, SlackFailure, type SlackPort } from './ports.ts';

/** How an attempt ended, as people are told. */
type End =
  | { readonly kind: 'done'; readonly one: ExportSummary; readonly files: number }
  | { readonly kind: 'unknown'; readonly one: ExportSummary }
  | { readonly kind: 'cancelled'; readonly one: ExportSummary; readonly by: string }
  | { readonly kind: 'paused'; readonly one: ExportSummary; readonly why: string }
  | {
      readonly kind: 'failed';
      readonly one: ExportSummary;
      readonly failure: Failure;
      readonly offers: readonly Offer[];
    };

function messageFor(end: End): Message {
  switch (end.kind) {
    case 'done':
      return exportDone(end.one, { files: end.files, empty: end.files === 0 });
    case 'unknown':
      return exportUnknown(end.one);
    case 'cancelled':
      return exportCancelled(end.one, end.by);
    case 'paused':
      return exportWaiting(end.one, end.why);
    case 'failed':
      return exportFailed(end.one, end.failure, end.offers);
  }
}

const tries = 4;
const longestPauseMs = 30_000;

/**
 * The message of the export becomes its end. Where that message cannot be changed any more (deleted, the channel
 * archived), the person hears it directly.
 */
export async function endExport(
  { row, context }: { readonly row: ExportRow; readonly context: JobContext },
  end: End,
): Promise<void> {
  const { ports, log } = context;
  const slack = ports.slack(placeOf(row), context.signal);
  const message = messageFor(end);
  const at = messageOf(row);
  if (at && (await replaced(slack, at, message, { row, context }))) return;
  if (end.kind === 'paused') return;
  await slack
    .post(row.user_id, message)
    .catch((error: unknown) => log.error({ error, id: row.id }, 'the end of an export could not be told'));
}

async function replaced(
  slack: SlackPort,
  at: Posted,
  message: Message,
  { row, context: { log, signal } }: { readonly row: ExportRow; readonly context: JobContext },
): Promise<boolean> {
  for (let trial = 1; trial <= tries; trial += 1) {
    try {
      await slack.update(at, message);
      return true;
    } catch (error) {
      log.warn({ error, id: row.id }, 'the end of an export could not be told in its message');
      const passes =
        error instanceof SlackFailure && (error.code === 'ratelimited' || error.outcome === 'unknown');
      if (!passes) return false;
      const pauseMs = Math.min(longestPauseMs, (error.retryAfterSeconds ?? trial) * 1000);
      // A bot that stops tells at once or not at all.
      await delay(pauseMs, undefined, { signal }).catch(() => undefined);
    }
  }
  return false;
}

/** The last move of an export whose files were, or may have been, posted: together with its record. */
export async function recordExport(
  { row, run, context }: { readonly row: ExportRow; readonly run: string; readonly context: JobContext },
  one: ExportSummary,
  outcome: {
    readonly state: 'done' | 'unknown';
    readonly sha256?: string;
    readonly fileIds?: readonly string[];
  },
): Promise<void> {
  const { db, now } = context;
  await db.transaction().execute(async (trx) => {
    const move = {
      endedAt: now(),
      rows: one.rows,
      bytes: one.bytes,
      ...(outcome.fileIds ? { files: outcome.fileIds } : {}),
    };
    if (await moveExport(trx, { id: row.id, run }, ['running', 'sharing'], outcome.state, move)) {
      await context.ports.audit.record(recordOf(row, one, outcome), { in: trx });
    }
  });
}

/** An attempt that died while posting. */
export async function tellUnknown(row: ExportRow, context: JobContext): Promise<void> {
  const one = summaryOf(row);
  await context.ports.audit.record(recordOf(row, one, { state: 'unknown' }));
  await endExport({ row, context }, { kind: 'unknown', one });
}

function recordOf(
  row: ExportRow,
  { request, rows, bytes, userId }: ExportSummary,
  { state, sha256 }: { readonly state: 'done' | 'unknown'; readonly sha256?: string },
): Parameters<JobContext['ports']['audit']['record']>[0] {
  return {
    tenant: row.tenant,
    actor: userId,
    what: 'export-made',
    subject: `shield zone ${request.shieldZoneId}`,
    detail: {
      export: row.id,
      outcome: state,
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
