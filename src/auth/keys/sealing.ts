import { createHmac, type KeyObject, timingSafeEqual } from 'node:crypto';
import { decodeProtectedHeader, FlattenedEncrypt, type FlattenedJWE, flattenedDecrypt } from 'jose';
import { Secret } from '../../secrets/secret.ts';
import type { Keyring, KeyringKey } from '../keyring/keyring.ts';

/** A place that holds one sealed value at a time. */
export interface Slot {
  readonly tenant: string;
  /** Empty where the value belongs to the tenant itself. */
  readonly userId: string;
  readonly kind: string;
}

/** A sealed value opens only with exactly the context it was sealed with. */
export interface SealContext extends Slot {
  readonly version?: number | undefined;
}

export type Sealer = ReturnType<typeof createSealer>;

export interface Signature {
  readonly keyId: string;
  /** HMAC-SHA-256 in hexadecimal. */
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
const wrapping = 'A256GCMKW';
const encryption = 'A256GCM';
const algorithms = { keyManagementAlgorithms: [wrapping], contentEncryptionAlgorithms: [encryption] };

/**
 * Envelope encryption: a fresh data key per value, wrapped by the keyring's primary key, both AES-256-GCM, as a flattened
 * JWE (RFC 7516 §7.2.2). The context is the additional authenticated data, which is not stored: a row that was copied to
 * another person does not open. Stored as `v1.<protected>.<encrypted key>.<iv>.<ciphertext>.<tag>`.
 */
export function createSealer(keyring: Keyring) {
  const requireKey = (keyId: string): KeyringKey => {
    const key = keyring.find(keyId);
    if (key) return key;
    throw new SealError('unknown_key', `The key "${keyId}" of a stored value is not in the keyring.`, keyId);
  };
  return {
    /** The key that new values are sealed under. It may change; `readKeyId` gives the key of a sealed value. */
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
    /** Authenticates facts that are stored in the clear. The order of the parts counts. */
    sign(parts: readonly (string | number)[]): Signature {
      const { id, macKey } = keyring.primary;
      return { keyId: id, mac: macOf(macKey, parts).toString('hex') };
    },
    /** Under every key, the primary first: for what names no key. */
    macs(parts: readonly (string | number)[]): string[] {
      return keyring.ids.map((id) => macOf(requireKey(id).macKey, parts).toString('hex'));
    },
    /** @throws SealError `unknown_key` where the keyring does not hold that key. */
    verify(parts: readonly (string | number)[], { keyId, mac }: Signature): boolean {
      const expected = macOf(requireKey(keyId).macKey, parts);
      const given = Buffer.from(mac, 'hex');
      return given.length === expected.length && timingSafeEqual(given, expected);
    },
  };
}

/** The id of the key that a value was sealed under. @throws SealError where it is no sealed value. */
export function readKeyId(sealed: string): string {
  return readParts(sealed).keyId;
}

function macOf(key: KeyObject, parts: readonly (string | number)[]): Buffer {
  return createHmac('sha256', key).update(JSON.stringify(parts)).digest();
}

/** A list in JSON: two different contexts never give the same bytes, whatever characters are in them. */
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
  if (!keyId || !encryptedKey || !iv || !tag)
    throw new SealError('malformed', 'A stored value is not in the form of a sealed value.');
  return { keyId, jwe: { protected: header, encrypted_key: encryptedKey, iv, ciphertext, tag } };
}

function readHeaderKeyId(text: string): string | undefined {
  try {
    return decodeProtectedHeader({ protected: text }).kid;
  } catch {
    return undefined;
  }
}
