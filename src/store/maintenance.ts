import { mkdir, open, readdir, rename, stat, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import type { PGlite } from '@electric-sql/pglite';
import { dayMs, minuteMs, yieldToEventLoop } from '../lib/time.ts';
import type { Log } from '../telemetry/log.ts';

export interface Maintenance {
  /** Ends the timer and waits for the round in flight. */
  stop(): Promise<void>;
}

interface Options {
  readonly pglite: PGlite;
  /** Where the daily copies go. */
  readonly directory: string;
  readonly log: Log;
  readonly now?: () => Date;
}

// Nothing else vacuums or writes checkpoints in the embedded engine: a queue's table grew to 351 MB without.
const roundMs = 5 * minuteMs;
const copiesKept = 2;

/** Keeps the embedded database small and copied, on a timer that does not hold the process. */
export function startMaintenance(options: Options): Maintenance {
  let running = Promise.resolve();
  let ended = false;
  const next = async (before: Promise<void>): Promise<void> => {
    await before;
    if (!ended) await runMaintenance(options);
  };
  const timer = setInterval(() => {
    running = next(running);
  }, roundMs);
  timer.unref();
  return {
    async stop() {
      ended = true;
      clearInterval(timer);
      await running;
    },
  };
}

/** One round: clean tables, a checkpoint, and a copy where the last is a day old. Never throws: what fails is logged. */
export async function runMaintenance({
  pglite,
  directory,
  log,
  now = () => new Date(),
}: Options): Promise<void> {
  try {
    await vacuum(pglite);
    await pglite.exec('checkpoint');
    const newest = (await copies(directory)).at(-1);
    const age = newest ? now().getTime() - (await stat(join(directory, newest))).mtimeMs : Infinity;
    if (age >= dayMs) await copy(pglite, directory, now());
  } catch (error) {
    log.error({ error }, 'the upkeep of the embedded database failed; the next round tries again');
  }
}

// One table at a time with a pause between: each statement holds the whole process while it runs.
async function vacuum(pglite: PGlite): Promise<void> {
  const { rows } = await pglite.query<{ name: string }>(
    `select format('%I.%I', n.nspname, c.relname) as name
       from pg_class c join pg_namespace n on n.oid = c.relnamespace
      where c.relkind = 'r' and n.nspname <> 'information_schema'`,
  );
  for (const { name } of rows) {
    await pglite.exec(`vacuum (analyze) ${name}`);
    await yieldToEventLoop();
  }
}

/**
 * Writes a copy of the whole database that survives a power loss: complete and on the disk before it gets its name.
 * A copy taken while people work is like a crash at that moment, and opens like one.
 */
async function copy(pglite: PGlite, directory: string, at: Date): Promise<void> {
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const dump = await pglite.dumpDataDir('gzip');
  const name = `database-${at.toISOString().replaceAll(':', '-')}.tar.gz`;
  const unfinished = join(directory, `${name}.tmp`);
  const file = await open(unfinished, 'w', 0o600);
  try {
    await file.writeFile(dump.stream());
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(unfinished, join(directory, name));
  const folder = await open(directory, 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
  for (const old of (await copies(directory)).slice(0, -copiesKept)) await unlink(join(directory, old));
}

/** The finished copies, oldest first: their names sort by time. */
async function copies(directory: string): Promise<string[]> {
  const names = await readdir(directory).catch(() => []);
  return names.filter((name) => /^database-.*\.tar\.gz$/.test(name)).sort();
}
