import { createCipheriv, createDecipheriv, createHash, randomBytes, randomUUID } from 'node:crypto';
import { closeSync, constants, mkdirSync, openSync, readSync, unlinkSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { detachBuffer } from './detach-buffer.ts';

/** A file that is written once, then read. Everything happens at once: it is for threads that answer nobody. */
export interface EncryptedTempFile {
  readonly write: (piece: Uint8Array) => void;
  /** Once, after the last piece. Gives the SHA-256 of what was written, hexadecimal. */
  readonly finish: () => string;
  /** All of it, from the beginning. `moved` is told of each piece as it is taken. */
  readonly read: (moved?: (bytes: number) => void) => Readable;
  readonly discard: () => void;
}

const pieceLength = 256 * 1024;

/**
 * A file for what must not be left behind. It has no name, so that the system takes it away with this process, however
 * that ends; and it is encrypted under a key that nothing but this process's memory holds, so
 * that what stays on the disk's surface is noise.
 */
export function createEncryptedTempFile(directory: string): EncryptedTempFile {
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const file = openNameless(directory);
  // Used for this one file, so counting from zero never repeats.
  const key = randomBytes(32);
  const counter = Buffer.alloc(16);
  const cipher = createCipheriv('aes-256-ctr', key, counter);
  const hash = createHash('sha256');
  let length = 0;
  let isOpen = true;

  return {
    write(piece) {
      hash.update(piece);
      const sealed = cipher.update(piece);
      for (let at = 0; at < sealed.length; ) at += writeSync(file, sealed, at);
      length += sealed.length;
      detachBuffer(sealed);
    },
    finish: () => hash.digest('hex'),
    read(moved) {
      const decipher = createDecipheriv('aes-256-ctr', key, counter);
      // One for all of it, since deciphering makes a copy.
      const buffer = Buffer.allocUnsafeSlow(pieceLength);
      let at = 0;
      return new Readable({
        highWaterMark: pieceLength,
        read() {
          if (at === length) return void this.push(null);
          const bytes = readSync(file, buffer, 0, pieceLength, at);
          if (bytes === 0) throw new Error('a spooled file is shorter than what was written');
          at += bytes;
          moved?.(bytes);
          this.push(decipher.update(buffer.subarray(0, bytes)));
        },
      });
    },
    discard() {
      if (isOpen) closeSync(file);
      isOpen = false;
    },
  };
}

// open(2): a file that never has a name. Node has no word for it; the number is the same on every Linux.
const temporary = 0o20_000_000 | constants.O_DIRECTORY | constants.O_RDWR;
/** What a system or file system answers that does not know it. */
const unknown = new Set(['EOPNOTSUPP', 'ENOTSUP', 'EISDIR', 'EINVAL']);

/** Elsewhere it has a name for a moment: a process killed right then leaves an empty file. */
function openNameless(directory: string): number {
  if (process.platform === 'linux') {
    try {
      return openSync(directory, temporary, 0o600);
    } catch (error) {
      if (!unknown.has((error as NodeJS.ErrnoException).code ?? '')) throw error;
    }
  }
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
