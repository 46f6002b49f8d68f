import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { mkdir, readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { finished } from 'node:stream/promises';
import { hourMs } from './time.ts';

const bufferedBytes = 256 * 1024;

type Write = (text: string) => Promise<void>;

/** Writes a new file that only the bot's user reads; the sender deletes it. None is left where `fill` throws or is undefined. */
export async function writeTempFile<Notes extends object>(
  directory: string,
  fill: (write: Write) => Promise<Notes | undefined>,
): Promise<(Notes & { readonly path: string }) | undefined> {
  await mkdir(directory, { recursive: true, mode: 0o700 });
  await sweep(directory);
  const path = join(directory, `${randomUUID()}.spool`);
  const stream = createWriteStream(path, { flags: 'wx', mode: 0o600, highWaterMark: bufferedBytes });
  // The next call reports a full disk; if the writer failed meanwhile, none follows.
  stream.on('error', () => undefined);
  await once(stream, 'open');
  let isWhole = false;
  try {
    const notes = await fill(async (text) => {
      if (stream.errored) throw stream.errored;
      if (!stream.write(text)) await once(stream, 'drain');
    });
    if (!notes) return undefined;
    stream.end();
    await finished(stream);
    isWhole = true;
    return { ...notes, path };
  } finally {
    if (!isWhole) {
      stream.destroy();
      await finished(stream).catch(() => undefined);
      await rm(path, { force: true });
    }
  }
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
