import { existsSync } from 'node:fs';
import { mkdir, readFile, rmdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** A control group that holds the memory of a container. */
export interface MemoryGroup {
  /** The file that takes a process's id. */
  readonly procs: string;
  /** Memory of its processes without the page cache, bytes. */
  readonly readAnonymous: () => Promise<number>;
  /** The most it held, page cache included, bytes: Linux fills what is free with files. */
  readonly readPeak: () => Promise<number>;
  /** Processes killed since it was full. */
  readonly readKills: () => Promise<number>;
  /** Its processes have ended before. */
  readonly remove: () => Promise<void>;
}

/** Where the two kinds of control groups have what; see memory.rst and cgroup-v2.rst of the Linux kernel. */
const kinds = [
  {
    root: '/sys/fs/cgroup/memory',
    limit: 'memory.limit_in_bytes',
    peak: 'memory.max_usage_in_bytes',
    anonymous: 'total_rss',
    kills: 'memory.oom_control',
  },
  {
    root: '/sys/fs/cgroup',
    limit: 'memory.max',
    peak: 'memory.peak',
    anonymous: 'anon',
    kills: 'memory.events',
  },
];

/** Makes one of so many bytes; where this machine does not let us, says why in words. */
export async function createMemoryGroup(bytes: number): Promise<MemoryGroup | string> {
  const kind = kinds.find(
    ({ root, limit }) => existsSync(root) && (limit === 'memory.max' || existsSync(join(root, limit))),
  );
  if (!kind) return 'this machine has no control groups of memory';
  const path = join(kind.root, `chatops-bench-${process.pid}`);
  const remove = (): Promise<void> => rmdir(path);
  try {
    await mkdir(path);
  } catch (error) {
    return `no control group can be made: ${String(error)}`;
  }
  try {
    await writeFile(join(path, kind.limit), String(bytes));
  } catch (error) {
    await remove();
    return `a control group takes no limit: ${String(error)}`;
  }
  const read = (file: string): Promise<string> => readFile(join(path, file), 'utf8');
  const readField = async (file: string, name: string): Promise<number> =>
    Number(new RegExp(`^${name} (\\d+)$`, 'm').exec(await read(file))?.[1] ?? Number.NaN);
  return {
    procs: join(path, 'cgroup.procs'),
    readAnonymous: () => readField('memory.stat', kind.anonymous),
    readPeak: async () => Number(await read(kind.peak).catch(() => Number.NaN)),
    readKills: () => readField(kind.kills, 'oom_kill'),
    remove,
  };
}
