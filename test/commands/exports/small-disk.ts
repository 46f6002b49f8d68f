import { execFile } from 'node:child_process';
import { mkdir, statfs } from 'node:fs/promises';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** A disk of its own, as small as it is asked for. */
interface SmallDisk {
  readonly usedBytes: () => Promise<number>;
  /** May be called twice. */
  readonly unmount: () => Promise<void>;
}

/** Mounts one at `directory`. Why not, in words, where this machine does not let us. */
export async function mountSmallDisk(directory: string, bytes: number): Promise<SmallDisk | string> {
  if (process.platform !== 'linux' || process.getuid?.() !== 0)
    return 'only root on Linux may mount a small disk';
  await mkdir(directory, { recursive: true });
  try {
    await run('mount', ['-t', 'tmpfs', '-o', `size=${bytes}`, 'tmpfs', directory]);
  } catch {
    return 'this machine lets nobody mount a small disk';
  }
  let isThere = true;
  return {
    async usedBytes() {
      const { blocks, bfree, bsize } = await statfs(directory);
      return (blocks - bfree) * bsize;
    },
    async unmount() {
      if (isThere) await run('umount', [directory]);
      isThere = false;
    },
  };
}
