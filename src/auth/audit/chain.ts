import { createHash } from 'node:crypto';
import { sql } from 'kysely';
import { z } from 'zod';
import { canonicalJson } from '../../lib/canonical-json.ts';
import { dayMs, yieldToEventLoop } from '../../lib/time.ts';
import { defineJob, type JobContext } from '../../store/queue/define-job.ts';
import type { Db } from '../../store/schema.ts';

export type Details = Readonly<Record<string, string | number | boolean>>;

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

/** Whether the columns that the owner of the table can fill with anything hold what `record` writes. */
export function isReadable({ at, detail }: { readonly at: unknown; readonly detail: unknown }): boolean {
  if (!(at instanceof Date) || Number.isNaN(at.getTime())) return false;
  if (typeof detail !== 'object' || detail === null || Array.isArray(detail)) return false;
  return Object.values(detail).every(
    (one) => typeof one === 'string' || typeof one === 'boolean' || Number.isFinite(one),
  );
}

export interface AuditFilter {
  readonly who?: string | undefined;
  readonly events?: readonly string[] | undefined;
}

export function findRecentAudit(
  db: Db,
  tenant: string,
  limit: number,
  filter: AuditFilter = {},
): Promise<AuditRecord[]> {
  return selectRecords(db, tenant, filter).orderBy('seq', 'desc').limit(limit).execute();
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

type Link = { readonly seq: number; readonly hash: string };

/** The newest link of a tenant's chain at some time, as the log has it. */
export type LoggedHead = Link & { readonly tenant: string };

export interface Broken {
  readonly tenant: string;
  readonly seq: number;
  /**
   * `found` stands in the place of a missing one. `unlinked`: it does not follow the one before. `rewritten`: the log names
   * another hash. `cut-off`: it is gone with everything after it, up to a logged head.
   */
  readonly problem: 'missing' | 'altered' | 'unlinked' | 'rewritten' | 'cut-off';
  readonly found?: number;
  readonly noted?: Link;
}

export type ChainVerdict =
  | { readonly ok: true; readonly records: number; readonly head: string | undefined }
  | { readonly ok: false; readonly broken: Broken };

/**
 * Reads a tenant's chain from record `since` on and reports the first wrong record. The hashes have no key: an owner of the
 * database can write a new chain, and records that are cut off at the end leave a whole, shorter one. Heads from the log
 * in `noted` detect both.
 */
export async function verifyChain(
  db: Db,
  tenant: string,
  { since = 1, noted = [] }: { readonly since?: number; readonly noted?: readonly Link[] } = {},
): Promise<ChainVerdict> {
  const expected = Map.groupBy(noted, ({ seq }) => seq);
  let reached = { seq: since - 1, hash: since === 1 ? genesisHash : undefined };
  const findProblem = (record: AuditRecord, seq: number): Omit<Broken, 'tenant' | 'seq'> | undefined => {
    if (record.seq !== seq) return { problem: 'missing', found: record.seq };
    if (reached.hash !== undefined && record.prevHash !== reached.hash) return { problem: 'unlinked' };
    if (!isReadable(record) || record.hash !== hashRecord(record)) return { problem: 'altered' };
    const other = expected.get(seq)?.find(({ hash }) => hash !== record.hash);
    return other && { problem: 'rewritten', noted: other };
  };
  for await (const records of readAudit(db, tenant, since - 1)) {
    for (const record of records) {
      const seq = reached.seq + 1;
      const problem = findProblem(record, seq);
      if (problem) return { ok: false, broken: { tenant, seq, ...problem } };
      reached = { seq, hash: record.hash };
    }
  }
  const last = Math.max(...[...expected.keys()].filter((seq) => seq > reached.seq));
  const beyond = expected.get(last)?.[0];
  if (beyond)
    return { ok: false, broken: { tenant, seq: reached.seq + 1, problem: 'cut-off', noted: beyond } };
  const { seq, hash } = reached;
  return { ok: true, records: seq, head: hash === genesisHash ? undefined : hash };
}

/** The newest link of every tenant's chain, with its time. */
export async function findHeads(db: Db): Promise<(LoggedHead & { readonly at: Date })[]> {
  // By the primary key: each tenant once, and one record of it.
  const { rows } = await sql<LoggedHead & { at: Date }>`
    with recursive tenants as (
      select min(tenant) as tenant from audit_records
      union all
      select (select min(tenant) from audit_records where tenant > tenants.tenant) from tenants
       where tenant is not null)
    select tenant, seq, hash, at from tenants, lateral (
      select seq, hash, at from audit_records where tenant = tenants.tenant order by seq desc limit 1) as newest
     order by tenant`.execute(db);
  return rows;
}

/** The verdict on every chain, or on that of one tenant. A chain that only the log knows is cut off whole. */
export async function verifyChains(
  db: Db,
  { tenant, heads = [] }: { readonly tenant?: string | undefined; readonly heads?: readonly LoggedHead[] },
): Promise<ReadonlyMap<string, ChainVerdict>> {
  const found = tenant === undefined ? [...(await findHeads(db)), ...heads] : [{ tenant }];
  const verdicts = new Map<string, ChainVerdict>();
  for (const one of new Set(found.map((head) => head.tenant)))
    verdicts.set(one, await verifyChain(db, one, { noted: heads.filter((head) => head.tenant === one) }));
  return verdicts;
}

/**
 * Logs the newest link of each chain that grew within a day. Whoever keeps the logs can show that records were cut off or
 * rewritten since: `npm run audit:verify -- --heads <log file>`.
 */
export const logAuditHeads = defineJob({
  name: 'log-audit-heads',
  cron: '7 * * * *',
  data: z.object({}),
  async run(_data, { db, log, now }: JobContext) {
    const since = now().getTime() - dayMs;
    for (const { tenant, seq, hash, at } of await findHeads(db))
      if (at.getTime() >= since) log.info({ tenant, seq, head: hash }, 'audit head');
  },
});
