import { createPublicKey } from 'node:crypto';
import type { Kysely } from 'kysely';
import type { Schema } from '../../store/schema.ts';
import { loadSigningKey } from '../keyring/signing-key.ts';
import type { Sealer } from '../keys/sealing.ts';
import type { Policies } from '../policy/policies.ts';
import { findPolicyTenants } from '../policy/queries.ts';
import type { Audit } from './audit.ts';
import { type Broken, verifyChain } from './chain.ts';
import { type Checkpoint, signCheckpoint, writeCheckpoint, writePublicKey } from './checkpoint.ts';
import { claimCheckpoint, findLastCheckpoint, updateCheckpoint } from './checkpoint-queries.ts';
import { findRecentAudit } from './queries.ts';

/** The daily checkpoint of a tenant, taken by one process. */
export interface CheckpointClaim {
  readonly tenant: string;
  readonly day: string;
  readonly channel: string;
}

/** What is to be posted. */
export type CheckpointReport =
  | {
      readonly kind: 'signed';
      readonly checkpoint: Checkpoint;
      /** The same as `npm run audit:verify` reads it. */
      readonly line: string;
      readonly publicKey: string;
    }
  /** The chain does not hold, so there is nothing to sign. */
  | { readonly kind: 'broken'; readonly broken: Broken };

/** What became of posting it. `failed` is tried again within the day, `unknown` is not. */
export interface CheckpointResult {
  readonly state: 'posted' | 'failed' | 'unknown';
  readonly code?: string;
}

/** Signed notes of each tenant's chain, one a day, for a channel that the settings name. */
export interface Checkpoints {
  /** The tenants that have settings. */
  tenants(): Promise<string[]>;
  /** Takes today's and makes it; undefined where none is wanted, it is taken, or nothing was recorded since the last. */
  take(tenant: string): Promise<{ turn: CheckpointClaim; news: CheckpointReport } | undefined>;
  /** To be called after posting, whatever came of it. */
  settle(turn: CheckpointClaim, news: CheckpointReport, end: CheckpointResult): Promise<void>;
}

export function createCheckpoints(options: {
  db: Kysely<Schema>;
  sealer: Sealer;
  audit: Audit;
  policies: Policies;
  now: () => Date;
}): Checkpoints {
  const { db, policies, now } = options;

  /** Reads the chain from the last checkpoint on; before that it held. */
  const make = async (tenant: string): Promise<CheckpointReport | undefined> => {
    const last = await findLastCheckpoint(db, tenant);
    const noted = last && { seq: last.seq, hash: last.head };
    const [newest] = await findRecentAudit(db, tenant, 1);
    if (newest?.seq === noted?.seq && newest?.hash === noted?.hash) return undefined;
    const verdict = await verifyChain(db, tenant, noted ? { since: noted.seq, noted: [noted] } : {});
    if (!verdict.ok) return { kind: 'broken', broken: verdict.broken };
    const { records: seq, head } = verdict;
    if (head === undefined) return undefined;
    const key = await loadSigningKey(options);
    const checkpoint = signCheckpoint({ tenant, seq, head, at: now() }, key);
    const publicKey = writePublicKey(createPublicKey(key));
    return { kind: 'signed', checkpoint, line: writeCheckpoint(checkpoint), publicKey };
  };

  return {
    tenants: () => findPolicyTenants(db),
    async take(tenant) {
      const { auditChannel: channel } = await policies.current(tenant, { fresh: true });
      if (channel === undefined) return undefined;
      const at = now();
      const turn = { tenant, day: at.toISOString().slice(0, 10), channel };
      if (!(await claimCheckpoint(db, { ...turn, at }))) return undefined;
      try {
        const news = await make(tenant);
        if (!news) await updateCheckpoint(db, turn, { state: 'unchanged' });
        else if (news.kind === 'signed') {
          const { seq, head, kid, signature, at } = news.checkpoint;
          await updateCheckpoint(db, turn, { seq, head, kid, signature, at });
        }
        return news && { turn, news };
      } catch (error) {
        // Nothing was posted, so the next run takes it again.
        await updateCheckpoint(db, turn, { state: 'failed', code: 'not_made' });
        throw error;
      }
    },
    async settle(turn, { kind }, { state, code }) {
      const kept = kind === 'broken' && state !== 'failed' ? 'broken' : state;
      await updateCheckpoint(db, turn, { state: kept, code: code ?? null });
    },
  };
}
