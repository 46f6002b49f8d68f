import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { toUtcDay } from '../../lib/time.ts';
import { Secret } from '../../secrets/secret.ts';
import { takeLock } from '../../store/database.ts';
import type { Db, Trx } from '../../store/schema.ts';
import { openSlot, type SealedTable, sealRow } from '../keys/sealed-rows.ts';
import type { Sealer } from '../keys/sealing.ts';
import { findPolicyTenants, type Policies } from '../policy/policies.ts';
import { type Audit, deployment } from './audit.ts';
import { type Broken, verifyChain } from './chain.ts';
import {
  type Checkpoint,
  findLastCheckpoint,
  publicKeyId,
  signCheckpoint,
  writeCheckpoint,
  writePublicKey,
} from './checkpoint.ts';
import { findRecentAudit } from './record.ts';

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

export type Checkpoints = ReturnType<typeof createCheckpoints>;

interface Options {
  readonly db: Db;
  readonly sealer: Sealer;
  readonly audit: Audit;
  readonly policies: Policies;
  readonly now: () => Date;
}

/** Signed notes of each tenant's chain, one a day, for a channel that the settings name. */
export function createCheckpoints(options: Options) {
  const { db, policies, now } = options;
  return {
    tenants: () => findPolicyTenants(db),
    /**
     * Makes today's, and claims it together with the message that `putMessage` stores. Undefined where none is wanted, it
     * is claimed already, or nothing was recorded since the last.
     */
    async claim(
      tenant: string,
      putMessage: (trx: Trx, claim: CheckpointClaim) => Promise<unknown>,
    ): Promise<CheckpointClaim | undefined> {
      const { auditChannel: channel } = await policies.current(tenant);
      if (channel === undefined) return undefined;
      const at = now();
      const day = toUtcDay(at);
      const claimed = await db
        .selectFrom('audit_checkpoints')
        .select('state')
        .where((is) => is.and({ tenant, day }))
        .executeTakeFirst();
      if (claimed && claimed.state !== 'failed') return undefined;
      const report = await makeReport(tenant, options);
      const signed = report?.kind === 'signed' ? report.checkpoint : {};
      const columns = {
        channel,
        at,
        state: report ? 'sending' : 'unchanged',
        code: null,
        ...signed,
      } as const;
      return db.transaction().execute(async (trx) => {
        const { numInsertedOrUpdatedRows = 0n } = await trx
          .insertInto('audit_checkpoints')
          .values({ tenant, day, ...columns })
          .onConflict((conflict) =>
            conflict
              .columns(['tenant', 'day'])
              .doUpdateSet(columns)
              .where('audit_checkpoints.state', '=', 'failed'),
          )
          .executeTakeFirst();
        if (numInsertedOrUpdatedRows === 0n || !report) return undefined;
        const claim = { tenant, day, channel, at, report };
        await putMessage(trx, claim);
        return claim;
      });
    },
    /** Stores how posting it ended. */
    async recordResult(
      trx: Db,
      { tenant, day, kind }: { tenant: string; day: string; kind: CheckpointReport['kind'] },
      { state, code }: CheckpointResult,
    ): Promise<void> {
      const kept = kind === 'broken' && state !== 'failed' ? 'broken' : state;
      await trx
        .updateTable('audit_checkpoints')
        .set({ state: kept, code: code ?? null })
        .where((is) => is.and({ tenant, day }))
        .execute();
    },
  };
}

/** Reads the chain from the last checkpoint on; before that it held. Undefined = nothing is new. */
async function makeReport(tenant: string, options: Options): Promise<CheckpointReport | undefined> {
  const { db, now } = options;
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
}

export const signingKeysTable: SealedTable = {
  name: 'audit_signing_keys',
  kind: 'audit-signing-key',
  owner: undefined,
  noun: ['key that signs audit checkpoints', 'keys that sign audit checkpoints'],
};

// There is one key, in the tenant of the whole deployment.
const slot = { tenant: deployment, userId: '', kind: signingKeysTable.kind };

/**
 * The Ed25519 key that signs checkpoints of the audit, made where there is none. It is random and sealed like
 * everything else, not derived from the keyring, so that the public key stays the same when the keyring is rotated.
 */
export async function loadSigningKey(options: Omit<Options, 'policies'>): Promise<KeyObject> {
  const { db, sealer, audit, now } = options;
  const existing = await findKey(db, sealer);
  if (existing) return existing;
  return db.transaction().execute(async (trx) => {
    await takeLock(trx, 'audit-signing-key');
    // Another process may have been quicker.
    const made = await findKey(trx, sealer);
    if (made) return made;
    const { privateKey, publicKey } = generateKeyPairSync('ed25519');
    const pem = privateKey.export({ type: 'pkcs8', format: 'pem' });
    const secret = new Secret(pem.toString(), signingKeysTable.kind);
    const sealed = await sealRow(trx, sealer, secret, slot, now());
    await trx
      .insertInto('audit_signing_keys')
      .values({ tenant: deployment, made_at: now(), ...sealed })
      .execute();
    await audit.record(
      { tenant: deployment, actor: 'system', event: 'audit-key-made', subject: publicKeyId(publicKey) },
      trx,
    );
    return privateKey;
  });
}

/** The public half; undefined while no checkpoint was ever signed. @throws SealError where it does not open. */
export async function loadPublicSigningKey(db: Db, sealer: Sealer): Promise<KeyObject | undefined> {
  const key = await findKey(db, sealer);
  return key && createPublicKey(key);
}

async function findKey(db: Db, sealer: Sealer): Promise<KeyObject | undefined> {
  const pem = await openSlot(db, sealer, signingKeysTable, slot);
  return pem && createPrivateKey(pem.reveal());
}
