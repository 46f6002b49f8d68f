import { createCipheriv, createDecipheriv, randomBytes, randomUUID } from 'node:crypto';
import { type FileHandle, mkdir, open, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import type { Spooled } from './views/message.ts';

/** A file that is being written. */
export interface SealedSpool extends Spooled {
  /** To be awaited before more is given. */
  readonly write: (piece: Uint8Array) => Promise<void>;
  /** Everything is there: from now on it can be read. */
  readonly finish: () => Promise<void>;
}

const batchLength = 512 * 1024;
const pieceLength = 256 * 1024;

/**
 * A file for what must not be left behind. It loses its name as soon as it is made, so that the system takes it away
 * with this process, however that ends; and it is encrypted under a key that nothing but this process's memory holds, so
 * that what stays on the disk's surface is noise. `inspect` sees everything before it is written.
 */
export async function createSealedSpool(
  directory: string,
  inspect: (piece: Uint8Array) => void,
): Promise<SealedSpool> {
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const path = join(directory, `${randomUUID()}.spool`);
  const file = await open(path, 'wx+', 0o600);
  await unlink(path).catch(async (error: unknown) => {
    await file.close();
    throw error;
  });
  // Used for this one file, so counting from zero never repeats.
  const key = randomBytes(32);
  const counter = Buffer.alloc(16);
  const cipher = createCipheriv('aes-256-ctr', key, counter);
  let batch: Buffer[] = [];
  let gathered = 0;
  let length = 0;
  let writing: Promise<void> = Promise.resolve();
  let isOpen = true;

  const flush = async (): Promise<void> => {
    const pieces = batch;
    batch = [];
    gathered = 0;
    // The one before has to be written: memory holds two batches at most.
    await writing;
    writing = writeAll(file, pieces);
    // Whoever waits next hears of a full disk.
    writing.catch(() => undefined);
  };

  return {
    length: () => length,
    async write(piece) {
      inspect(piece);
      length += piece.length;
      gathered += piece.length;
      batch.push(cipher.update(piece));
      if (gathered >= batchLength) await flush();
    },
    async finish() {
      await flush();
      await writing;
    },
    async *read() {
      const decipher = createDecipheriv('aes-256-ctr', key, counter);
      // One for all of it, since deciphering makes a copy: every 30 MB of new buffers cost a collection of all garbage.
      const buffer = Buffer.allocUnsafeSlow(pieceLength);
      for (let at = 0; at < length; ) {
        const { bytesRead } = await file.read(buffer, 0, pieceLength, at);
        if (bytesRead === 0) throw new Error('a spooled file is shorter than what was written');
        at += bytesRead;
        yield decipher.update(buffer.subarray(0, bytesRead));
      }
    },
    async discard() {
      if (!isOpen) return;
      isOpen = false;
      batch = [];
      await writing.catch(() => undefined);
      await file.close();
    },
  };
}

async function writeAll(file: FileHandle, pieces: readonly Buffer[]): Promise<void> {
  for (const piece of pieces) {
    for (let at = 0; at < piece.length; ) {
      const { bytesWritten } = await file.write(piece, at, piece.length - at);
      at += bytesWritten;
    }
  }
}
