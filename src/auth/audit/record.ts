import { createHash } from 'node:crypto';
import { z } from 'zod';
import { canonicalJson } from '../../lib/canonical-json.ts';
import { yieldToEventLoop } from '../../lib/time.ts';
import type { Db } from '../../store/schema.ts';

export type Details = Readonly<Record<string, string | number | boolean>>;

/** One record of the audit with everything that its hash covers. */
export interface AuditRecord {
  readonly tenant: string;
  /** 1, 2, 3 … without gaps in each tenant. */
  readonly seq: number;
  readonly at: Date;
  readonly actor: string;
  /** One of `auditEvents`, unless another version of the bot wrote it. */
  readonly event: string;
  readonly subject: string | null;
  readonly detail: Details;
  readonly requestId: string | null;
  /** The hash of the record before; `genesisHash` for the first. */
  readonly prevHash: string;
  readonly hash: string;
}

export const genesisHash = '0'.repeat(64);

export function hashRecord(record: Omit<AuditRecord, 'hash'>): string {
  const { tenant, seq, at, actor, event, subject, detail, requestId, prevHash } = record;
  const facts = [tenant, seq, at.toISOString(), actor, event, subject, detail, requestId];
  const canonical = canonicalJson(['cdn-chatops audit v1', prevHash, ...facts]);
  return createHash('sha256').update(canonical).digest('hex');
}

/** Whether a record is unchanged since it was written; false, too, for one that could not have been written. */
export function isIntact(record: AuditRecord): boolean {
  return shape.safeParse(record).success && record.hash === hashRecord(record);
}

const shape = z.object({
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
  at: z.date(),
});

/** Details as `record` takes them; the owner of the table can put anything there. */
export function isDetail(value: unknown): value is Details {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  return Object.values(value).every(
    (one) => typeof one === 'string' || typeof one === 'boolean' || Number.isFinite(one),
  );
}

/** Selects records of a tenant; empty = all of them. */
export interface AuditFilter {
  /** A user id: actor or subject. */
  readonly who?: string | undefined;
  readonly events?: readonly string[] | undefined;
}

/** The newest records of a tenant, newest first. */
export function findRecentAudit(
  db: Db,
  tenant: string,
  limit: number,
  filter: AuditFilter = {},
): Promise<AuditRecord[]> {
  return selectRecords(db, tenant, filter).orderBy('seq', 'desc').limit(limit).execute();
}

/** The first record of a tenant after a place. */
export function findNextAudit(db: Db, tenant: string, seq: number): Promise<AuditRecord | undefined> {
  return selectRecords(db, tenant, {}).where('seq', '>', seq).orderBy('seq').limit(1).executeTakeFirst();
}

const pieceSize = 500;

/** The records of a tenant after a place, oldest first, in pieces of a bounded size. */
export async function* readAudit(
  db: Db,
  tenant: string,
  after: number,
  filter: AuditFilter = {},
): AsyncGenerator<AuditRecord[], void> {
  const query = selectRecords(db, tenant, filter).orderBy('seq').limit(pieceSize);
  for (let last: number | undefined = after; last !== undefined; ) {
    const records: AuditRecord[] = await query.where('seq', '>', last).execute();
    if (records.length > 0) yield records;
    last = records.length < pieceSize ? undefined : records.at(-1)?.seq;
    // In the embedded database nothing else runs between queries otherwise.
    await yieldToEventLoop();
  }
}

function selectRecords(db: Db, tenant: string, { who, events }: AuditFilter) {
  let query = db
    .selectFrom('audit_records')
    .select(['tenant', 'seq', 'at', 'actor', 'event', 'subject', 'detail', 'hash'])
    .select(['request_id as requestId', 'prev_hash as prevHash'])
    .where('tenant', '=', tenant);
  if (who !== undefined) query = query.where((is) => is.or([is('actor', '=', who), is('subject', '=', who)]));
  if (events !== undefined) query = query.where('event', 'in', events);
  return query;
}
