import { type Insertable, type Kysely, type Selectable, sql, type Transaction } from 'kysely';
import type { Schema } from '../../store/schema.ts';

export type AuditRow = Selectable<Schema['audit_records']>;

/**
 * Waits until this transaction is the only one that appends for the tenant, then gives the newest record's place.
 * To be the last thing a transaction waits for: others of the same tenant wait for its end.
 */
export async function lockAuditTail(
  trx: Transaction<Schema>,
  tenant: string,
): Promise<Pick<AuditRow, 'seq' | 'hash'> | undefined> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${`cdn-chatops/audit/${tenant}`}, 0))`.execute(trx);
  return trx
    .selectFrom('audit_records')
    .select(['seq', 'hash'])
    .where('tenant', '=', tenant)
    .orderBy('seq', 'desc')
    .limit(1)
    .executeTakeFirst();
}

/** Appends one record. The place is unique: of two that claim it, the second fails. */
export async function appendAudit(
  trx: Transaction<Schema>,
  row: Insertable<Schema['audit_records']>,
): Promise<void> {
  await trx.insertInto('audit_records').values(row).execute();
}

/** Which records of a tenant; nothing given = all of them. */
export interface AuditFilter {
  /** Whoever did it, or whom it concerns. */
  readonly who?: string | undefined;
  /** Any of these kinds. */
  readonly events?: readonly string[] | undefined;
}

/** The newest records of a tenant, newest first. */
export function findRecentAudit(
  db: Kysely<Schema>,
  tenant: string,
  most: number,
  filter: AuditFilter = {},
): Promise<AuditRow[]> {
  return records(db, tenant, filter).orderBy('seq', 'desc').limit(most).execute();
}

/** The records of a tenant after a place, oldest first. */
export function findAuditAfter(
  db: Kysely<Schema>,
  tenant: string,
  seq: number,
  most: number,
  filter: AuditFilter = {},
): Promise<AuditRow[]> {
  return records(db, tenant, filter).where('seq', '>', seq).orderBy('seq').limit(most).execute();
}

function records(db: Kysely<Schema>, tenant: string, { who, events }: AuditFilter) {
  let query = db.selectFrom('audit_records').selectAll().where('tenant', '=', tenant);
  if (who !== undefined) query = query.where((is) => is.or([is('actor', '=', who), is('subject', '=', who)]));
  if (events !== undefined) query = query.where('event', 'in', events);
  return query;
}

/** The tenant after this one that has records. One by one: a list of all would read the whole table. */
export async function findNextAuditTenant(db: Kysely<Schema>, after: string): Promise<string | undefined> {
  const row = await db
    .selectFrom('audit_records')
    .select('tenant')
    .where('tenant', '>', after)
    .orderBy('tenant')
    .limit(1)
    .executeTakeFirst();
  return row?.tenant;
}
