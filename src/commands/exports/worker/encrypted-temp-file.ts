import { createCipheriv, createDecipheriv, createHash, randomBytes, randomUUID } from 'node:crypto';
import { closeSync, mkdirSync, openSync, readSync, unlinkSync, writeSync } from 'node:fs';
import { join } from 'node:path';

export type EncryptedTempFile = ReturnType<typeof createEncryptedTempFile>;

const pieceLength = 256 * 1024;

/**
 * A file for personal data. It has no name, so the system removes it with this process, however the process ends. It is
 * encrypted under a key that only this process's memory holds, so what remains on the disk cannot be read. Written once,
 * then read. Synchronous: use only in worker threads.
 */
export function createEncryptedTempFile(directory: string) {
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const file = openUnnamed(directory);
  // The key is used for this one file, so a counter from zero never repeats.
  const key = randomBytes(32);
  const counter = Buffer.alloc(16);
  const cipher = createCipheriv('aes-256-ctr', key, counter);
  const hash = createHash('sha256');
  let length = 0;
  let isOpen = true;

  return {
    length: () => length,
    write(piece: Uint8Array): void {
      hash.update(piece);
      const sealed = cipher.update(piece);
      for (let at = 0; at < sealed.length; ) at += writeSync(file, sealed, at);
      length += sealed.length;
    },
    /** Once, after the last piece. Returns the SHA-256 of the plain bytes, hexadecimal. */
    finish: () => hash.digest('hex'),
    /** The whole file, from the beginning. */
    *read(): Generator<Uint8Array, void> {
      const decipher = createDecipheriv('aes-256-ctr', key, counter);
      // One buffer for all pieces: decrypting copies.
      const buffer = Buffer.allocUnsafeSlow(pieceLength);
      for (let at = 0; at < length; ) {
        const bytes = readSync(file, buffer, 0, pieceLength, at);
        if (bytes === 0) throw new Error('the temporary file is shorter than what was written to it');
        at += bytes;
        yield decipher.update(buffer.subarray(0, bytes));
      }
    },
    discard(): void {
      if (isOpen) closeSync(file);
      isOpen = false;
    },
  };
}

/** The file loses its name at once; a process that is killed right then leaves an empty one. */
function openUnnamed(directory: string): number {
  const path = join(directory, `${randomUUID()}.spool`);
  const file = openSync(path, 'wx+', 0o600);
  try {
    unlinkSync(path);
  } catch (error) {
    closeSync(file);
    throw error;
  }
  return file;
}
