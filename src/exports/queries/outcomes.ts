import type { Db, ExportRow } from './exports.ts';

/** What every move to an end stores. */
export interface OutcomeColumns {
  readonly endedAt: Date;
  /** How it ended, as JSON (`jobs/export-endings.ts`). */
  readonly ending: string;
}

/** Exports whose end nobody has been told of, the oldest first. */
export async function findUnnotifiedExports(db: Db): Promise<ExportRow[]> {
  return db
    .selectFrom('exports')
    .selectAll()
    .where('ending', 'is not', null)
    .where('told_at', 'is', null)
    .orderBy('ended_at')
    .execute();
}

/** People know how it ended. */
export async function markExportNotified(db: Db, id: string, now: Date): Promise<void> {
  await db.updateTable('exports').set({ told_at: now }).where('id', '=', id).execute();
}

/** Where the message of an export turned out to be, unless that is known already. */
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
