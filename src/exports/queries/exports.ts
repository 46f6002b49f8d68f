import { type Kysely, type Selectable, sql, type Transaction } from 'kysely';
import type { Schema } from '../../store/schema.ts';

export type ExportRow = Selectable<Schema['exports']>;

/** A database or a transaction in it. */
export type Db = Kysely<Schema> | Transaction<Schema>;

type NewExport = Pick<
  ExportRow,
  'id' | 'tenant' | 'enterprise_id' | 'team_id' | 'user_id' | 'channel' | 'request' | 'asked_at'
>;

/** One of a person's exports is begun at a time: until the transaction ends, others wait here. */
export async function lockExportsOf(
  trx: Transaction<Schema>,
  { tenant, userId }: { readonly tenant: string; readonly userId: string },
): Promise<void> {
  const name = `cdn-chatops/exports/${tenant}/${userId}`;
  await sql`select pg_advisory_xact_lock(hashtextextended(${name}, 0))`.execute(trx);
}

/** A new export in the state `asked`. */
export async function addExport(db: Db, row: NewExport): Promise<ExportRow> {
  return db
    .insertInto('exports')
    .values({ ...row, state: 'asked', attempt: 0, row_count: 0, byte_count: 0, files: '[]' })
    .returningAll()
    .executeTakeFirstOrThrow();
}

/** Forgets an export that never began. */
export async function dropExport(db: Db, id: string): Promise<void> {
  await db.deleteFrom('exports').where('id', '=', id).where('state', '=', 'asked').execute();
}

export async function findExport(db: Db, id: string): Promise<ExportRow | undefined> {
  return db.selectFrom('exports').selectAll().where('id', '=', id).executeTakeFirst();
}

/** Somebody's exports, the newest first. */
export async function findExportsOf(
  db: Db,
  person: { readonly tenant: string; readonly userId: string },
  most: number,
): Promise<ExportRow[]> {
  return db
    .selectFrom('exports')
    .selectAll()
    .where('tenant', '=', person.tenant)
    .where('user_id', '=', person.userId)
    .where('request', 'is not', null)
    .orderBy('asked_at', 'desc')
    .limit(most)
    .execute();
}

/** Exports that have not ended: a person's, a tenant's, or all. */
export async function findUnfinishedExports(
  db: Db,
  of: { readonly tenant?: string; readonly userId?: string | undefined } = {},
): Promise<ExportRow[]> {
  return db
    .selectFrom('exports')
    .selectAll()
    .where('ended_at', 'is', null)
    .$if(of.tenant !== undefined, (query) => query.where('tenant', '=', of.tenant ?? ''))
    .$if(of.userId !== undefined, (query) => query.where('user_id', '=', of.userId ?? ''))
    .execute();
}
