import { exec } from 'node:child_process';
import { createSecretKey, hkdfSync, type KeyObject, randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { UserError } from '../../errors.ts';
import { Secret } from '../../secrets/secret.ts';

export interface KeyringKey {
  readonly id: string;
  readonly key: KeyObject;
  readonly macKey: KeyObject;
  readonly entry: Secret;
}

/** The first key seals new rows, all of them open. */
export interface Keyring {
  readonly primary: KeyringKey;
  readonly ids: readonly string[];
  find(id: string): KeyringKey | undefined;
}

export interface ReadKeyring {
  readonly keyring: Keyring;
  readonly keys: readonly KeyringKey[];
  readonly source: string;
  readonly path?: string;
  readonly created?: string | undefined;
  readonly warning?: string | undefined;
}

export interface KeyringSource {
  readonly keys?: Secret | undefined;
  readonly file?: string | undefined;
  readonly command?: string | undefined;
  readonly createIn?: string | undefined;
}

const keyBytes = 32;
const howToMakeKey = 'echo "k1:$(openssl rand -base64 32)", or npm run keys -- new';

/**
 * Reads the keyring. Only a missing key file in `createIn` is created, and never while rows are sealed (`inUse`).
 * @throws UserError that never names an entry's content.
 */
export async function readKeyring(given: KeyringSource & { inUse?: boolean }): Promise<ReadKeyring> {
  const { keys, file, command, createIn, inUse = false } = given;
  if (keys) return parseKeyring(keys, 'ENCRYPTION_KEYS');
  if (file !== undefined) return readFrom(file, 'ENCRYPTION_KEYS_FILE');
  if (command !== undefined) return parseKeyring(await runCommand(command), 'ENCRYPTION_KEYS_COMMAND');
  if (createIn === undefined) {
    throw new UserError(
      'There is no key to encrypt with.',
      `Set ENCRYPTION_KEYS, ENCRYPTION_KEYS_FILE or ENCRYPTION_KEYS_COMMAND. A new key: ${howToMakeKey}`,
    );
  }
  const path = join(createIn, 'encryption-keys');
  if (inUse && !existsSync(path)) {
    throw new UserError(
      `The key file ${path} is missing, but the database holds values sealed with it. No new key was made.`,
      `Restore ${path} from your backup and start again. If it is lost for good: docs/operating.md, “Lost keyring”.`,
    );
  }
  const made = await createKeyFile(path);
  return { ...(await readFrom(path, path)), created: made ? path : undefined };
}

const commandTimeoutMs = 30_000;

async function runCommand(command: string): Promise<Secret> {
  try {
    return new Secret((await promisify(exec)(command, { timeout: commandTimeoutMs })).stdout);
  } catch (error) {
    const { code, killed } = error as { code?: unknown; killed?: boolean };
    // What it printed may hold a key.
    throw new UserError(
      `ENCRYPTION_KEYS_COMMAND ${killed ? 'did not finish within 30 seconds' : `failed (${String(code)})`}.`,
      'Run it in a terminal, as the user that the bot runs as.',
    );
  }
}

async function readFrom(path: string, source: string): Promise<ReadKeyring> {
  const reading = Promise.all([stat(path), readFile(path, 'utf8')]);
  const [{ mode }, text] = await reading.catch(({ code }: NodeJS.ErrnoException) => {
    throw new UserError(
      `The key file ${path} cannot be read (${code}).`,
      'Check the path (ENCRYPTION_KEYS_FILE, or DATA_DIR where that is not set) and that the bot may read it.',
    );
  });
  const isPrivate = process.platform === 'win32' || (mode & 0o077) === 0;
  const warning = `The key file ${path} can be read by others on this machine: chmod 600 it.`;
  return {
    ...parseKeyring(new Secret(text), source),
    source: path,
    path,
    warning: isPrivate ? undefined : warning,
  };
}

export function parseKeyring(text: Secret, source: string): ReadKeyring {
  const form = `An entry is kid:base64key. A new one: ${howToMakeKey}`;
  const keys: KeyringKey[] = [];
  for (const entry of text.reveal().match(/[^,\s]+/g) ?? []) {
    const refuse = (problem: string): UserError =>
      new UserError(`${source}: entry ${keys.length + 1} ${problem}.`, form);
    const [id = '', encoded] = entry.split(/:(.*)/);
    if (encoded === undefined) throw refuse('has no key ID: the colon is missing');
    if (!isKeyId(id)) throw refuse('has a bad key ID: 1 to 32 letters, digits, - or _');
    if (!/^[\w+/-]+={0,2}$/.test(encoded)) throw refuse('holds a key that is not base64');
    const bytes = Buffer.from(encoded, 'base64');
    if (bytes.length !== keyBytes) throw refuse(`holds a key of ${bytes.length} bytes, not ${keyBytes}`);
    const key = createSecretKey(bytes);
    const sameId = keys.findIndex((earlier) => earlier.id === id);
    if (sameId >= 0) throw refuse(`repeats the key ID of entry ${sameId + 1}`);
    const sameKey = keys.findIndex((earlier) => earlier.key.equals(key));
    if (sameKey >= 0) throw refuse(`repeats the key of entry ${sameKey + 1}`);
    // One key, one use: authentication and encryption have different keys.
    const macBytes = hkdfSync('sha256', bytes, '', 'cdn-chatops record mac v1', keyBytes);
    keys.push({ id, key, macKey: createSecretKey(Buffer.from(macBytes)), entry: new Secret(entry) });
  }
  const [primary] = keys;
  if (!primary) throw new UserError(`${source} holds no key.`, form);
  const keyring = {
    primary,
    ids: keys.map(({ id }) => id),
    find: (id: string) => keys.find((key) => key.id === id),
  };
  return { keyring, keys, source };
}

export function isKeyId(id: string): boolean {
  return /^[\w-]{1,32}$/.test(id);
}

/** A new entry. Its id is random: a key that is made after a loss must not pass for the lost one. */
export function createKeyEntry(id = `k${randomBytes(4).toString('hex')}`): Secret {
  return new Secret(`${id}:${randomBytes(keyBytes).toString('base64')}`);
}

/** Makes a key file with one new key, whole or not at all; true = made. */
async function createKeyFile(path: string): Promise<boolean> {
  if (existsSync(path)) return false;
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  // Another file of that name would keep its mode, and a link would lead elsewhere.
  await rm(`${path}.tmp`, { force: true });
  await writeFile(`${path}.tmp`, `${createKeyEntry().reveal()}\n`, { mode: 0o600, flush: true, flag: 'wx' });
  await rename(`${path}.tmp`, path);
  return true;
}
