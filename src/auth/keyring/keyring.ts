import { createSecretKey, hkdfSync, type KeyObject } from 'node:crypto';
import { UserError } from '../../errors.ts';
import { Secret } from '../../secrets/secret.ts';
import { createKeyFile, embeddedKeyFilePath, fileExists, keyBytes, readKeyFile } from './key-file.ts';

export interface KeyringKey {
  readonly id: string;
  readonly key: KeyObject;
  /** Derived from `key`; authenticates the records beside the sealed rows. */
  readonly macKey: KeyObject;
}

/** The keys of the stored rows. The first seals new rows, the others only open older ones. */
export interface Keyring {
  readonly primary: KeyringKey;
  readonly ids: readonly string[];
  find(id: string): KeyringKey | undefined;
}

export interface ReadKeyring {
  readonly keyring: Keyring;
  /** `kid:base64key`, in their order. */
  readonly entries: readonly Secret[];
  /** The file it was read from; undefined = ENCRYPTION_KEYS. */
  readonly path?: string | undefined;
  /** Changes when the file does. */
  readonly stamp?: string | undefined;
  /** Path of a key file that was just made. */
  readonly created?: string | undefined;
  /** For the operator, about the file; the bot runs all the same. */
  readonly warning?: string | undefined;
}

export interface KeyringSource {
  /** `kid:base64key[,kid:base64key…]`, 32 bytes each. */
  readonly keys?: Secret | undefined;
  /** A file with the same; lines also separate. */
  readonly file?: string | undefined;
  /** Else: the directory whose key file is read, and made where there is none. */
  readonly createIn?: string | undefined;
}

const generate = 'echo "k1:$(openssl rand -base64 32)"';

/**
 * Reads the keyring: from `keys`, else from `file`, else from the key file in the directory `createIn`. That one is
 * made where there is none, but not where `inUse` says that rows are already sealed: a new key would open none of them.
 *
 * @throws UserError that names the entry by its position, never by its content.
 */
export async function readKeyring(source: KeyringSource & { inUse?: boolean }): Promise<ReadKeyring> {
  const { keys, file, createIn, inUse = false } = source;
  if (keys) return parseKeyring(keys, 'ENCRYPTION_KEYS');
  if (file !== undefined) return readFrom(file, 'ENCRYPTION_KEYS_FILE');
  if (createIn === undefined) {
    throw new UserError(
      'There is no key to encrypt with.',
      `Set ENCRYPTION_KEYS or ENCRYPTION_KEYS_FILE. A new key: ${generate}`,
    );
  }
  const path = embeddedKeyFilePath(createIn);
  if (inUse && !(await fileExists(path))) {
    throw new UserError(
      `The key file ${path} is missing, and the database holds what was sealed with it. No new key was made.`,
      `Restore ${path} from your backup and start again. If it is lost for good: docs/operating.md, “Lost keyring”.`,
    );
  }
  const made = await createKeyFile(path);
  return { ...(await readFrom(path, path)), created: made ? path : undefined };
}

async function readFrom(path: string, source: string): Promise<ReadKeyring> {
  const { text, warning, stamp } = await readKeyFile(path);
  return { ...parseKeyring(text, source), path, warning, stamp };
}

/**
 * Parses a keyring; `source` names the text in error messages.
 *
 * @throws UserError that names the entry by its position, never by its content.
 */
export function parseKeyring(text: Secret, source: string): Pick<ReadKeyring, 'keyring' | 'entries'> {
  const entries = text
    .reveal()
    .split(/[,\s]+/)
    .filter((entry) => entry !== '');
  const keys = new Map<string, KeyringKey>();
  const positions = new Map<string, number>();
  entries.forEach((entry, index) => {
    const refuse = (problem: string): UserError =>
      new UserError(
        `${source}: entry ${index + 1} ${problem}.`,
        `An entry is kid:base64key. A new one: ${generate}`,
      );
    const colon = entry.indexOf(':');
    if (colon < 0) throw refuse('has no key id: the colon is missing');
    const id = entry.slice(0, colon);
    if (!isKeyId(id)) throw refuse('has a bad key id: 1 to 32 letters, digits, - or _');
    const bytes = decode(entry.slice(colon + 1));
    if (!bytes) throw refuse('holds a key that is not base64');
    if (bytes.length !== keyBytes) throw refuse(`holds a key of ${bytes.length} bytes, not ${keyBytes}`);
    const twice = (what: string, value: string): void => {
      const earlier = positions.get(value);
      if (earlier !== undefined) throw refuse(`repeats the ${what} of entry ${earlier}`);
      positions.set(value, index + 1);
    };
    twice('key id', `id ${id}`);
    twice('key', `key ${bytes.toString('hex')}`);
    keys.set(id, { id, key: createSecretKey(bytes), macKey: macKeyOf(bytes) });
  });
  const primary = keys.values().next().value;
  if (!primary)
    throw new UserError(`${source} holds no key.`, `An entry is kid:base64key. A new one: ${generate}`);
  return {
    keyring: { primary, ids: [...keys.keys()], find: (id) => keys.get(id) },
    entries: entries.map((entry) => new Secret(entry)),
  };
}

export function isKeyId(id: string): boolean {
  return /^[\w-]{1,32}$/.test(id);
}

/** Both alphabets, padded or not; undefined for anything else, which Node's decoder would skip over. */
function decode(text: string): Buffer | undefined {
  return /^[\w+/-]+={0,2}$/.test(text) ? Buffer.from(text, 'base64') : undefined;
}

// One key, one use: authentication and encryption have different keys.
function macKeyOf(bytes: Buffer): KeyObject {
  return createSecretKey(Buffer.from(hkdfSync('sha256', bytes, '', 'cdn-chatops record mac v1', keyBytes)));
}
