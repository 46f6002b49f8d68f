import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { type Kysely, sql } from 'kysely';
import { Secret } from '../../secrets/secret.ts';
import type { Schema } from '../../store/schema.ts';
import { openSlot, type SealedTable, sealRow } from '../keys/sealed-rows.ts';
import type { Sealer, Slot } from '../keys/sealing.ts';
import { type Audit, deployment } from './audit.ts';
import { publicKeyId } from './checkpoint.ts';

export const signingKeysTable: SealedTable = {
  name: 'audit_signing_keys',
  kind: 'audit-signing-key',
  owner: undefined,
  noun: ['key that signs audit checkpoints', 'keys that sign audit checkpoints'],
};

// There is one key, in the tenant of the whole deployment.
const slot: Slot = { tenant: deployment, userId: '', kind: signingKeysTable.kind };

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
  const existing = await findKey(db, sealer);
  if (existing) return existing;
  return db.transaction().execute(async (trx) => {
    await sql`select pg_advisory_xact_lock(hashtextextended('cdn-chatops/audit-signing-key', 0))`.execute(
      trx,
    );
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
  const key = await findKey(db, sealer);
  return key && createPublicKey(key);
}

async function findKey(db: Kysely<Schema>, sealer: Sealer): Promise<KeyObject | undefined> {
  const pem = await openSlot(db, sealer, signingKeysTable, slot);
  return pem && createPrivateKey(pem.reveal());
}
