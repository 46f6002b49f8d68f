import { randomUUID } from 'node:crypto';
import { mkdir, open, readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { hourMs } from './time.ts';

/** A file while it is written. */
export interface TempFile {
  readonly path: string;
  /** Buffers text; returns a promise if the writer should wait before it writes more. */
  readonly write: (text: string) => void | Promise<void>;
  readonly finish: () => Promise<void>;
  /** Closes and deletes an unfinished file. */
  readonly discard: () => Promise<void>;
}

const batchLength = 256 * 1024;

/** A new file in `directory`, readable only by the bot's own user. The sender deletes it. */
export async function createTempFile(directory: string): Promise<TempFile> {
  await mkdir(directory, { recursive: true, mode: 0o700 });
  await sweep(directory);
  const path = join(directory, `${randomUUID()}.spool`);
  const file = await open(path, 'wx', 0o600);
  let waiting: string[] = [];
  let length = 0;
  let writing = Promise.resolve();
  const flush = (): Promise<void> => {
    const batch = waiting.join('');
    waiting = [];
    length = 0;
    writing = writeAfter(writing, batch);
    // The next await reports a full disk; if the writer failed meanwhile, none follows.
    writing.catch(() => undefined);
    return writing;
  };
  const writeAfter = async (earlier: Promise<void>, batch: string): Promise<void> => {
    await earlier;
    await file.appendFile(batch);
  };
  return {
    path,
    write(text) {
      waiting.push(text);
      length += text.length;
      return length < batchLength ? undefined : flush();
    },
    async finish() {
      await flush();
      await file.close();
    },
    async discard() {
      await writing.catch(() => undefined);
      await file.close().catch(() => undefined);
      await rm(path, { force: true });
    },
  };
}

// Longer than any upload takes.
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
