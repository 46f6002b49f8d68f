import { errors, FlattenedEncrypt, flattenedDecrypt } from 'jose';
import { Secret } from '../secret.ts';
import type { Keyring } from './keyring.ts';

/** What a sealed value belongs to. It opens only with exactly the context it was sealed with. */
export interface SealContext {
  readonly enterprise: string;
  readonly team: string;
  readonly user: string;
  /** What it is: `cdn-key`, `installation`, … */
  readonly kind: string;
}

export interface Sealer {
  /** The key that new values are sealed under. */
  readonly keyId: string;
  seal(secret: Secret, context: SealContext): Promise<string>;
  /** @throws SealError */
  open(sealed: string, context: SealContext): Promise<Secret>;
}

/** `unknown_key`: sealed under a key that the keyring does not hold. `refused`: altered, or of another context. */
export type SealErrorCode = 'malformed' | 'unknown_version' | 'unknown_key' | 'refused';

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
 * Envelope encryption (DESIGN §7): a fresh data key a value, wrapped by the keyring's primary key, both AES-256-GCM, as
 * a flattened JWE (RFC 7516 §7.2.2). The context is the additional authenticated data: left out of what is stored and
 * supplied again at opening, so a row that was copied to another person fails by itself.
 * Stored as `v1.<protected>.<encrypted key>.<iv>.<ciphertext>.<tag>`.
 */
export function createSealer(keyring: Keyring): Sealer {
  return {
    keyId: keyring.primary.id,
    async seal(secret, context) {
      const jwe = await new FlattenedEncrypt(Buffer.from(secret.reveal()))
        .setProtectedHeader({ alg: wrapping, enc: encryption, kid: keyring.primary.id })
        .setAdditionalAuthenticatedData(bindingOf(context))
        .encrypt(keyring.primary.key);
      return [version, jwe.protected, jwe.encrypted_key, jwe.iv, jwe.ciphertext, jwe.tag].join('.');
    },
    async open(sealed, context) {
      const parts = readParts(sealed);
      const key = keyring.find(parts.keyId);
      if (!key) {
        throw new SealError(
          'unknown_key',
          `A stored value is sealed under the key "${parts.keyId}", which is not in the keyring.`,
          parts.keyId,
        );
      }
      try {
        const { plaintext } = await flattenedDecrypt(
          { ...parts.jwe, aad: Buffer.from(bindingOf(context)).toString('base64url') },
          key.key,
          { keyManagementAlgorithms: [wrapping], contentEncryptionAlgorithms: [encryption] },
        );
        return new Secret(Buffer.from(plaintext).toString());
      } catch (error) {
        if (!(error instanceof errors.JOSEError)) throw error;
        throw new SealError(
          'refused',
          'A stored value does not open: it was altered or belongs elsewhere.',
          key.id,
        );
      }
    },
  };
}

/** A list in JSON: two different contexts never give the same bytes, whatever characters are in them. */
function bindingOf({ enterprise, team, user, kind }: SealContext): Uint8Array {
  return Buffer.from(JSON.stringify(['cdn-chatops', version, kind, enterprise, team, user]));
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
    keyId: readKeyId(header),
    jwe: { protected: header, encrypted_key: encryptedKey, iv, ciphertext, tag },
  };
}

function readKeyId(header: string): string {
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
