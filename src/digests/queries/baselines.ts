import { type Kysely, sql } from 'kysely';
import type { Schema } from '../../store/schema.ts';
import type { RunKey } from './runs.ts';

/** What a digest remembers of what it last said. `revision` is one higher each time that is replaced. */
export interface StoredBaseline {
  readonly revision: number;
  /** Null before it said anything. */
  readonly body: string | null;
}

/** Undefined for a digest that never ran. */
export function findBaseline(db: Kysely<Schema>, digestId: string): Promise<StoredBaseline | undefined> {
  return db
    .selectFrom('digest_books')
    .select(['revision', 'body'])
    .where('digest_id', '=', digestId)
    .executeTakeFirst();
}

/**
 * Lays ready what is to be remembered once a run has posted. `base` is the revision it was compared with, 0 for none. Of
 * two runs under way the one that looked last lays its own in the place of the other's.
 */
export async function storePendingBaseline(
  db: Kysely<Schema>,
  { digest_id, due }: RunKey,
  base: number,
  body: string,
): Promise<void> {
  const next = { next_body: body, next_due: due, next_base: base };
  await db
    .insertInto('digest_books')
    .values({ digest_id, revision: 0, ...next })
    .onConflict((conflict) => conflict.column('digest_id').doUpdateSet(next))
    .execute();
}

/**
 * Replaces what a digest remembers with what the run that has posted laid ready. False, and nothing changes, where
 * another run did so since this one looked: what that one told of may be told again, and nothing is lost.
 */
export async function acceptBaseline(db: Kysely<Schema>, { digest_id, due }: RunKey): Promise<boolean> {
  const result = await db
    .updateTable('digest_books')
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
