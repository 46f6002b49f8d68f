import type { Kysely, Selectable } from 'kysely';
import type { Schema } from '../../store/schema.ts';

export type RunRow = Selectable<Schema['digest_runs']>;

/** One run of one digest. */
export interface RunKey {
  readonly digest_id: string;
  readonly due: Date;
}

/** A run, and who holds it: what it does next counts only while nobody else has taken it over. */
export interface ClaimedRun extends RunRow {
  readonly claim: string;
}

type Moves = Partial<
  Pick<
    RunRow,
    | 'run_at'
    | 'attempts'
    | 'outcome'
    | 'parts'
    | 'parts_sent'
    | 'sent_to'
    | 'ts'
    | 'figures'
    | 'reason'
    | 'lookups'
  >
>;

/** Moves a run on. False where it is no longer held, or not in that state: then somebody else moved it. */
export async function moveRun(
  db: Kysely<Schema>,
  { digest_id, due, claim }: ClaimedRun,
  from: string,
  to: string,
  moves: Moves = {},
): Promise<boolean> {
  const result = await db
    .updateTable('digest_runs')
    .set({ ...moves, state: to })
    .where('digest_id', '=', digest_id)
    .where('due', '=', due)
    .where('claim', '=', claim)
    .where('state', '=', from)
    .executeTakeFirst();
  return result.numUpdatedRows === 1n;
}

/** Moves a run that nobody holds on: a person decided. */
export async function reopenRun(db: Kysely<Schema>, key: RunKey, from: string, now: Date): Promise<boolean> {
  const result = await db
    .updateTable('digest_runs')
    .set({ state: 'ready', run_at: now, claim: null, lookups: 0, reason: null })
    .where('digest_id', '=', key.digest_id)
    .where('due', '=', key.due)
    .where('state', '=', from)
    .where('parts', 'is not', null)
    .executeTakeFirst();
  return result.numUpdatedRows === 1n;
}

/** The newest runs that found figures and said so, newest first; their thread may still be on its way. */
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
    .where((where) =>
      where.or([
        where('state', 'in', ['sent', 'quiet']),
        where.and([where('outcome', '=', 'digest'), where('parts_sent', '>', 0)]),
      ]),
    )
    .orderBy('due', 'desc')
    .limit(most)
    .execute();
}

/** The last run of each digest that has ended or is under way. */
export async function findLastRuns(db: Kysely<Schema>, digestIds: readonly string[]): Promise<RunRow[]> {
  if (digestIds.length === 0) return [];
  return db
    .selectFrom('digest_runs')
    .distinctOn('digest_id')
    .selectAll()
    .where('digest_id', 'in', [...digestIds])
    .where('state', 'not in', ['due', 'cancelled'])
    .orderBy('digest_id')
    .orderBy('due', 'desc')
    .execute();
}

/** Forgets runs that ended long ago; says how many. */
export async function purgeRuns(db: Kysely<Schema>, before: Date): Promise<number> {
  const result = await db
    .deleteFrom('digest_runs')
    .where('due', '<', before)
    .where('state', 'not in', ['due', 'collecting', 'ready', 'sending'])
    .executeTakeFirst();
  return Number(result.numDeletedRows);
}
