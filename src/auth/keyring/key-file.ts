import { randomBytes } from 'node:crypto';
import { link, mkdir, open, readFile, realpath, rename, stat, unlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { UserError } from '../../errors.ts';
import { Secret } from '../../secrets/secret.ts';

/** The length of a key in bytes. */
export const keyBytes = 32;

/** `kid:base64key` with a fresh key. A random id, unless one is given: a key made after a loss must not pass for the lost one. */
export function createKeyEntry(id = `k${randomBytes(4).toString('hex')}`): { id: string; entry: Secret } {
  return { id, entry: new Secret(`${id}:${randomBytes(keyBytes).toString('base64')}`) };
}

/** Where the key file of the embedded database is. */
export function embeddedKeyFilePath(dataDir: string): string {
  return join(dataDir, 'encryption-keys');
}

/**
 * Reads a key file. `warning` is for the operator; `stamp` changes when the file does.
 *
 * @throws UserError where it cannot be read.
 */
export async function readKeyFile(
  path: string,
): Promise<{ text: Secret; warning: string | undefined; stamp: string }> {
  try {
    const { mode, mtimeMs, ino, size } = await stat(path);
    const text = new Secret(await readFile(path, 'utf8'));
    // Secrets that an orchestrator mounts are often readable by all inside their container: a warning, not a refusal.
    const open = process.platform !== 'win32' && (mode & 0o077) !== 0;
    return {
      text,
      warning: open ? `The key file ${path} can be read by others on this machine: chmod 600 it.` : undefined,
      stamp: `${mtimeMs}/${ino}/${size}`,
    };
  } catch (error) {
    throw new UserError(
      `The key file ${path} cannot be read (${codeOf(error)}).`,
      'Check the path (ENCRYPTION_KEYS_FILE, or DATA_DIR where that is not set) and that the bot may read it.',
    );
  }
}

export async function fileExists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}

/** Makes a key file with one new key, whole or not at all, unless there is one; true = made. */
export async function createKeyFile(path: string): Promise<boolean> {
  if (await fileExists(path)) return false;
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const unfinished = await writeBeside(path, `${createKeyEntry().entry.reveal()}\n`);
  try {
    await link(unfinished, path);
  } catch (error) {
    // Another process was faster; its key counts.
    if (codeOf(error) === 'EEXIST') return false;
    throw error;
  } finally {
    await unlink(unfinished);
  }
  return true;
}

/**
 * Replaces a key file by these entries, whole or not at all, on the disk before it takes the old one's place.
 *
 * @throws UserError where the directory cannot be written, as with a secret that an orchestrator mounts.
 */
export async function replaceKeyFile(path: string, entries: readonly Secret[]): Promise<void> {
  try {
    // A symbolic link stays: its target is replaced.
    const target = await realpath(path);
    const unfinished = await writeBeside(target, entries.map((entry) => `${entry.reveal()}\n`).join(''));
    await rename(unfinished, target);
    const directory = await open(dirname(target), 'r');
    try {
      await directory.sync();
    } finally {
      await directory.close();
    }
  } catch (error) {
    throw new UserError(
      `The key file ${path} cannot be replaced (${codeOf(error)}); nothing was changed.`,
      'Where it is mounted from a secret, change the secret instead: docs/operating.md says how.',
    );
  }
}

async function writeBeside(path: string, text: string): Promise<string> {
  const unfinished = `${path}.${randomBytes(4).toString('hex')}.tmp`;
  const handle = await open(unfinished, 'wx', 0o600);
  try {
    await handle.writeFile(text);
    await handle.sync();
  } finally {
    await handle.close();
  }
  return unfinished;
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : 'unknown reason';
}
