import { createHash } from 'node:crypto';
import { type Insertable, type Kysely, type Selectable, sql, type Transaction } from 'kysely';
import { z } from 'zod';
import { canonicalJson, parseJson } from '../../lib/canonical-json.ts';
import type { Schema } from '../../store/schema.ts';

export type AuditRow = Selectable<Schema['audit_records']>;

export type Details = Readonly<Record<string, string | number | boolean>>;

/** One record of the audit with everything that its hash covers. */
export interface AuditRecord {
  readonly tenant: string;
  /** 1, 2, 3 … without gaps in each tenant. */
  readonly seq: number;
  readonly at: Date;
  readonly actor: string;
  readonly event: string;
  readonly subject: string | null;
  readonly detail: Details;
  readonly requestId: string | null;
  /** The hash of the record before; `beginning` for the first. */
  readonly prevHash: string;
  readonly hash: string;
}

export const genesisHash = '0'.repeat(64);

export function hashRecord(record: Omit<AuditRecord, 'hash'>): string {
  const { tenant, seq, at, actor, event, subject, detail, requestId, prevHash } = record;
  const canonical = canonicalJson([
    'cdn-chatops audit v1',
    prevHash,
    tenant,
    seq,
    at.toISOString(),
    actor,
    event,
    subject,
    detail,
    requestId,
  ]);
  return createHash('sha256').update(canonical).digest('hex');
}

/** Whether a record is unchanged since it was written; false, too, for one that could not have been written. */
export function isIntact(record: AuditRecord): boolean {
  return shape.safeParse(record).success && record.hash === hashRecord(record);
}

export function toAuditRecord(row: AuditRow): AuditRecord {
  const { tenant, seq, at, actor, event, subject, detail, request_id: requestId, prev_hash: prevHash } = row;
  return { tenant, seq, at, actor, event, subject, detail, requestId, prevHash, hash: row.hash };
}

/** One line of an exported file, without the line break. */
export function writeRecord(record: AuditRecord): string {
  const { tenant, seq, at, actor, event, subject, detail, requestId, prevHash, hash } = record;
  return JSON.stringify({
    tenant,
    seq,
    at: at.toISOString(),
    actor,
    event,
    subject,
    detail,
    requestId,
    prevHash,
    hash,
  });
}

/**
 * Reads a line that `writeRecord` wrote; undefined for anything else, also for other spellings of the same record: a
 * member that is there twice would read one way here and another way elsewhere.
 */
export function readRecord(line: string): AuditRecord | undefined {
  const parsed = written.safeParse(parseJson(line));
  if (!parsed.success) return undefined;
  const record = { ...parsed.data, at: new Date(parsed.data.at) };
  return writeRecord(record) === line ? record : undefined;
}

const members = {
  tenant: z.string(),
  seq: z.int().positive(),
  actor: z.string(),
  event: z.string(),
  subject: z.string().nullable(),
  // Kept as it is: a copy could lose members with special names.
  detail: z.custom<Details>(isDetail),
  requestId: z.string().nullable(),
  prevHash: z.string(),
  hash: z.string(),
};
const shape = z.object({ ...members, at: z.date() });
const written = z.strictObject({ ...members, at: z.iso.datetime({ precision: 3 }) });

/** Details as `record` takes them; the owner of the table can put anything there. */
export function isDetail(value: unknown): value is Details {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  return Object.values(value).every(
    (one) => typeof one === 'string' || typeof one === 'boolean' || Number.isFinite(one),
  );
}

/**
 * Waits until this transaction is the only one that appends for the tenant, then returns the newest record's place.
 * It must be the last lock of a transaction: others of the same tenant wait for its end.
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

/** Appends one record. Its number is unique: of two with the same one, the second fails. */
export async function appendAudit(
  trx: Transaction<Schema>,
  row: Insertable<Schema['audit_records']>,
): Promise<void> {
  await trx.insertInto('audit_records').values(row).execute();
}

/** Selects records of a tenant; empty = all of them. */
export interface AuditFilter {
  /** A user id: actor or subject. */
  readonly who?: string | undefined;
  readonly events?: readonly string[] | undefined;
}

/** The newest records of a tenant, newest first. */
export function findRecentAudit(
  db: Kysely<Schema>,
  tenant: string,
  limit: number,
  filter: AuditFilter = {},
): Promise<AuditRow[]> {
  return selectRecords(db, tenant, filter).orderBy('seq', 'desc').limit(limit).execute();
}

/** The records of a tenant after a place, oldest first. */
export function findAuditAfter(
  db: Kysely<Schema>,
  tenant: string,
  seq: number,
  limit: number,
  filter: AuditFilter = {},
): Promise<AuditRow[]> {
  return selectRecords(db, tenant, filter).where('seq', '>', seq).orderBy('seq').limit(limit).execute();
}

function selectRecords(db: Kysely<Schema>, tenant: string, { who, events }: AuditFilter) {
  let query = db.selectFrom('audit_records').selectAll().where('tenant', '=', tenant);
  if (who !== undefined) query = query.where((is) => is.or([is('actor', '=', who), is('subject', '=', who)]));
  if (events !== undefined) query = query.where('event', 'in', events);
  return query;
}

/** The next tenant that has records. One by one: a list of all would read the whole table. */
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
