import { setTimeout as delay } from 'node:timers/promises';
import type { ExportSummary } from '../reports/event-export.ts';
import { moveExport } from '../store/export-moves.ts';
import type { ExportRow } from '../store/exports.ts';
import {
  exportCancelled,
  exportDone,
  exportEndWithheld,
  exportFailed,
  exportUnknown,
  type Offer,
  type Told,
} from '../views/event-log-ends.ts';
import { exportWaiting } from '../views/event-logs.ts';
import type { Failure } from '../views/failure.ts';
import type { Message } from '../views/message.ts';
import type { JobContext } from './define.ts';
import { messageOf, placeOf, summaryOf } from './export-rows.ts';
import { type Ports, type Posted, SlackFailure, type SlackPort } from './ports.ts';

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

function messageFor(end: End, told: Told): Message {
  switch (end.kind) {
    case 'done':
      return exportDone(end.one, { files: end.files, empty: end.files === 0, told });
    case 'unknown':
      return exportUnknown(end.one, told);
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

/** What telling of an end takes. */
export type EndContext = Pick<JobContext, 'log' | 'signal'> & {
  readonly ports: Pick<Ports, 'slack' | 'audit'>;
};

interface Ended {
  readonly row: ExportRow;
  readonly context: EndContext;
}

/**
 * The message of the export becomes its end. Where that message cannot be changed any more (deleted, the channel
 * archived), the person hears it directly; where its words must not leave, without them.
 */
export async function endExport(about: Ended, end: End): Promise<void> {
  const { row, context } = about;
  const { ports, log } = context;
  const slack = ports.slack(placeOf(row), context.signal);
  const at = messageOf(row);
  try {
    if (at && (await told(end, 'there', (message) => replaced(slack, at, message, about)))) return;
    if (end.kind === 'paused') return;
    await told(end, 'directly', (message) => slack.post(row.user_id, message));
  } catch (error) {
    log.error({ error, id: row.id }, 'the end of an export could not be told');
  }
}

/** Tells an end, and where that is held back the same without what was typed. */
async function told<T>(end: End, where: Told, tell: (message: Message) => Promise<T>): Promise<T> {
  try {
    return await tell(messageFor(end, where));
  } catch (error) {
    if (!(error instanceof SlackFailure && error.code === 'held_back')) throw error;
    return tell(exportEndWithheld(end.one, end.kind, error.reference));
  }
}

/** False where the message cannot be changed. Fails only where it is held back. */
async function replaced(
  slack: SlackPort,
  at: Posted,
  message: Message,
  { row, context: { log, signal } }: Ended,
): Promise<boolean> {
  for (let trial = 1; trial <= tries; trial += 1) {
    try {
      await slack.update(at, message);
      return true;
    } catch (error) {
      log.warn({ error, id: row.id }, 'the end of an export could not be told in its message');
      if (!(error instanceof SlackFailure)) return false;
      if (error.code === 'held_back') throw error;
      if (error.code !== 'ratelimited' && error.outcome !== 'unknown') return false;
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
export async function tellUnknown(row: ExportRow, context: EndContext): Promise<void> {
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
