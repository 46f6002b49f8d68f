import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto';
import type { Kysely, Transaction } from 'kysely';
import { Secret } from '../../secrets/secret.ts';
import type { Schema } from '../../store/schema.ts';
import { type Audit, deployment } from '../audit/audit.ts';
import { publicKeyId } from '../audit/checkpoint.ts';
import { addSigningKey, auditKeyKind, findSigningKey, lockSigningKey } from '../audit/checkpoint-queries.ts';
import { type SealContext, type Sealer, readKeyId as sealedUnder } from '../keys/sealing.ts';
import { advanceVersion } from '../keys/versions.ts';

/**
 * The Ed25519 key that signs checkpoints of the audit, made where there is none. It is random and sealed like
 * everything else, not derived from the keyring, so that the public key stays the same when the keyring is rotated.
 */
export async function loadSigningKey(options: {
  db: Kysely<Schema>;
  sealer: Sealer;
  audit: Audit;
  now: () => Date;
}): Promise<KeyObject> {
  const { db, sealer, audit, now } = options;
  const known = await findSealed(db, sealer);
  if (known) return known;
  return db.transaction().execute(async (trx) => {
    await lockSigningKey(trx);
    // Another process may have been quicker.
    const there = await findSealed(trx, sealer);
    if (there) return there;
    const { privateKey, publicKey } = generateKeyPairSync('ed25519');
    const version = await advanceVersion(trx, sealer, slot, now());
    const pem = privateKey.export({ type: 'pkcs8', format: 'pem' });
    const sealed = await sealer.seal(new Secret(pem.toString(), auditKeyKind), contextOf(version));
    const row = { tenant: deployment, sealed, key_id: sealedUnder(sealed), made_at: now(), version };
    await addSigningKey(trx, row);
    await audit.record(
      { tenant: deployment, actor: 'system', event: 'audit-key-made', subject: publicKeyId(publicKey) },
      { in: trx },
    );
    return privateKey;
  });
}

/** The public half; undefined while no checkpoint was ever signed. @throws SealError where it does not open. */
export async function loadPublicSigningKey(
  db: Kysely<Schema>,
  sealer: Sealer,
): Promise<KeyObject | undefined> {
  const key = await findSealed(db, sealer);
  return key && createPublicKey(key);
}

const slot = { tenant: deployment, userId: '', kind: auditKeyKind };

async function findSealed(
  db: Kysely<Schema> | Transaction<Schema>,
  sealer: Sealer,
): Promise<KeyObject | undefined> {
  const row = await findSigningKey(db, deployment);
  if (!row) return undefined;
  return createPrivateKey((await sealer.open(row.sealed, contextOf(row.version))).reveal());
}

function contextOf(version: number): SealContext {
  return { enterprise: '', team: deployment, user: '', kind: auditKeyKind, version };
}
