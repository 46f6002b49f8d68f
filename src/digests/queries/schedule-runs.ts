import { type Insertable, type Kysely, type SqlBool, sql, type Transaction } from 'kysely';
import type { Schema } from '../../store/schema.ts';
import type { RunKey } from './runs.ts';

export interface PlannedRun {
  readonly due: Date;
  readonly runAt: Date;
  readonly missed: number;
  /** Runs that are skipped without a word of their own: the one that is planned tells of them. */
  readonly skipped: readonly Date[];
}

/**
 * Plans a run together with moving the digest on to its next one. Nothing happens where another process was first, or
 * where the digest was changed meanwhile.
 */
export async function storePlannedRun(
  db: Kysely<Schema>,
  digest: { readonly id: string; readonly revision: number; readonly next_due: Date | null },
  plan: PlannedRun,
  next: Date,
): Promise<boolean> {
  return db.transaction().execute(async (trx) => {
    const moved = await trx
      .updateTable('digests')
      .set({ next_due: next })
      .where('id', '=', digest.id)
      .where('revision', '=', digest.revision)
      .where('next_due', '=', digest.next_due)
      .executeTakeFirst();
    if (moved.numUpdatedRows !== 1n) return false;
    const { due, runAt, missed, skipped } = plan;
    await addRuns(trx, [
      ...skipped.map((at) => newRun({ digest_id: digest.id, due: at }, at, { state: 'skipped' })),
      newRun({ digest_id: digest.id, due }, runAt, { missed }),
    ]);
    return true;
  });
}

/** What somebody asked for is one wish, however often it is pressed within this time. */
const oneWishMs = 5_000;

/**
 * Plans a run that somebody asks for, in a transaction. False where one is on its way into the channel already, or they
 * asked a moment ago; whoever asks at the same time waits here.
 */
export async function storeManualRun(trx: Transaction<Schema>, key: RunKey, by: string): Promise<boolean> {
  await trx.selectFrom('digests').select('id').where('id', '=', key.digest_id).forUpdate().execute();
  const under = await trx
    .selectFrom('digest_runs')
    .select('due')
    .where('digest_id', '=', key.digest_id)
    .where(
      sql<SqlBool>`(state = 'due' and (by_hand is not null or run_at <= ${key.due}::timestamptz)
        or state = 'collecting' or (state in ('ready', 'sending') and parts_sent = 0)
        or (by_hand = ${by} and state in ('ready', 'sending', 'sent') and due > ${since(key.due, oneWishMs)}::timestamptz))`,
    )
    .executeTakeFirst();
  if (under) return false;
  await addRuns(trx, [newRun(key, key.due, { by_hand: by })]);
  return true;
}

function since(at: Date, ms: number): Date {
  return new Date(at.getTime() - ms);
}

function newRun(
  key: RunKey,
  runAt: Date,
  more: Partial<Insertable<Schema['digest_runs']>>,
): Insertable<Schema['digest_runs']> {
  return { ...key, run_at: runAt, state: 'due', missed: 0, attempts: 0, lookups: 0, parts_sent: 0, ...more };
}

async function addRuns(db: Kysely<Schema>, runs: Insertable<Schema['digest_runs']>[]): Promise<void> {
  // A run that is there already has run, or will.
  await db
    .insertInto('digest_runs')
    .values(runs)
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

/** Takes back what the schedule planned and has not begun; the moments it was due. */
export async function deletePlannedRuns(db: Kysely<Schema>, digestIds: readonly string[]): Promise<Date[]> {
  if (digestIds.length === 0) return [];
  const taken = await db
    .deleteFrom('digest_runs')
    .where('digest_id', 'in', [...digestIds])
    .where('state', '=', 'due')
    .where('by_hand', 'is', null)
    .returning('due')
    .execute();
  return taken.map(({ due }) => due);
}
