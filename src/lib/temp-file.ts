import { randomUUID } from 'node:crypto';
import { mkdir, open, readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { hourMs } from './time.ts';

/** A file that is being written. */
export interface TempFile {
  readonly path: string;
  /** Takes text at once; the promise is there where the writer should wait before giving more. */
  readonly write: (text: string) => void | Promise<void>;
  readonly finish: () => Promise<void>;
  /** Ends and takes the file away: it was not finished. */
  readonly discard: () => Promise<void>;
}

const batchLength = 256 * 1024;

/** A new file in `directory` that only this user of the machine can read; whoever sends it takes it away. */
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
    // Whoever waits hears of a full disk; where reading failed meanwhile, nobody waits any more.
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

// Longer than any upload lasts.
const leftOverMs = 6 * hourMs;

/** Takes away what a crash has left. Other processes may be writing here: what is new stays. */
async function sweep(directory: string): Promise<void> {
  for (const name of await readdir(directory)) {
    if (!name.endsWith('.spool')) continue;
    const path = join(directory, name);
    const written = await stat(path).catch(() => undefined);
    if (written && written.mtimeMs < Date.now() - leftOverMs) await rm(path, { force: true });
  }
}
