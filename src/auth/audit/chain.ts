import { sql } from 'kysely';
import type { Db } from '../../store/schema.ts';
import { type AuditRecord, findNextAudit, genesisHash, isIntact, readAudit } from './record.ts';

/** A record's number and hash. */
export type Link = { readonly seq: number; readonly hash: string };

/** The newest link of a tenant's chain at some time, as the log has it. */
export type LoggedHead = Link & { readonly tenant: string };

/** The first record of a chain that is wrong. */
export interface Broken {
  readonly tenant: string;
  readonly seq: number;
  /**
   * `missing`: it is gone, `found` has its place. `altered`: its content changed. `unlinked`: it does not follow the one
   * before. `rewritten`: the log names another hash. `cut-off`: it is gone with everything after it, up to a logged head.
   */
  readonly problem: 'missing' | 'altered' | 'unlinked' | 'rewritten' | 'cut-off';
  readonly found?: number;
  /** The logged head that it contradicts. */
  readonly noted?: Link;
}

export type ChainVerdict =
  | { readonly ok: true; readonly records: number; readonly head: string | undefined }
  | { readonly ok: false; readonly broken: Broken };

/**
 * Reads a tenant's chain and reports the first wrong record; a million of them need no more memory than some hundred.
 * Starts at record `since` and trusts the earlier ones. The hashes have no key: an owner of the database can write a new
 * chain, and records that are cut off at the end leave a whole, shorter one. Heads from the log in `noted` detect both.
 */
export async function verifyChain(
  db: Db,
  tenant: string,
  { since = 1, noted = [] }: { readonly since?: number; readonly noted?: readonly Link[] } = {},
): Promise<ChainVerdict> {
  const first = since === 1 ? undefined : await findNextAudit(db, tenant, since - 1);
  const expected = Map.groupBy(noted, ({ seq }) => seq);
  let reached: Link = { seq: since - 1, hash: first?.prevHash ?? genesisHash };
  const findProblem = (record: AuditRecord, seq: number): Omit<Broken, 'tenant' | 'seq'> | undefined => {
    if (record.seq !== seq) return { problem: 'missing', found: record.seq };
    if (record.prevHash !== reached.hash) return { problem: 'unlinked' };
    if (!isIntact(record)) return { problem: 'altered' };
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
