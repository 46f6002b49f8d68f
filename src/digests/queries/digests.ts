import { type Insertable, type Kysely, type Selectable, sql } from 'kysely';
import type { Schema } from '../../store/schema.ts';

export type DigestRow = Selectable<Schema['digests']>;

export async function insertDigest(
  db: Kysely<Schema>,
  row: Insertable<Schema['digests']>,
): Promise<DigestRow | undefined> {
  // Ids are short, so that people can type them: one that is taken is drawn again.
  return db
    .insertInto('digests')
    .values(row)
    .onConflict((conflict) => conflict.doNothing())
    .returningAll()
    .executeTakeFirst();
}

/** One of a tenant's; deleted ones too, as long as their deletion can be undone. */
export function findDigest(db: Kysely<Schema>, tenant: string, id: string): Promise<DigestRow | undefined> {
  return db
    .selectFrom('digests')
    .selectAll()
    .where('tenant', '=', tenant)
    .where('id', '=', id)
    .executeTakeFirst();
}

export function findDigestById(db: Kysely<Schema>, id: string): Promise<DigestRow | undefined> {
  return db.selectFrom('digests').selectAll().where('id', '=', id).executeTakeFirst();
}

/** A tenant's digests that are not deleted, oldest first. */
export function listDigests(db: Kysely<Schema>, tenant: string): Promise<DigestRow[]> {
  return db
    .selectFrom('digests')
    .selectAll()
    .where('tenant', '=', tenant)
    .where('deleted_at', 'is', null)
    .orderBy('made_at')
    .orderBy('id')
    .execute();
}

type Changes = Partial<
  Pick<
    DigestRow,
    | 'owner'
    | 'enterprise_id'
    | 'team_id'
    | 'channel'
    | 'body'
    | 'paused'
    | 'paused_by'
    | 'paused_at'
    | 'paused_told'
    | 'next_due'
    | 'deleted_at'
  >
>;

/** Changes a digest if nobody changed it since `revision` was read. Undefined where somebody did. */
export async function changeDigest(
  db: Kysely<Schema>,
  { id, revision }: Pick<DigestRow, 'id' | 'revision'>,
  changes: Changes,
): Promise<DigestRow | undefined> {
  return db
    .updateTable('digests')
    .set({ ...changes, failures: 0, revision: sql<number>`revision + 1` })
    .where('id', '=', id)
    .where('revision', '=', revision)
    .returningAll()
    .executeTakeFirst();
}

export interface PauseColumns {
  readonly reason: string;
  readonly at: Date;
}

/** Stops a digest for a reason that is not a person's, unless it is stopped already: then undefined. People are to be told. */
export async function pauseDigestRow(
  db: Kysely<Schema>,
  id: string,
  halt: PauseColumns,
): Promise<DigestRow | undefined> {
  return halted(db, halt).where('id', '=', id).returningAll().executeTakeFirst();
}

/** Stops everything that runs for one person, or for a whole tenant. What was running. */
export async function pauseDigestsOf(
  db: Kysely<Schema>,
  whose: { readonly tenant: string; readonly owner: string | undefined },
  halt: PauseColumns,
): Promise<DigestRow[]> {
  let query = halted(db, halt).where('tenant', '=', whose.tenant);
  if (whose.owner !== undefined) query = query.where('owner', '=', whose.owner);
  return query.returningAll().execute();
}

function halted(db: Kysely<Schema>, { reason, at }: PauseColumns) {
  return db
    .updateTable('digests')
    .set({
      paused: reason,
      paused_by: null,
      paused_at: at,
      paused_told: 'no',
      next_due: null,
      revision: sql<number>`revision + 1`,
    })
    .where('paused', 'is', null)
    .where('deleted_at', 'is', null);
}

/** Counts a run that failed; the number of those one after the other. */
export async function countFailure(db: Kysely<Schema>, id: string): Promise<number> {
  const row = await db
    .updateTable('digests')
    .set({ failures: sql<number>`failures + 1` })
    .where('id', '=', id)
    .returning('failures')
    .executeTakeFirst();
  return row?.failures ?? 0;
}

export async function resetFailures(db: Kysely<Schema>, id: string): Promise<void> {
  await db
    .updateTable('digests')
    .set({ failures: 0 })
    .where('id', '=', id)
    .where('failures', '>', 0)
    .execute();
}

/** Those whose next run is not planned yet and due by then. */
export function findDueDigests(db: Kysely<Schema>, by: Date, most: number): Promise<DigestRow[]> {
  return db
    .selectFrom('digests')
    .selectAll()
    .where('next_due', '<=', by)
    .where('paused', 'is', null)
    .where('deleted_at', 'is', null)
    .orderBy('next_due')
    .limit(most)
    .execute();
}

/** Destroys what was deleted before this moment, with its runs; says how many. */
export async function purgeDigests(db: Kysely<Schema>, before: Date): Promise<number> {
  const result = await db.deleteFrom('digests').where('deleted_at', '<', before).executeTakeFirst();
  return Number(result.numDeletedRows);
}

export async function deleteDigest(db: Kysely<Schema>, id: string): Promise<void> {
  await db.deleteFrom('digests').where('id', '=', id).execute();
}
