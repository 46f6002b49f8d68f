import { once } from 'node:events';
import {
  accessSync,
  chmodSync,
  closeSync,
  constants,
  cpSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
} from 'node:fs';
import { mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises';
import { findPackageJSON } from 'node:module';
import { dirname, extname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { Duplex } from 'node:stream';
import { setFlagsFromString } from 'node:v8';
import { MessageChannel, type MessagePort, Worker } from 'node:worker_threads';
import { Kysely, PostgresDialect } from 'kysely';
import type { Pool } from 'pg';
import { UserError } from '../../errors.ts';
import { dayMs, minuteMs } from '../../lib/time.ts';
import type { Log } from '../../telemetry/log.ts';
import { countConnections, createPool, endPool } from '../postgres.ts';
import type { Schema } from '../schema.ts';
import type { Answer, Request } from './thread.ts';

/**
 * Opens the embedded PostgreSQL in `dataDir`, for this process alone, in a thread that speaks the protocol of a server.
 * @throws UserError where another process uses the directory, or it cannot be written.
 */
export async function openEmbedded(dataDir: string, log: Log) {
  // Synchronous: the thread begins before the caller loads the rest of the bot.
  explainRefusal(dataDir, () => {
    mkdirSync(dataDir, { recursive: true, mode: 0o700 });
    accessSync(dataDir, constants.W_OK);
  });
  const release = lockDirectory(dataDir);
  try {
    const thread = await startThread(explainRefusal(dataDir, () => createDatabase(dataDir)));
    void thread.ended.then((error) =>
      log.error({ error }, 'the embedded database ended; the bot must be started again'),
    );
    const session = { ssl: false, user: 'postgres', database: 'postgres', max: 1, idleTimeoutMillis: 0 };
    const pool = createPool({ ...session, stream: () => thread.connect() }, log);
    const db = new Kysely<Schema>({ dialect: new PostgresDialect({ pool }) });
    const dump = async (path: string): Promise<void> => {
      const client = await pool.connect();
      await thread.dump(path).finally(() => client.release());
    };
    const stopMaintenance = startMaintenance({ pool, dump, directory: join(dataDir, 'backups'), log });
    return {
      engine: 'embedded' as const,
      pool,
      dump,
      ended: thread.ended,
      poolUse: () => countConnections(pool),
      silenceMs: undefined,
      explain: undefined,
      db,
      backgroundDb: db,
      async close(): Promise<void> {
        await stopMaintenance();
        await endPool(pool);
        await thread.close();
        release();
      },
    };
  } catch (error) {
    release();
    throw error;
  }
}

const resourceLimits = { maxOldGenerationSizeMb: 96, maxYoungGenerationSizeMb: 8 };

/** V8's optimizing compiler takes 600 MB after each start and makes small statements no faster. */
const baselineOnly = ['--liftoff-only', '--no-wasm-tier-up', '--no-wasm-dynamic-tiering'];

async function startThread(directory: string) {
  for (const flag of baselineOnly) setFlagsFromString(flag);
  const worker = new Worker(new URL(`thread${extname(import.meta.filename)}`, import.meta.url), {
    workerData: directory,
    // It needs nothing of this process's environment, which holds tokens.
    env: {},
    resourceLimits,
  });
  const connections = new Set<Duplex>();
  const { promise: ended, resolve: end } = Promise.withResolvers<Error>();
  let failure: Error | undefined;
  const onEnd = (error: Error): void => {
    if (failure) return;
    failure = error;
    for (const connection of connections) connection.destroy(error);
    end(error);
  };
  worker.on('error', onEnd);
  worker.on('exit', () => onEnd(new Error('the thread of the embedded database ended')));
  const post = (request: Request, transfer: readonly MessagePort[] = []): void =>
    worker.postMessage(request, transfer);
  const answer = async (): Promise<void> => {
    const failed = ended.then((error) => Promise.reject(error));
    const [said] = (await Promise.race([once(worker, 'message'), failed])) as [Answer];
    if (said !== 'done') throw Object.assign(new Error(said.failed), { code: said.code });
  };
  await answer();

  return {
    ended,
    connect(): Duplex {
      const { port1, port2 } = new MessageChannel();
      const connection = new Connection(port1);
      if (failure) return connection.destroy(failure);
      post({ connection: port2 }, [port2]);
      connections.add(connection);
      return connection.once('close', () => connections.delete(connection));
    },
    async dump(path: string): Promise<void> {
      if (failure) throw failure;
      post({ dump: path });
      await answer();
    },
    async close(): Promise<void> {
      if (failure) return;
      failure = new Error('the embedded database is closed');
      const exit = once(worker, 'exit');
      post('close');
      await exit;
    },
  };
}

/** What the PostgreSQL driver takes for a socket. */
class Connection extends Duplex {
  readonly #port: MessagePort;

  constructor(port: MessagePort) {
    super();
    this.#port = port;
    port.on('message', (bytes: Uint8Array<ArrayBuffer>) => this.push(Buffer.from(bytes.buffer)));
  }

  connect(): void {
    queueMicrotask(() => this.emit('connect'));
  }

  setNoDelay(): void {}

  ref(): void {}

  unref(): void {}

  override _read(): void {}

  override _writev(chunks: readonly { readonly chunk: Buffer }[], done: () => void): void {
    const bytes = new Uint8Array(Buffer.concat(chunks.map(({ chunk }) => chunk)));
    this.#port.postMessage(bytes, [bytes.buffer]);
    done();
  }

  override _final(done: () => void): void {
    this.push(null);
    done();
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#port.close();
    done(error);
  }
}

const locks = new Set<DatabaseSync>();

/** Locks a directory until the process ends, by SQLite's file lock. @throws UserError where another process holds it. */
function lockDirectory(directory: string): () => void {
  const path = join(directory, 'lock');
  closeSync(openSync(path, 'a', 0o600));
  chmodSync(path, 0o600);
  const lock = new DatabaseSync(path);
  try {
    lock.exec('pragma journal_mode = memory; begin exclusive');
  } catch (error) {
    lock.close();
    if ((error as { errcode?: number }).errcode !== 5) throw error;
    throw new UserError(
      `Another process already uses the data directory ${directory}.`,
      'The embedded database serves one process: stop the other one, give this one its own DATA_DIR, ' +
        'or set DATABASE_URL to run several.',
    );
  }
  locks.add(lock);
  return () => {
    if (locks.delete(lock)) lock.close();
  };
}

/** The directory of the database's files: a copy of an empty one at first. */
function createDatabase(dataDir: string): string {
  const directory = join(dataDir, 'database');
  if (!existsSync(directory) || readdirSync(directory).length === 0) {
    const unfinished = `${directory}.new`;
    rmSync(unfinished, { recursive: true, force: true });
    cpSync(findEmptyDatabase(), unfinished, { recursive: true });
    renameSync(unfinished, directory);
  }
  chmodSync(directory, 0o700);
  return directory;
}

function findEmptyDatabase(): string {
  const found = join(dirname(findPackageJSON(import.meta.url) ?? ''), 'dist', 'database');
  if (existsSync(found)) return found;
  throw new UserError(
    `The files of an empty database are missing (${found}).`,
    'Make them with npm run build.',
  );
}

function explainRefusal<T>(dataDir: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (typeof code !== 'string' || !code.startsWith('E')) throw error;
    throw new UserError(
      `The data directory ${dataDir} cannot be written (${code}).`,
      'Set DATA_DIR to a directory that the bot owns, or DATABASE_URL to use PostgreSQL.',
    );
  }
}

interface MaintenanceOptions {
  readonly pool: Pool;
  readonly dump: (path: string) => Promise<void>;
  readonly directory: string;
  readonly log: Log;
  readonly now?: () => Date;
}

// The embedded engine has no autovacuum and writes no checkpoints: a queue's table grew to 351 MB without.
const roundMs = 5 * minuteMs;
const backupsKept = 2;

/** Vacuums and backs up on a timer. The returned function waits for the round that runs. */
function startMaintenance(options: MaintenanceOptions): () => Promise<void> {
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

/** One round. Logs failures instead of throwing. */
export async function runMaintenance(options: MaintenanceOptions): Promise<void> {
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
  for (const name of await readdir(directory).catch(() => []))
    if (name.endsWith('.tmp')) await rm(join(directory, name), { force: true }).catch(() => undefined);
}

async function vacuum(pool: Pool): Promise<void> {
  const { rows } = await pool.query<{ name: string }>(
    `select format('%I.%I', n.nspname, c.relname) as name
       from pg_class c join pg_namespace n on n.oid = c.relnamespace
      where c.relkind = 'r' and n.nspname <> 'information_schema'`,
  );
  for (const { name } of rows) await pool.query(`vacuum (analyze) ${name}`);
}

/** Writes a backup that survives a power loss. */
async function backUp(dump: MaintenanceOptions['dump'], directory: string, at: Date): Promise<void> {
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
