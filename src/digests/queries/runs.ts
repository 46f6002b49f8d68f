import { type Insertable, type Kysely, type Selectable, type SqlBool, sql, type Transaction } from 'kysely';
import type { Schema } from '../../store/schema.ts';

export type RunRow = Selectable<Schema['digest_runs']>;

/**
 * `due` → `collecting` → `sending` (its post is in the outbox) → `sent`; or, in the end, `quiet` (its threshold asks for
 * silence), `skipped`, `failed`, `unknown` (nobody knows whether Slack has the post) or `cancelled`.
 */
export type RunState =
  | 'due'
  | 'collecting'
  | 'sending'
  | 'sent'
  | 'quiet'
  | 'skipped'
  | 'failed'
  | 'unknown'
  | 'cancelled';

export type RunKey = Pick<RunRow, 'digest_id' | 'due'>;

/** A run that is due, and those before it that were missed. */
export interface PlannedRun {
  readonly due: Date;
  readonly runAt: Date;
  readonly missed: number;
  /** Stored as skipped; the run that is planned reports their number. */
  readonly skipped: readonly Date[];
}

/** Stores a due run and moves the digest on to its next one. False where another process or a change came first. */
export async function storePlannedRun(
  trx: Transaction<Schema>,
  digest: { readonly id: string; readonly revision: number; readonly nextDue: Date | undefined },
  { due, runAt, missed, skipped }: PlannedRun,
  next: Date,
): Promise<boolean> {
  const moved = await trx
    .updateTable('digests')
    .set({ next_due: next })
    .where('id', '=', digest.id)
    .where('revision', '=', digest.revision)
    .where('next_due', '=', digest.nextDue ?? null)
    .executeTakeFirst();
  if (moved.numUpdatedRows !== 1n) return false;
  await insertRuns(trx, [
    ...skipped.map((at) => newRun({ digest_id: digest.id, due: at }, at, { state: 'skipped' })),
    newRun({ digest_id: digest.id, due }, runAt, { missed }),
  ]);
  return true;
}

/** Presses within this time are one request. */
const doublePressMs = 5_000;

/**
 * Stores a run that a person asks for. False where one is on its way into the channel already, or the same person asked a
 * moment ago. The lock makes simultaneous requests wait for each other.
 */
export async function storeManualRun(trx: Transaction<Schema>, key: RunKey, by: string): Promise<boolean> {
  await trx.selectFrom('digests').select('id').where('id', '=', key.digest_id).forUpdate().execute();
  const since = new Date(key.due.getTime() - doublePressMs);
  const underWay = await trx
    .selectFrom('digest_runs')
    .select('due')
    .where('digest_id', '=', key.digest_id)
    .where(
      sql<SqlBool>`(state = 'due' and (by_hand is not null or run_at <= ${key.due}::timestamptz)
        or state in ('collecting', 'sending')
        or (by_hand = ${by} and state = 'sent' and due > ${since}::timestamptz))`,
    )
    .executeTakeFirst();
  if (underWay) return false;
  await insertRuns(trx, [newRun(key, key.due, { by_hand: by })]);
  return true;
}

function newRun(
  key: RunKey,
  runAt: Date,
  more: Partial<Insertable<Schema['digest_runs']>>,
): Insertable<Schema['digest_runs']> {
  return { ...key, run_at: runAt, state: 'due', missed: 0, attempts: 0, ...more };
}

async function insertRuns(db: Kysely<Schema>, runs: Insertable<Schema['digest_runs']>[]): Promise<void> {
  // A run that is stored already has run, or will.
  await db
    .insertInto('digest_runs')
    .values(runs)
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

/** Takes back runs that the schedule planned and that have not begun; returns the moments they were due. */
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

/** Begins an attempt at collecting. Undefined where the run is further already, or was taken back. */
export function beginAttempt(db: Kysely<Schema>, key: RunKey): Promise<RunRow | undefined> {
  return db
    .updateTable('digest_runs')
    .set({ state: 'collecting', attempts: sql<number>`attempts + 1` })
    .where('digest_id', '=', key.digest_id)
    .where('due', '=', key.due)
    .where('state', 'in', ['due', 'collecting'])
    .returningAll()
    .executeTakeFirst();
}

/** Moves a run on. False where it is not in that state, or another attempt has overtaken this one. */
export async function moveRun(
  db: Kysely<Schema>,
  { digest_id, due, attempts }: Pick<RunRow, 'digest_id' | 'due' | 'attempts'>,
  from: RunState,
  to: RunState,
  changes: Partial<Pick<RunRow, 'run_at' | 'attempts' | 'figures'>> = {},
): Promise<boolean> {
  const result = await db
    .updateTable('digest_runs')
    .set({ ...changes, state: to })
    .where('digest_id', '=', digest_id)
    .where('due', '=', due)
    .where('attempts', '=', attempts)
    .where('state', '=', from)
    .executeTakeFirst();
  return result.numUpdatedRows === 1n;
}

/** A run of unknown fate runs once more: a person decided. False where it is not unknown any more. */
export async function reopenRun(db: Kysely<Schema>, key: RunKey, now: Date): Promise<boolean> {
  const result = await db
    .updateTable('digest_runs')
    .set({ state: 'due', run_at: now })
    .where('digest_id', '=', key.digest_id)
    .where('due', '=', key.due)
    .where('state', '=', 'unknown')
    .executeTakeFirst();
  return result.numUpdatedRows === 1n;
}

/** Runs that began to be due so long ago that their job must be lost. */
export function findStrandedRuns(db: Kysely<Schema>, before: Date): Promise<RunKey[]> {
  return db
    .selectFrom('digest_runs')
    .select(['digest_id', 'due'])
    .where('state', 'in', ['due', 'collecting'])
    .where('run_at', '<', before)
    .execute();
}

export function findSendingRuns(db: Kysely<Schema>, digestId: string): Promise<RunRow[]> {
  return db
    .selectFrom('digest_runs')
    .selectAll()
    .where('digest_id', '=', digestId)
    .where('state', '=', 'sending')
    .execute();
}

/** The newest runs that found figures and posted them or stayed silent, newest first. */
export function findPastRuns(
  db: Kysely<Schema>,
  digestId: string,
  before: Date,
  most: number,
): Promise<{ due: Date; figures: string | null }[]> {
  return db
    .selectFrom('digest_runs')
    .select(['due', 'figures'])
    .where('digest_id', '=', digestId)
    .where('due', '<', before)
    .where('figures', 'is not', null)
    .where('state', 'in', ['sent', 'quiet'])
    .orderBy('due', 'desc')
    .limit(most)
    .execute();
}

/** The last run of each digest of a tenant that has ended or is under way. */
export function findLastRuns(
  db: Kysely<Schema>,
  tenant: string,
): Promise<Pick<RunRow, 'digest_id' | 'due' | 'state'>[]> {
  return db
    .selectFrom('digest_runs')
    .innerJoin('digests', 'digests.id', 'digest_id')
    .distinctOn('digest_id')
    .select(['digest_id', 'due', 'state'])
    .where('tenant', '=', tenant)
    .where('state', 'not in', ['due', 'cancelled'])
    .orderBy('digest_id')
    .orderBy('due', 'desc')
    .execute();
}
