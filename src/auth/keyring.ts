import { createSecretKey, type KeyObject, randomBytes } from 'node:crypto';
import { link, mkdir, open, readFile, stat, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { UserError } from '../errors.ts';
import { Secret } from '../secret.ts';

interface KeyringKey {
  readonly id: string;
  readonly key: KeyObject;
}

/** The keys that seal what is stored. New rows are sealed under the first, the others only open older rows. */
export interface Keyring {
  readonly primary: KeyringKey;
  readonly ids: readonly string[];
  find(id: string): KeyringKey | undefined;
}

export interface ReadKeyring {
  readonly keyring: Keyring;
  /** Path of a key file that was just made. */
  readonly created?: string;
  /** What an operator should know about the file; the bot runs all the same. */
  readonly warning?: string;
}

const keyBytes = 32;
const generate = 'echo "k1:$(openssl rand -base64 32)"';

/**
 * Reads the keyring: from `keys` (`kid:base64key[,kid:base64key…]`, 32 bytes each), else from `file` (the same, lines
 * also separate), else from the key file in the directory `createIn`, which is made where there is none (DESIGN §7).
 *
 * @throws UserError that names the entry by its position, never by what is in it.
 */
export async function readKeyring(options: {
  keys?: Secret | undefined;
  file?: string | undefined;
  createIn?: string | undefined;
}): Promise<ReadKeyring> {
  if (options.keys) return { keyring: parse(options.keys, 'ENCRYPTION_KEYS') };
  if (options.file !== undefined) return readFrom(options.file, 'ENCRYPTION_KEYS_FILE');
  if (options.createIn === undefined) {
    throw new UserError(
      'There is no key to encrypt with.',
      `Set ENCRYPTION_KEYS or ENCRYPTION_KEYS_FILE. A new key: ${generate}`,
    );
  }
  const path = join(options.createIn, 'encryption-keys');
  const made = await create(options.createIn, path);
  return { ...(await readFrom(path, path)), ...(made ? { created: path } : {}) };
}

async function readFrom(path: string, source: string): Promise<ReadKeyring> {
  let text: string;
  let mode: number;
  try {
    text = await readFile(path, 'utf8');
    mode = (await stat(path)).mode;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new UserError(
      `The key file ${path} cannot be read (${code ?? 'unknown reason'}).`,
      'Check the path and that the bot may read it.',
    );
  }
  const keyring = parse(new Secret(text), source);
  // Secrets that an orchestrator mounts are often readable by all inside their container: worth a word, not a refusal.
  if (process.platform === 'win32' || (mode & 0o077) === 0) return { keyring };
  return { keyring, warning: `The key file ${path} can be read by others on this machine: chmod 600 it.` };
}

/** Makes the file, whole or not at all, unless there is one; true = made. */
async function create(directory: string, path: string): Promise<boolean> {
  if (await stat(path).catch(() => undefined)) return false;
  await mkdir(directory, { recursive: true, mode: 0o700 });
  // A random id: a key made after the file was lost must not pass for the lost one.
  const entry = `k${randomBytes(4).toString('hex')}:${randomBytes(keyBytes).toString('base64')}\n`;
  const unfinished = `${path}.${randomBytes(4).toString('hex')}.tmp`;
  const handle = await open(unfinished, 'wx', 0o600);
  try {
    await handle.writeFile(entry);
    await handle.sync();
  } finally {
    await handle.close();
  }
  try {
    await link(unfinished, path);
  } catch (error) {
    // Another process was faster; its key is the one.
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  } finally {
    await unlink(unfinished);
  }
  return true;
}

function parse(text: Secret, source: string): Keyring {
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
    if (!/^[\w-]{1,32}$/.test(id)) throw refuse('has a bad key id: 1 to 32 letters, digits, - or _');
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
    keys.set(id, { id, key: createSecretKey(bytes) });
  });
  const primary = keys.values().next().value;
  if (!primary)
    throw new UserError(`${source} holds no key.`, `An entry is kid:base64key. A new one: ${generate}`);
  return { primary, ids: [...keys.keys()], find: (id) => keys.get(id) };
}

/** Both alphabets, padded or not; undefined for anything else, which Node's decoder would skip over. */
function decode(text: string): Buffer | undefined {
  return /^[\w+/-]+={0,2}$/.test(text) ? Buffer.from(text, 'base64') : undefined;
}
