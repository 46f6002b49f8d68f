import { createHash } from 'node:crypto';
import { link, readFile, realpath, rename, unlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { UserError } from '../errors.ts';

/** Releases the directory for the next process. */
export type Release = () => Promise<void>;

/**
 * Makes this process the only one that works in a directory, before anything in it is opened: the embedded database
 * does not notice a second process, and one of the two would lose its rows.
 *
 * @throws UserError when another process holds it.
 */
export async function lockDirectory(directory: string): Promise<Release> {
  const path = await realpath(directory);
  return process.platform === 'linux' ? lockByName(path) : lockByFile(path);
}

/**
 * Linux: an abstract socket, which ends with its process, so nothing is left after a kill. Only processes of the same
 * network namespace see it: two containers do not.
 */
async function lockByName(path: string): Promise<Release> {
  const name = `\0cdn-chatops-${createHash('sha256').update(path).digest('hex').slice(0, 32)}`;
  const server = createServer((socket) => socket.destroy());
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) =>
      reject(error.code === 'EADDRINUSE' ? inUse(path) : error),
    );
    server.listen({ path: name }, resolve);
  });
  server.unref();
  return () =>
    new Promise((resolve) => {
      server.close(() => resolve());
    });
}

/** Elsewhere: a file with the process id. The lock of a process that is gone is taken over. */
export async function lockByFile(path: string): Promise<Release> {
  const lock = join(path, 'lock');
  const mine = join(path, `lock.${process.pid}`);
  const claim = `${process.pid}\n`;
  await writeFile(mine, claim, { mode: 0o600 });
  try {
    // A link appears whole or not at all, and only one of several processes creates it.
    while (!(await createLink(mine, lock))) {
      const holder = await readFile(lock, 'utf8').catch(() => undefined);
      if (holder === undefined) continue;
      if (isRunning(Number(holder))) throw inUse(path, lock);
      await removeStale(lock, holder, `${mine}.old`);
    }
  } finally {
    await unlink(mine);
  }
  return async () => {
    if ((await readFile(lock, 'utf8').catch(() => '')) === claim) await unlink(lock);
  };
}

async function createLink(from: string, to: string): Promise<boolean> {
  try {
    await link(from, to);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

// Two processes may find the same stale lock: the slower one may take the faster one's new lock, and puts it back.
async function removeStale(lock: string, expected: string, aside: string): Promise<void> {
  try {
    await rename(lock, aside);
  } catch {
    return;
  }
  if ((await readFile(aside, 'utf8')) !== expected) await createLink(aside, lock);
  await unlink(aside);
}

function isRunning(pid: number): boolean {
  if (!Number.isSafeInteger(pid) || pid <= 0) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // EPERM: it runs as another user.
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

function inUse(path: string, lock?: string): UserError {
  return new UserError(
    `Another process already uses the data directory ${path}.`,
    'The embedded database serves one process: stop the other one, give this one a DATA_DIR of its own, ' +
      'or set DATABASE_URL to run several.' +
      (lock ? ` If no other bot runs, delete ${lock}.` : ''),
  );
}
