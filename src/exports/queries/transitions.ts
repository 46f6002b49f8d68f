import { sql } from 'kysely';
import type { Db, ExportRow } from './exports.ts';

/** The first message was posted: the export may run. False if it has ended meanwhile. */
export async function storeFirstMessage(
  db: Db,
  id: string,
  at: { readonly channel: string; readonly ts: string },
): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('exports')
    .set({ state: 'waiting', message_channel: at.channel, message_ts: at.ts })
    .where('id', '=', id)
    .where('state', '=', 'asked')
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

/**
 * Claims an export for the attempt `run`. A `running` one was left by a killed process: the queue runs one attempt at a
 * time. Undefined if there is nothing to run.
 */
export async function claimExport(
  db: Db,
  { id, run }: { readonly id: string; readonly run: string },
): Promise<ExportRow | undefined> {
  return db
    .updateTable('exports')
    .set({ state: 'running', run, attempt: sql<number>`attempt + 1` })
    .where('id', '=', id)
    .where('state', 'in', ['waiting', 'running'])
    .returningAll()
    .executeTakeFirst();
}

/** Stores how far an attempt is. False if the export was cancelled, or another attempt has it. */
export async function storeProgress(
  db: Db,
  about: { readonly id: string; readonly run: string; readonly rows: number; readonly bytes: number },
): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('exports')
    .set({ row_count: about.rows, byte_count: about.bytes })
    .where('id', '=', about.id)
    .where('run', '=', about.run)
    .where('state', 'in', ['running', 'sharing'])
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

/** Columns that change with a state. */
export interface ExportMove {
  readonly rows?: number;
  readonly bytes?: number;
  /** Ids of files in Slack. */
  readonly files?: readonly string[];
  readonly end?: OutcomeColumns;
  /** The attempt is not counted. */
  readonly uncounted?: true;
}

/**
 * Moves the export of the attempt `run` to another state. False if it was cancelled, or another attempt has it. Only a
 * running export can move to `sharing`, so cancelling and sharing exclude each other.
 */
export async function moveExport(
  db: Db,
  about: { readonly id: string; readonly run: string },
  to: string,
  { rows, bytes, files, end, uncounted }: ExportMove = {},
): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('exports')
    .set({
      state: to,
      ...(rows === undefined ? {} : { row_count: rows }),
      ...(bytes === undefined ? {} : { byte_count: bytes }),
      ...(files === undefined ? {} : { files: JSON.stringify(files) }),
      ...(end ? { ended_at: end.endedAt, ending: end.ending } : {}),
      ...(uncounted ? { attempt: sql<number>`attempt - 1` } : {}),
    })
    .where('id', '=', about.id)
    .where('run', '=', about.run)
    .where('state', 'in', to === 'sharing' ? ['running'] : ['running', 'sharing'])
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

/** Ends an export whose attempt died while Slack was asked to show the files. False if there is none. */
export async function settleUnknown(db: Db, id: string, end: OutcomeColumns): Promise<boolean> {
  return endExport(db, id, { to: 'unknown', from: ['sharing'], end });
}

/** Cancels an export at any time before Slack is asked to show the files. False if it is too late. */
export async function cancelExport(db: Db, id: string, end: OutcomeColumns): Promise<boolean> {
  return endExport(db, id, { to: 'cancelled', from: ['asked', 'waiting', 'running'], end });
}

/** Ends an export that has not begun. False if it has. */
export async function failUnbegunExport(db: Db, id: string, end: OutcomeColumns): Promise<boolean> {
  return endExport(db, id, { to: 'failed', from: ['asked'], end });
}

async function endExport(
  db: Db,
  id: string,
  {
    to,
    from,
    end: { endedAt, ending },
  }: { readonly to: string; readonly from: readonly string[]; readonly end: OutcomeColumns },
): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('exports')
    .set({ state: to, ended_at: endedAt, ending })
    .where('id', '=', id)
    .where('state', 'in', from)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

/** Columns of an ended export. */
export interface OutcomeColumns {
  readonly endedAt: Date;
  /** The outcome as JSON (`outcome.ts`). */
  readonly ending: string;
}

/** Stores that the outcome was shown. */
export async function markExportNotified(db: Db, id: string, now: Date): Promise<void> {
  await db.updateTable('exports').set({ told_at: now }).where('id', '=', id).execute();
}

/** Stores the export's message, unless it is known. */
export async function storeExportMessage(
  db: Db,
  id: string,
  at: { readonly channel: string; readonly ts: string },
): Promise<void> {
  await db
    .updateTable('exports')
    .set({ message_channel: at.channel, message_ts: at.ts })
    .where('id', '=', id)
    .where('message_ts', 'is', null)
    .execute();
}
