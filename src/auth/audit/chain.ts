import type { Db } from '../../store/schema.ts';
import { type AuditRecord, findNextAudit, genesisHash, isIntact, readAudit } from './record.ts';

/** A record's number and hash. */
export type Link = { readonly seq: number; readonly hash: string };

/** The first record of a chain that is wrong. */
export interface Broken {
  readonly tenant: string;
  readonly seq: number;
  /**
   * `missing`: it is gone, `found` has its place. `altered`: its content changed. `unlinked`: it does not follow the one
   * before. `foreign`: it belongs to another tenant. `rewritten`: a checkpoint names another hash. `cut-off`: it is gone
   * with everything after it, up to a checkpoint.
   */
  readonly problem: 'missing' | 'altered' | 'unlinked' | 'foreign' | 'rewritten' | 'cut-off';
  readonly found?: number;
  /** The checkpoint that it contradicts. */
  readonly noted?: Link;
}

/**
 * Checks a chain record by record, so that a million of them need no more memory than one. `from`: the link up to which
 * it is known to be whole. `noted`: links that checkpoints hold, which the chain must still contain.
 */
export function createChainCheck(
  tenant: string,
  { from = { seq: 0, hash: genesisHash }, noted = [] }: { from?: Link; noted?: readonly Link[] } = {},
) {
  let reached = from;
  const expected = Map.groupBy(noted, ({ seq }) => seq);
  const problemOf = (record: AuditRecord, seq: number): Omit<Broken, 'tenant' | 'seq'> | undefined => {
    if (record.tenant !== tenant) return { problem: 'foreign' };
    if (record.seq !== seq) return { problem: 'missing', found: record.seq };
    if (record.prevHash !== reached.hash) return { problem: 'unlinked' };
    if (!isIntact(record)) return { problem: 'altered' };
    const other = expected.get(seq)?.find(({ hash }) => hash !== record.hash);
    return other && { problem: 'rewritten', noted: other };
  };
  return {
    /** The fault of this record; undefined = it follows. */
    next(record: AuditRecord): Broken | undefined {
      const seq = reached.seq + 1;
      const problem = problemOf(record, seq);
      if (problem) return { tenant, seq, ...problem };
      reached = { seq, hash: record.hash };
      return undefined;
    },
    /** The fault of the chain's end. */
    end(): Broken | undefined {
      const beyond = [...expected.keys()].filter((seq) => seq > reached.seq);
      const noted = expected.get(Math.max(...beyond))?.[0];
      return noted && { tenant, seq: reached.seq + 1, problem: 'cut-off', noted };
    },
    /** How far it is whole. */
    get reached() {
      return reached;
    },
  };
}

export type ChainVerdict =
  | { readonly ok: true; readonly records: number; readonly head: string | undefined }
  | { readonly ok: false; readonly broken: Broken };

/**
 * Reads a tenant's chain and reports the first wrong record. Starts at record `since` and trusts the earlier ones. The
 * hashes have no key: an owner of the database can write a new chain, and records cut off at the end leave a whole,
 * shorter one. The checkpoints in `noted` detect both.
 */
export async function verifyChain(
  db: Db,
  tenant: string,
  { since = 1, noted = [] }: { readonly since?: number; readonly noted?: readonly Link[] } = {},
): Promise<ChainVerdict> {
  const first = since === 1 ? undefined : await findNextAudit(db, tenant, since - 1);
  const from = { seq: since - 1, hash: first?.prevHash ?? genesisHash };
  const check = createChainCheck(tenant, { from, noted });
  for await (const records of readAudit(db, tenant, since - 1)) {
    for (const record of records) {
      const broken = check.next(record);
      if (broken) return { ok: false, broken };
    }
  }
  const broken = check.end();
  if (broken) return { ok: false, broken };
  const { seq, hash } = check.reached;
  return { ok: true, records: seq, head: hash === genesisHash ? undefined : hash };
}
