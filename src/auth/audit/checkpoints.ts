import { createPublicKey } from 'node:crypto';
import type { Insertable, Kysely, Transaction } from 'kysely';
import type { Schema } from '../../store/schema.ts';
import type { Sealer } from '../keys/sealing.ts';
import { findPolicyTenants, type Policies } from '../policy/policies.ts';
import type { Audit } from './audit.ts';
import { type Broken, verifyChain } from './chain.ts';
import {
  type Checkpoint,
  type CheckpointRow,
  findLastCheckpoint,
  signCheckpoint,
  writeCheckpoint,
  writePublicKey,
} from './checkpoint.ts';
import { findRecentAudit } from './record.ts';
import { loadSigningKey } from './signing-key.ts';

/** The daily checkpoint of a tenant, claimed by one process. */
export interface CheckpointClaim {
  readonly tenant: string;
  readonly day: string;
  readonly channel: string;
  readonly at: Date;
  readonly report: CheckpointReport;
}

export type CheckpointReport =
  | {
      readonly kind: 'signed';
      readonly checkpoint: Checkpoint;
      /** As `npm run audit:verify` reads it. */
      readonly line: string;
      readonly publicKey: string;
    }
  /** The chain does not hold, so there is nothing to sign. */
  | { readonly kind: 'broken'; readonly broken: Broken };

/** How posting it ended. `failed` is tried again within the day, `unknown` is not. */
export interface CheckpointResult {
  readonly state: 'posted' | 'failed' | 'unknown';
  readonly code?: string | undefined;
}

/** Signed notes of each tenant's chain, one a day, for a channel that the settings name. */
export interface Checkpoints {
  /** The tenants that have settings. */
  tenants(): Promise<string[]>;
  /**
   * Makes today's, and claims it together with the message that `announce` stores. Undefined where none is wanted, it is
   * claimed already, or nothing was recorded since the last.
   */
  take(
    tenant: string,
    announce: (trx: Transaction<Schema>, claim: CheckpointClaim) => Promise<unknown>,
  ): Promise<CheckpointClaim | undefined>;
  /** Stores how posting it ended. */
  settle(
    db: Kysely<Schema>,
    claim: { readonly tenant: string; readonly day: string; readonly kind: CheckpointReport['kind'] },
    end: CheckpointResult,
  ): Promise<void>;
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
    async take(tenant, announce) {
      const { auditChannel: channel } = await policies.current(tenant, { fresh: true });
      if (channel === undefined) return undefined;
      const at = now();
      const day = at.toISOString().slice(0, 10);
      if (await isCheckpointClaimed(db, { tenant, day })) return undefined;
      const report = await make(tenant);
      const signed = report?.kind === 'signed' ? signedColumns(report.checkpoint) : {};
      return db.transaction().execute(async (trx) => {
        const row = { tenant, day, channel, at, state: report ? 'sending' : 'unchanged', ...signed } as const;
        if (!(await claimCheckpoint(trx, row)) || !report) return undefined;
        const claim = { tenant, day, channel, at, report };
        await announce(trx, claim);
        return claim;
      });
    },
    async settle(db, { kind, ...claim }, { state, code }) {
      const kept = kind === 'broken' && state !== 'failed' ? 'broken' : state;
      await updateCheckpoint(db, claim, { state: kept, code: code ?? null });
    },
  };
}

function signedColumns({ seq, head, kid, signature, at }: Checkpoint) {
  return { seq, head, kid, signature, at };
}

/** Whether a tenant's checkpoint of a day was claimed. One that Slack refused may be claimed again. */
async function isCheckpointClaimed(
  db: Kysely<Schema>,
  { tenant, day }: { readonly tenant: string; readonly day: string },
): Promise<boolean> {
  const row = await db
    .selectFrom('audit_checkpoints')
    .select('state')
    .where('tenant', '=', tenant)
    .where('day', '=', day)
    .executeTakeFirst();
  return row !== undefined && row.state !== 'failed';
}

/** Claims a tenant's checkpoint of a day, for one caller among all processes; false = it is claimed. */
async function claimCheckpoint(
  db: Kysely<Schema>,
  row: Insertable<Schema['audit_checkpoints']>,
): Promise<boolean> {
  const { tenant: _tenant, day: _day, ...columns } = row;
  const { numInsertedOrUpdatedRows = 0n } = await db
    .insertInto('audit_checkpoints')
    .values(row)
    .onConflict((conflict) =>
      conflict
        .columns(['tenant', 'day'])
        .doUpdateSet({ ...columns, code: null })
        .where('audit_checkpoints.state', '=', 'failed'),
    )
    .executeTakeFirst();
  return numInsertedOrUpdatedRows > 0n;
}

async function updateCheckpoint(
  db: Kysely<Schema>,
  { tenant, day }: { readonly tenant: string; readonly day: string },
  change: Partial<Pick<CheckpointRow, 'state' | 'code' | 'seq' | 'head' | 'at' | 'kid' | 'signature'>>,
): Promise<void> {
  await db
    .updateTable('audit_checkpoints')
    .set(change)
    .where('tenant', '=', tenant)
    .where('day', '=', day)
    .execute();
}
