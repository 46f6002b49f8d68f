import { createHmac, type KeyObject, timingSafeEqual } from 'node:crypto';
import { errors, FlattenedEncrypt, flattenedDecrypt } from 'jose';
import { Secret } from '../../secrets/secret.ts';
import type { Keyring, KeyringKey } from '../keyring/keyring.ts';

/** The owner and kind of a sealed value. It opens only with exactly the context it was sealed with. */
export interface SealContext {
  readonly enterprise: string;
  readonly team: string;
  readonly user: string;
  /** `cdn-key`, `installation`, … */
  readonly kind: string;
  /** The version of a stored row (`sealed-rows.ts`). */
  readonly version?: number | undefined;
}

export interface Sealer {
  /** The key that new values are sealed under. It may change; `readKeyId` gives the key of a sealed value. */
  readonly keyId: string;
  seal(secret: Secret, context: SealContext): Promise<string>;
  /** @throws SealError */
  open(sealed: string, context: SealContext): Promise<Secret>;
  /** Authenticates facts that are stored in the clear. The order of the parts counts. */
  sign(parts: readonly (string | number)[]): Signature;
  /** @throws SealError `unknown_key` where the keyring does not hold that key. */
  verify(parts: readonly (string | number)[], signature: Signature): boolean;
}

export interface Signature {
  readonly keyId: string;
  /** HMAC-SHA-256 in hexadecimal. */
  readonly mac: string;
}

/**
 * `unknown_key`: sealed under a key that the keyring does not hold. `refused`: altered, or of another context.
 * `replayed`: an older copy, or one that was destroyed, was put back.
 */
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

const version = 'v1';
const wrapping = 'A256GCMKW';
const encryption = 'A256GCM';

/**
 * Envelope encryption: a fresh data key per value, wrapped by the keyring's primary key, both AES-256-GCM, as
 * a flattened JWE (RFC 7516 §7.2.2). The context is the additional authenticated data: left out of what is stored and
 * supplied again at opening, so a row that was copied to another person fails by itself.
 * Stored as `v1.<protected>.<encrypted key>.<iv>.<ciphertext>.<tag>`.
 */
export function createSealer(keyring: Keyring): Sealer {
  const requireKey = (keyId: string): KeyringKey => {
    const key = keyring.find(keyId);
    if (key) return key;
    throw new SealError(
      'unknown_key',
      `A stored value is sealed under the key "${keyId}", which is not in the keyring.`,
      keyId,
    );
  };
  return {
    get keyId() {
      return keyring.primary.id;
    },
    async seal(secret, context) {
      const { id, key } = keyring.primary;
      const jwe = await new FlattenedEncrypt(Buffer.from(secret.reveal()))
        .setProtectedHeader({ alg: wrapping, enc: encryption, kid: id })
        .setAdditionalAuthenticatedData(bindingOf(context))
        .encrypt(key);
      return [version, jwe.protected, jwe.encrypted_key, jwe.iv, jwe.ciphertext, jwe.tag].join('.');
    },
    async open(sealed, context) {
      const parts = readParts(sealed);
      const key = requireKey(parts.keyId);
      try {
        const { plaintext } = await flattenedDecrypt(
          { ...parts.jwe, aad: Buffer.from(bindingOf(context)).toString('base64url') },
          key.key,
          { keyManagementAlgorithms: [wrapping], contentEncryptionAlgorithms: [encryption] },
        );
        return new Secret(Buffer.from(plaintext).toString(), context.kind);
      } catch (error) {
        if (!(error instanceof errors.JOSEError)) throw error;
        throw new SealError(
          'refused',
          'A stored value does not open: it was altered or belongs elsewhere.',
          key.id,
        );
      }
    },
    sign(parts) {
      const { id, macKey } = keyring.primary;
      return { keyId: id, mac: macOf(macKey, parts).toString('hex') };
    },
    verify(parts, { keyId, mac }) {
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

/** The same parts under the same key give the same bytes. */
function macOf(key: KeyObject, parts: readonly (string | number)[]): Buffer {
  return createHmac('sha256', key).update(JSON.stringify(parts)).digest();
}

/** A list in JSON: two different contexts never give the same bytes, whatever characters are in them. */
function bindingOf({ enterprise, team, user, kind, version: row = 0 }: SealContext): Uint8Array {
  return Buffer.from(JSON.stringify(['cdn-chatops', version, kind, enterprise, team, user, row]));
}

function readParts(sealed: string): { keyId: string; jwe: Parameters<typeof flattenedDecrypt>[0] } {
  const [found, ...parts] = sealed.split('.');
  if (found !== version)
    throw new SealError('unknown_version', 'A stored value is sealed in an unknown version.');
  const [header, encryptedKey, iv, ciphertext, tag, ...more] = parts;
  if (!header || !encryptedKey || !iv || ciphertext === undefined || !tag || more.length > 0)
    throw malformed();
  // A value has one spelling: otherwise the unused bits at the end of a part could be changed without notice.
  if (!parts.every((part) => Buffer.from(part, 'base64url').toString('base64url') === part))
    throw malformed();
  return {
    keyId: readKeyIdOfHeader(header),
    jwe: { protected: header, encrypted_key: encryptedKey, iv, ciphertext, tag },
  };
}

function readKeyIdOfHeader(header: string): string {
  try {
    const parsed: unknown = JSON.parse(Buffer.from(header, 'base64url').toString());
    if (typeof parsed === 'object' && parsed !== null && 'kid' in parsed && typeof parsed.kid === 'string') {
      return parsed.kid;
    }
  } catch {
    // Not JSON: as malformed as a header without a key id.
  }
  throw malformed();
}

function malformed(): SealError {
  return new SealError('malformed', 'A stored value is not in the form of a sealed value.');
}
