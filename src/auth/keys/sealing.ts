import { type CipherKey, createDecipheriv, createHmac, type KeyObject, timingSafeEqual } from 'node:crypto';
import { decodeProtectedHeader, FlattenedEncrypt, type FlattenedJWE, type JWEHeaderParameters } from 'jose';
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
      const { keyId, header, jwe } = readParts(sealed);
      const { key } = requireKey(keyId);
      try {
        return new Secret(decryptJwe(jwe, header, key, bindingOf(context)).toString(), context.kind);
      } catch {
        const problem = 'A stored value does not open: it was altered or belongs elsewhere.';
        throw new SealError('refused', problem, keyId);
      }
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

/** Opens a JWE in this thread: the library's hand-over to other threads costs more than both steps. Throws where altered. */
function decryptJwe(jwe: FlattenedJWE, header: JWEHeaderParameters, key: KeyObject, binding: Buffer): Buffer {
  if (header.alg !== wrapping || header.enc !== encryption) throw new Error('another algorithm');
  const contentKey = decrypt(key, jwe.encrypted_key, header['iv'], header['tag'], '');
  const authenticated = `${jwe.protected}.${binding.toString('base64url')}`;
  return decrypt(contentKey, jwe.ciphertext, jwe.iv, jwe.tag, authenticated);
}

/** AES-256-GCM. All but what is authenticated beside it are in base64url. */
function decrypt(key: CipherKey, ciphertext: unknown, iv: unknown, tag: unknown, beside: string): Buffer {
  const decipher = createDecipheriv('aes-256-gcm', key, bytes(iv), { authTagLength: 16 });
  decipher.setAAD(Buffer.from(beside)).setAuthTag(bytes(tag));
  return Buffer.concat([decipher.update(bytes(ciphertext)), decipher.final()]);
}

function bytes(text: unknown): Buffer {
  return Buffer.from(String(text), 'base64url');
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

function readParts(sealed: string): { keyId: string; header: JWEHeaderParameters; jwe: FlattenedJWE } {
  const [found, ...parts] = sealed.split('.');
  if (found !== format)
    throw new SealError('unknown_version', 'A stored value is sealed in an unknown version.');
  const [protectedHeader, encryptedKey, iv, ciphertext, tag, ...more] = parts;
  // A value has one spelling: otherwise the unused bits at the end of a part could be changed without notice.
  const isCanonical = parts.every((part) => Buffer.from(part, 'base64url').toString('base64url') === part);
  const header = protectedHeader && isCanonical ? readHeader(protectedHeader) : undefined;
  if (
    !protectedHeader ||
    !header?.kid ||
    !encryptedKey ||
    !iv ||
    ciphertext === undefined ||
    !tag ||
    more.length > 0
  )
    throw new SealError('malformed', 'A stored value is not in the form of a sealed value.');
  const jwe = { protected: protectedHeader, encrypted_key: encryptedKey, iv, ciphertext, tag };
  return { keyId: header.kid, header, jwe };
}

function readHeader(text: string): JWEHeaderParameters | undefined {
  try {
    return decodeProtectedHeader({ protected: text });
  } catch {
    // Not JSON: as malformed as a header without a key id.
    return undefined;
  }
}
