import { sql } from 'kysely';
import type { Db, ExportRow } from './exports.ts';
import type { OutcomeColumns } from './outcomes.ts';

/** Its message is there: it may run. False where it was ended meanwhile. */
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
 * Takes an export that waits, or whose attempt has died, for the attempt `run`. Undefined where there is none to take,
 * or where its pause is not over.
 */
export async function claimExport(
  db: Db,
  claim: { readonly id: string; readonly run: string; readonly now: Date; readonly leaseUntil: Date },
): Promise<ExportRow | undefined> {
  return db
    .updateTable('exports')
    .set({
      state: 'running',
      run: claim.run,
      lease_until: claim.leaseUntil,
      attempt: sql<number>`attempt + 1`,
    })
    .where('id', '=', claim.id)
    .where((row) =>
      row.or([
        row.and([row('state', '=', 'waiting'), row('lease_until', 'is', null)]),
        row.and([row('state', 'in', ['waiting', 'running']), row('lease_until', '<=', claim.now)]),
      ]),
    )
    .returningAll()
    .executeTakeFirst();
}

/** Says that an attempt lives, and how far it is. Undefined where the export is not its own any more. */
export async function renewExportLease(
  db: Db,
  beat: {
    readonly id: string;
    readonly run: string;
    readonly leaseUntil: Date;
    readonly rows: number;
    readonly bytes: number;
  },
): Promise<{ readonly cancelledBy: string | undefined } | undefined> {
  const row = await db
    .updateTable('exports')
    .set({ lease_until: beat.leaseUntil, row_count: beat.rows, byte_count: beat.bytes })
    .where('id', '=', beat.id)
    .where('run', '=', beat.run)
    .where('state', 'in', ['running', 'sharing'])
    .returning('cancelled_by')
    .executeTakeFirst();
  return row && { cancelledBy: row.cancelled_by ?? undefined };
}

/** What changes with a state. */
export interface ExportMove {
  readonly rows?: number;
  readonly bytes?: number;
  /** Ids of files in Slack. */
  readonly files?: readonly string[];
  readonly end?: OutcomeColumns;
  readonly leaseUntil?: Date;
  /** It was not this attempt's fault: it does not count. */
  readonly uncounted?: true;
}

/**
 * Moves an export of the attempt `run` from one state to another; false where it is not there (any more). It goes on
 * (to `sharing`, or to wait for another attempt) only while nobody has cancelled it.
 */
export async function moveExport(
  db: Db,
  about: { readonly id: string; readonly run: string },
  from: readonly string[],
  to: string,
  { rows, bytes, files, end, leaseUntil, uncounted }: ExportMove = {},
): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('exports')
    .set({
      state: to,
      lease_until: leaseUntil ?? null,
      ...(rows === undefined ? {} : { row_count: rows }),
      ...(bytes === undefined ? {} : { byte_count: bytes }),
      ...(files === undefined ? {} : { files: JSON.stringify(files) }),
      ...(end ? { ended_at: end.endedAt, ending: end.ending } : {}),
      ...(uncounted ? { attempt: sql<number>`attempt - 1` } : {}),
    })
    .where('id', '=', about.id)
    .where('run', '=', about.run)
    .where('state', 'in', from)
    .$if(to === 'sharing' || to === 'waiting', (query) => query.where('cancelled_by', 'is', null))
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

/** An attempt that died while Slack was asked to show the files: the export ends as `unknown`. */
export async function settleUnknown(
  db: Db,
  id: string,
  now: Date,
  { endedAt, ending }: OutcomeColumns,
): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('exports')
    .set({ state: 'unknown', ended_at: endedAt, ending, lease_until: null })
    .where('id', '=', id)
    .where('state', '=', 'sharing')
    .where('lease_until', '<', now)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

/** Ends an export nobody works on: one that has not begun, or waits, or whose attempt has died. */
export async function endUnclaimedExport(
  db: Db,
  id: string,
  to: 'cancelled' | 'failed',
  { by, end: { endedAt, ending } }: { readonly by?: string; readonly end: OutcomeColumns },
): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('exports')
    .set({ state: to, ended_at: endedAt, ending, ...(by === undefined ? {} : { cancelled_by: by }) })
    .where('id', '=', id)
    .where((row) =>
      row.or([
        row('state', 'in', ['asked', 'waiting']),
        row.and([row('state', '=', 'running'), row('lease_until', '<', endedAt)]),
      ]),
    )
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

/** Tells the attempt that works on an export to end. False where it is too late. */
export async function requestExportEnd(db: Db, id: string, by: string): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('exports')
    .set({ cancelled_by: by })
    .where('id', '=', id)
    .where('state', '=', 'running')
    .where('cancelled_by', 'is', null)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

/** An attempt that died lets go: the export waits for another one. False where it lives, or was cancelled. */
export async function releaseExport(db: Db, id: string, now: Date): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('exports')
    .set({ state: 'waiting', lease_until: null })
    .where('id', '=', id)
    .where('state', '=', 'running')
    .where('lease_until', '<', now)
    .where('cancelled_by', 'is', null)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

/** With one process there is nobody else: whatever was worked on is not any more. */
export async function clearExportLeases(db: Db, now: Date): Promise<void> {
  await db
    .updateTable('exports')
    .set({ lease_until: new Date(now.getTime() - 1) })
    .where('state', 'in', ['running', 'sharing'])
    .execute();
}
