import { mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Pool } from 'pg';
import { dayMs, minuteMs } from '../../lib/time.ts';
import type { Log } from '../../telemetry/log.ts';

interface Options {
  readonly pool: Pool;
  readonly dump: (path: string) => Promise<void>;
  readonly directory: string;
  readonly log: Log;
  readonly now?: () => Date;
}

// The embedded engine has no autovacuum and writes no checkpoints: a queue's table grew to 351 MB without.
const roundMs = 5 * minuteMs;
const backupsKept = 2;

/**
 * Vacuums and backs up the embedded database on a timer. The returned function stops it and waits for the round that runs.
 */
export function startMaintenance(options: Options): () => Promise<void> {
  let running = Promise.resolve();
  let stopped = false;
  const timer = setInterval(() => {
    running = running.then(() => (stopped ? undefined : runMaintenance(options)));
  }, roundMs).unref();
  return async () => {
    stopped = true;
    clearInterval(timer);
    await running;
  };
}

/** One round: vacuum, a checkpoint, and a backup where the last is a day old. Logs failures instead of throwing. */
export async function runMaintenance(options: Options): Promise<void> {
  const { pool, dump, directory, log, now = () => new Date() } = options;
  try {
    await vacuum(pool);
    await pool.query('checkpoint');
    const newest = (await listBackups(directory)).at(-1);
    const age = newest ? now().getTime() - (await stat(join(directory, newest))).mtimeMs : Infinity;
    if (age >= dayMs) await backUp(dump, directory, now());
  } catch (error) {
    log.error({ error }, 'maintenance of the embedded database failed');
  }
  // Left by a backup that failed or whose process was killed. No other process writes here.
  for (const name of await readdir(directory).catch(() => []))
    if (name.endsWith('.tmp')) await rm(join(directory, name), { force: true }).catch(() => undefined);
}

// One table at a time: others have their turn in between.
async function vacuum(pool: Pool): Promise<void> {
  const { rows } = await pool.query<{ name: string }>(
    `select format('%I.%I', n.nspname, c.relname) as name
       from pg_class c join pg_namespace n on n.oid = c.relnamespace
      where c.relkind = 'r' and n.nspname <> 'information_schema'`,
  );
  for (const { name } of rows) await pool.query(`vacuum (analyze) ${name}`);
}

/** Writes a backup that survives a power loss: complete and fsynced before it gets its name. */
async function backUp(dump: Options['dump'], directory: string, at: Date): Promise<void> {
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const path = join(directory, `database-${at.toISOString().replaceAll(':', '-')}.tar.gz`);
  await dump(`${path}.tmp`);
  await rename(`${path}.tmp`, path);
  {
    await using folder = await open(directory, 'r');
    await folder.sync();
  }
  for (const old of (await listBackups(directory)).slice(0, -backupsKept)) await rm(join(directory, old));
}

async function listBackups(directory: string): Promise<string[]> {
  const names = await readdir(directory).catch(() => []);
  return names.filter((name) => /^database-.*\.tar\.gz$/.test(name)).sort();
}
