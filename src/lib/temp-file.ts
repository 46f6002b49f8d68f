import { randomUUID } from 'node:crypto';
import { mkdir, open, readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { hourMs } from './time.ts';

type Write = (text: string) => Promise<void>;

/** Writes a new file that only the bot's user reads; the sender deletes it. None is left where `fill` throws or is undefined. */
export async function writeTempFile<Notes extends object>(
  directory: string,
  fill: (write: Write) => Promise<Notes | undefined>,
): Promise<(Notes & { readonly path: string }) | undefined> {
  await mkdir(directory, { recursive: true, mode: 0o700 });
  await sweep(directory);
  const path = join(directory, `${randomUUID()}.spool`);
  const file = await open(path, 'wx', 0o600);
  let notes: Notes | undefined;
  try {
    notes = await fill((text) => file.appendFile(text));
  } finally {
    await file.close();
    if (!notes) await rm(path);
  }
  return notes && { ...notes, path };
}

const leftOverMs = 6 * hourMs;

/** Deletes files that a crash has left. New files stay, since other processes may be writing here. */
async function sweep(directory: string): Promise<void> {
  for (const name of await readdir(directory)) {
    if (!name.endsWith('.spool')) continue;
    const path = join(directory, name);
    const written = await stat(path).catch(() => undefined);
    if (written && written.mtimeMs < Date.now() - leftOverMs) await rm(path, { force: true });
  }
}
