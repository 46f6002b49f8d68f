import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { open, rename, rm, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { UserError } from '../../errors.ts';
import type { Db, Trx } from '../schema.ts';
import { prepareSession } from './rows.ts';

/**
 * Writes a file that gets its name when it is complete and on the disk, mode 0600. What failed leaves nothing.
 *
 * @throws UserError where the file exists, or cannot be written.
 */
async function writeWhole<T>(
  path: string,
  write: (append: (text: string) => Promise<void>) => Promise<T>,
): Promise<T> {
  if (await stat(path).catch(() => undefined)) {
    throw new UserError(`The file ${path} exists already.`, 'Give another name, or remove it first.');
  }
  const unfinished = `${path}.part`;
  try {
    // Left by a process that was killed.
    await rm(unfinished, { force: true });
    let result: T;
    {
      await using file = await open(unfinished, 'wx', 0o600);
      result = await write((text) => file.appendFile(text));
      await file.sync();
    }
    await rename(unfinished, path);
    await using folder = await open(dirname(path), 'r');
    await folder.sync();
    return result;
  } catch (error) {
    await rm(unfinished, { force: true }).catch(() => undefined);
    const { code, path: about, syscall } = error as NodeJS.ErrnoException;
    const isOfFile = syscall === 'write' || syscall === 'fsync' || about?.startsWith(dirname(path));
    if (!isOfFile) throw error;
    throw new UserError(
      `The file ${path} cannot be written (${code}). ${problems[code ?? ''] ?? ''}`.trim(),
      'Nothing was left there. Give a place with room that you may write to.',
    );
  }
}

const problems: Readonly<Record<string, string>> = {
  ENOSPC: 'The disk is full.',
  EDQUOT: 'Your quota is used up.',
  EFBIG: 'It is larger than the system allows.',
  ENOENT: 'There is no such directory.',
};

/** A line of a file, and the SHA-256 of everything before it, computed when it is asked for. */
export interface Line {
  readonly text: string;
  readonly before: () => string;
}

/**
 * The lines of a file. What follows the last line break is no line: it was cut off.
 *
 * @throws UserError where the file cannot be read.
 */
export async function* readLines(path: string): AsyncGenerator<Line, void> {
  const hash = createHash('sha256');
  const before = (): string => hash.copy().digest('hex');
  let pieces: Buffer[] = [];
  try {
    for await (const chunk of createReadStream(path, { highWaterMark: 1 << 20 }) as AsyncIterable<Buffer>) {
      let start = 0;
      for (let end = chunk.indexOf(10); end >= 0; end = chunk.indexOf(10, start)) {
        pieces.push(chunk.subarray(start, end));
        const line = Buffer.concat(pieces);
        yield { text: line.toString(), before };
        hash.update(line).update('\n');
        pieces = [];
        start = end + 1;
      }
      if (start < chunk.length) pieces.push(chunk.subarray(start));
    }
  } catch (error) {
    const { code, syscall } = error as NodeJS.ErrnoException;
    if (syscall === undefined) throw error;
    throw new UserError(`The file ${path} cannot be read (${code}).`, 'Check the path.');
  }
}

/** A file of the database as it is at one moment. @throws UserError as `writeWhole`. */
export function writeSnapshot<T>(
  db: Db,
  path: string,
  write: (trx: Trx, append: (text: string) => Promise<void>) => Promise<T>,
): Promise<T> {
  return writeWhole(path, (append) =>
    db
      .transaction()
      .setIsolationLevel('repeatable read')
      .setAccessMode('read only')
      .execute(async (trx) => {
        await prepareSession(trx);
        return write(trx, append);
      }),
  );
}
