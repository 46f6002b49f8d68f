import { createHmac, type KeyObject, timingSafeEqual } from 'node:crypto';
import { decodeProtectedHeader, FlattenedEncrypt, type FlattenedJWE, flattenedDecrypt } from 'jose';
import { type RawBuilder, sql } from 'kysely';
import { Secret } from '../../secrets/secret.ts';
import type { Db, Trx } from '../../store/schema.ts';
import type { Keyring, KeyringKey } from '../keyring/keyring.ts';

/** A place that holds one sealed value at a time. `userId` is empty where the value belongs to the tenant itself. */
export interface Slot {
  readonly tenant: string;
  readonly userId: string;
  readonly kind: string;
}

export interface SealContext extends Slot {
  readonly version?: number | undefined;
}

export type Sealer = ReturnType<typeof createSealer>;

export interface Signature {
  readonly keyId: string;
  readonly mac: string;
}

/** `refused`: altered, or of another context. `replayed`: an older copy, or one that was destroyed, was put back. */
export type SealErrorCode = 'malformed' | 'unknown_version' | 'unknown_key' | 'refused' | 'replayed';

export class SealError extends Error {
  override readonly name = 'SealError';
  readonly code: SealErrorCode;
  readonly keyId: string | undefined;

  constructor(code: SealErrorCode, message: string, keyId?: string) {
    super(message);
    this.code = code;
    this.keyId = keyId;
  }
}

const format = 'v1';
const [wrapping, encryption] = ['A256GCMKW', 'A256GCM'];
const algorithms = { keyManagementAlgorithms: [wrapping], contentEncryptionAlgorithms: [encryption] };

/**
 * Envelope encryption: a fresh data key per value, wrapped by the primary key, both AES-256-GCM, as a flattened JWE (RFC 7516
 * §7.2.2). The context is additional authenticated data: a row that was copied to another person does not open.
 */
export function createSealer(keyring: Keyring) {
  const requireKey = (keyId: string): KeyringKey => {
    const key = keyring.find(keyId);
    if (key) return key;
    throw new SealError('unknown_key', `The key "${keyId}" of a stored value is not in the keyring.`, keyId);
  };
  return {
    get keyId(): string {
      return keyring.primary.id;
    },
    async seal(secret: Secret, context: SealContext): Promise<string> {
      const { id, key } = keyring.primary;
      const jwe = await new FlattenedEncrypt(Buffer.from(secret.reveal()))
        .setProtectedHeader({ alg: wrapping, enc: encryption, kid: id })
        .setAdditionalAuthenticatedData(bindingOf(context))
        .encrypt(key);
      return [format, jwe.protected, jwe.encrypted_key, jwe.iv, jwe.ciphertext, jwe.tag].join('.');
    },
    async open(sealed: string, context: SealContext): Promise<Secret> {
      const { keyId, jwe } = readParts(sealed);
      const { key } = requireKey(keyId);
      const aad = bindingOf(context).toString('base64url');
      const opened = await flattenedDecrypt({ ...jwe, aad }, key, algorithms).catch(() => {
        const problem = 'A stored value does not open: it was altered or belongs elsewhere.';
        throw new SealError('refused', problem, keyId);
      });
      return new Secret(Buffer.from(opened.plaintext).toString(), context.kind);
    },
    sign(parts: readonly (string | number)[]): Signature {
      const { id, macKey } = keyring.primary;
      return { keyId: id, mac: macOf(macKey, parts).toString('hex') };
    },
    /** Under every key, the primary first: for what names no key. */
    macs(parts: readonly (string | number)[]): string[] {
      return keyring.ids.map((id) => macOf(requireKey(id).macKey, parts).toString('hex'));
    },
    verify(parts: readonly (string | number)[], { keyId, mac }: Signature): boolean {
      const expected = macOf(requireKey(keyId).macKey, parts);
      const given = Buffer.from(mac, 'hex');
      return given.length === expected.length && timingSafeEqual(given, expected);
    },
  };
}

export function readKeyId(sealed: string): string {
  return readParts(sealed).keyId;
}

function macOf(key: KeyObject, parts: readonly (string | number)[]): Buffer {
  return createHmac('sha256', key).update(JSON.stringify(parts)).digest();
}

/** A list in JSON: two contexts never give the same bytes. */
function bindingOf({ tenant, userId, kind, version = 0 }: SealContext): Buffer {
  return Buffer.from(JSON.stringify(['cdn-chatops', format, kind, tenant, userId, version]));
}

function readParts(sealed: string): { readonly keyId: string; readonly jwe: FlattenedJWE } {
  const [found, ...parts] = sealed.split('.');
  if (found !== format)
    throw new SealError('unknown_version', 'A stored value is sealed in an unknown version.');
  const [header = '', encryptedKey = '', iv = '', ciphertext = '', tag = ''] = parts;
  // A value has one spelling: otherwise the unused bits at the end of a part could be changed without notice.
  const isCanonical = parts.every((part) => Buffer.from(part, 'base64url').toString('base64url') === part);
  const keyId = parts.length === 5 && isCanonical ? readHeaderKeyId(header) : undefined;
  if (!keyId) throw new SealError('malformed', 'A stored value is not in the form of a sealed value.');
  return { keyId, jwe: { protected: header, encrypted_key: encryptedKey, iv, ciphertext, tag } };
}

function readHeaderKeyId(text: string): string | undefined {
  try {
    return decodeProtectedHeader({ protected: text }).kid;
  } catch {
    return undefined;
  }
}

// `sealed_versions` holds the newest version of each slot: an older copy that is put back does not open.

/** A table whose rows are sealed under keys of the keyring. Each subject exports its own; the app has the list of all. */
export interface SealedTable {
  readonly name: 'linked_keys' | 'installations' | 'operation_values';
  readonly kind: string;
  readonly owner: 'user_id' | 'owner_id' | undefined;
  readonly noun: readonly [one: string, many: string];
}

export interface VersionedRow {
  readonly sealed: string;
  readonly version: number;
  readonly newest: number | null;
}

export type Owner = Pick<Slot, 'tenant' | 'userId'>;

export function newestVersion(table: SealedTable) {
  return sql<number | null>`(
    select newest.version from sealed_versions newest
     where newest.tenant = ${sql.ref(`${table.name}.tenant`)} and newest.user_id = ${ownerColumn(table)}
       and newest.kind = ${table.kind})`.as('newest');
}

export function ownerColumn({ name, owner }: SealedTable): RawBuilder<string> {
  return owner === undefined ? sql`''::text` : sql.ref(`${name}.${owner}`);
}

/** Seals a value as the newest of its slot; every older one becomes void. */
export async function sealRow(trx: Trx, sealer: Sealer, secret: Secret, slot: Slot, now: Date) {
  const version = await advanceVersion(trx, slot, now);
  const sealed = await sealer.seal(secret, { ...slot, version });
  return { sealed, key_id: readKeyId(sealed), version };
}

/** @throws SealError `replayed` where the row is not the newest of its slot. */
export async function openRow(sealer: Sealer, row: VersionedRow, slot: Slot): Promise<Secret> {
  const { sealed, version, newest } = row;
  if (newest !== version)
    throw new SealError('replayed', 'A stored value is not the newest: an older copy was put back.');
  return sealer.open(sealed, { ...slot, version });
}

/** Undefined if the slot is empty. @throws SealError */
export async function openSlot(
  db: Db,
  sealer: Sealer,
  table: SealedTable,
  { tenant, userId }: Owner,
): Promise<Secret | undefined> {
  const { rows } = await sql<VersionedRow>`
    select sealed, version, ${newestVersion(table)} from ${sql.table(table.name)}
     where tenant = ${tenant} and ${ownerColumn(table)} = ${userId}`.execute(db);
  return rows[0] && openRow(sealer, rows[0], { tenant, userId, kind: table.kind });
}

/** Destroys the row of a slot and voids every copy of it; false if it is missing. */
export async function destroySlot(trx: Trx, table: SealedTable, owner: Owner, now: Date): Promise<boolean> {
  const { tenant, userId } = owner;
  // The version first, as everywhere, so that no two transactions wait for each other.
  await advanceVersion(trx, { tenant, userId, kind: table.kind }, now);
  const { numAffectedRows = 0n } = await sql`
    delete from ${sql.table(table.name)} where tenant = ${tenant} and ${ownerColumn(table)} = ${userId}`.execute(
    trx,
  );
  return numAffectedRows > 0n;
}

/** Voids every version of a slot and returns a new one, from the clock's milliseconds on. Others wait for the slot. */
async function advanceVersion(trx: Trx, { tenant, userId, kind }: Slot, now: Date): Promise<number> {
  const { version } = await trx
    .insertInto('sealed_versions')
    .values({ tenant, user_id: userId, kind, version: now.getTime() })
    .onConflict((conflict) =>
      conflict
        .columns(['tenant', 'user_id', 'kind'])
        .doUpdateSet({ version: sql<number>`greatest(excluded.version, sealed_versions.version + 1)` }),
    )
    .returning('version')
    .executeTakeFirstOrThrow();
  return version;
}
