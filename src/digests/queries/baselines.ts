import { type Kysely, sql } from 'kysely';
import type { Schema } from '../../store/schema.ts';
import type { RunKey } from './runs.ts';

/** What a digest remembers of what it last posted. `revision` is one higher each time it is replaced. */
export interface StoredBaseline {
  readonly revision: number;
  /** Null before its first post. */
  readonly body: string | null;
}

/** Undefined for a digest that never ran. */
export function findBaseline(db: Kysely<Schema>, digestId: string): Promise<StoredBaseline | undefined> {
  return db
    .selectFrom('digest_baselines')
    .select(['revision', 'body'])
    .where('digest_id', '=', digestId)
    .executeTakeFirst();
}

/**
 * Stores the pending baseline, which becomes current when the run is posted. `base` is the revision it was compared with,
 * 0 for none. Of two runs under way the one that was collected last replaces the other's.
 */
export async function storePendingBaseline(
  db: Kysely<Schema>,
  { digest_id, due }: RunKey,
  base: number,
  body: string,
): Promise<void> {
  const next = { next_body: body, next_due: due, next_base: base };
  await db
    .insertInto('digest_baselines')
    .values({ digest_id, revision: 0, ...next })
    .onConflict((conflict) => conflict.column('digest_id').doUpdateSet(next))
    .execute();
}

/**
 * Makes the pending baseline of a posted run the current one. False, and nothing changes, where another run did so since
 * this one was collected: its findings may be reported again, and nothing is lost.
 */
export async function acceptBaseline(db: Kysely<Schema>, { digest_id, due }: RunKey): Promise<boolean> {
  const result = await db
    .updateTable('digest_baselines')
    .set({
      revision: sql<number>`revision + 1`,
      body: sql<string>`next_body`,
      next_body: null,
      next_due: null,
      next_base: null,
    })
    .where('digest_id', '=', digest_id)
    .where('next_due', '=', due)
    .whereRef('next_base', '=', 'revision')
    .executeTakeFirst();
  return result.numUpdatedRows === 1n;
}
