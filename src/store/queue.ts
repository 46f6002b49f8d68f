import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import type { Pool } from 'pg';
import { fromKysely, type JobWithMetadata, PgBoss } from 'pg-boss';
import { z } from 'zod';
import { createCache } from '../lib/cache.ts';
import { withSecrets } from '../secrets/secret.ts';
import type { Log } from '../telemetry/log.ts';
import { findReference, tenantScope, withReference } from '../telemetry/reference.ts';
import { withSpan } from '../telemetry/tracing.ts';
import { type Database, takeLock, withCreateRights } from './database.ts';
import type { Db, Trx } from './schema.ts';

export interface JobContext<out Ports = unknown> {
  /** Aborts when the bot stops and has waited long enough, or when the job's claim was lost. */
  readonly signal: AbortSignal;
  readonly db: Db;
  readonly ports: Ports;
  readonly log: Log;
  readonly now: () => Date;
  readonly attempt: number;
}

export interface JobSettings {
  /** Further attempts after a failure or a killed process. 0 for work that must not be tried twice. Default 3. */
  readonly retries?: number;
  /** An attempt that takes longer is aborted and counts as failed. Default 15 minutes. */
  readonly timeLimitSeconds?: number;
  readonly atOnce?: number;
  /** By their keys: `waiting`: one waits per key, and the newest data and moment hold. `running`: one runs per key. */
  readonly onePerKey?: 'waiting' | 'running';
}

export interface JobRef<in Data> extends JobSettings {
  /** The queue's name in the database: renaming it strands what waits there. */
  readonly name: string;
  readonly cron?: string;
  readonly encode: (data: Data) => object;
}

/** Work on any process. It may run twice: after a crash, or while a lost attempt still ends. */
export interface Job<in Data, in Ports = never> extends JobRef<Data> {
  readonly run: (stored: unknown, context: JobContext<Ports>) => Promise<void>;
  /** Instead of `run` where two processes died while they ran it. */
  readonly putAside?: ((stored: unknown, context: JobContext<Ports>) => Promise<void>) | undefined;
}

/** Ties a job's data to its `run` by a schema. Data never holds a secret. */
export function defineJob<Schema extends z.ZodType<object>, Ports>({
  data,
  run,
  putAside,
  ...rest
}: Omit<JobRef<never>, 'encode'> & {
  data: Schema;
  run: (data: z.output<Schema>, context: JobContext<Ports>) => Promise<void>;
  putAside?: (data: z.output<Schema>, context: JobContext<Ports>) => Promise<void>;
}): Job<z.input<Schema>, Ports> {
  return {
    ...rest,
    encode(given) {
      data.parse(given);
      return given as object;
    },
    run: async (stored, context) => run(data.parse(stored), context),
    ...(putAside && { putAside: async (stored, context) => putAside(data.parse(stored), context) }),
  };
}

type StoredJob = JobWithMetadata<unknown>;

export type Queue = ReturnType<typeof createQueue>;

export type Enqueue = <Data>(job: JobRef<Data>, data: Data, options?: EnqueueOptions) => Promise<void>;

export interface EnqueueOptions {
  readonly in?: Trx | undefined;
  readonly at?: Date | undefined;
  readonly key?: string | undefined;
  /** Whose share it takes; by default that of the work that enqueues it. */
  readonly tenant?: string | undefined;
  readonly unlessUnderWay?: true | undefined;
}

interface StartOptions<Ports> {
  readonly jobs: readonly Job<never, Ports>[];
  readonly ports: Ports;
  readonly work?: boolean;
  readonly onConnected?: () => Promise<void>;
}

const carried = z
  .object({ reference: z.string().optional(), deaths: z.number().default(0) })
  .catch({ deaths: 0 });

// A job that was running when two processes died may be why they did.
const mostDeaths = 2;

const lastMomentMs = 3_000;

/** Jobs in the database (pg-boss), on both engines: each runs on one process at a time, and again where one died. */
export function createQueue(options: {
  database: Database;
  log: Log;
  now: () => Date;
  /** Tenants share the workers: none takes the last one of a job. */
  manyTenants?: boolean;
}) {
  const { database, log, now, manyTenants = false } = options;
  const ending = new AbortController();
  const wake = new Map<string, () => void>();
  let endPolling: (() => void) | undefined;
  let started: PgBoss | undefined;
  let beginning: Promise<void> | undefined;
  const begunHere = createCache<true>({ now, maxEntries: 1_000 });

  /** How many processes died while they ran this job. A live process that lost its claim does not count. */
  const countDeaths = async ({ id, name, data, output }: StoredJob): Promise<number> => {
    const { deaths } = carried.parse(data);
    const isCounted = begunHere.get(id) !== undefined || !isDeath(output);
    begunHere.set(id, true);
    if (isCounted) return deaths;
    await sql`update pgboss.job set data = data || jsonb_build_object('deaths', ${deaths + 1}::int)
      where name = ${name} and id = ${id}::uuid`.execute(database.db);
    return deaths + 1;
  };

  const run = async <Ports>(job: Job<never, Ports>, ports: Ports, stored: StoredJob): Promise<void> => {
    const { id, data, retryCount, signal: lost, groupId } = stored;
    const work = () =>
      withSecrets(async () => {
        const deaths = await countDeaths(stored);
        if (!job.putAside || deaths < mostDeaths) return job.run(data, context);
        log.error({ job: job.name, id }, 'job put aside: two processes died while they ran it');
        await job.putAside(data, context);
      });
    const started = performance.now();
    const signal = AbortSignal.any([lost, ending.signal]);
    const attempt = retryCount + 1;
    const context = { db: database.db, ports, log, now, signal, attempt };
    const failure = await (groupId ? tenantScope.run(groupId, work) : work()).then(
      () => undefined,
      (error: unknown) => ({ error }),
    );
    const done = { job: job.name, id, attempt, ms: Math.round(performance.now() - started) };
    if (!failure) return log.debug(done, 'job done');
    log.error({ ...done, ...failure }, 'job failed');
    // pg-boss stores a thrown error with all its members; those of a failed request hold its headers.
    const name = failure.error instanceof Error ? failure.error.name : 'Error';
    throw new Error(`${name}: the log has it under the job’s id`);
  };

  const work = async <Ports>(boss: PgBoss, { jobs, ports }: StartOptions<Ports>): Promise<void> => {
    if (database.engine === 'embedded') await giveBackActiveJobs(boss, database.db);
    for (const job of jobs) {
      const runStored = (stored: StoredJob) => {
        const inSpan = () => withSpan(`job ${job.name}`, {}, () => run(job, ports, stored));
        return withReference(inSpan, carried.parse(stored.data).reference);
      };
      wake.set(job.name, await startWorkers(boss, job, manyTenants, runStored));
    }
    const failLost = () =>
      boss.supervise().catch((error: unknown) => log.error({ error }, 'lost jobs cannot be begun again'));
    endPolling = wakeQueues(database.db, wake, failLost);
    await settleSchedules(boss, jobs);
  };

  /** A transaction has to be committed first. */
  const wakeSoon = (name: string): void => void setTimeout(() => wake.get(name)?.(), commitMs).unref();

  const enqueue: Enqueue = async (
    job,
    data,
    { in: trx, at, key, tenant = tenantScope.getStore(), unlessUnderWay } = {},
  ) => {
    if (!started) throw new Error('The job queue is not started');
    const boss = started;
    if (unlessUnderWay && key !== undefined) {
      const { rows } = await sql`select from pgboss.job
        where name = ${job.name} and singleton_key = ${key} and state in ('active', 'retry')`.execute(
        trx ?? database.db,
      );
      if (rows.length > 0) return;
    }
    const encoded = job.encode(data);
    const isScheduled = job.onePerKey === 'waiting';
    // A job that waits for its key belongs to nobody who asked: it runs on a schedule, for years.
    const reference = isScheduled ? undefined : findReference();
    const stored = reference === undefined ? encoded : { ...encoded, reference };
    const options = {
      startAfter: startAfter(at),
      ...(trx && { db: fromKysely(trx) }),
      ...(key !== undefined && { singletonKey: key }),
      ...(tenant !== undefined && { group: { id: tenant } }),
    };
    if (isScheduled && key !== undefined) await boss.upsert(job.name, stored, options);
    else if ((await boss.send(job.name, stored, options)) === null)
      throw new Error(`The job ${job.name} was not stored`);
    wakeSoon(job.name);
  };

  return {
    enqueue,
    /** With `work: false` this process only enqueues. */
    async start<Ports>(options: StartOptions<Ports>): Promise<void> {
      const { jobs, work: worksHere = true, onConnected } = options;
      const boss = new PgBoss({
        db: { executeSql: (text, values = []) => execute(database.pool, text, values) },
        ...(database.engine === 'embedded' && { backend: 'pglite', monitorVacuum: false, reindex: false }),
        useListenNotify: false,
        supervise: worksHere,
        schedule: worksHere,
        cronMonitorIntervalSeconds: 5,
        monitorIntervalSeconds: 1,
        flowIntervalSeconds: 3_600,
        registerInstance: false,
      });
      boss.on('error', (error: { code?: unknown; message?: string }) =>
        log.error({ code: error.code, reason: error.message }, 'job queue error'),
      );
      boss.on('warning', ({ message }) => log.warn({ reason: message }, 'job queue warning'));
      await withCreateRights(database.db, async () => {
        // Another process created its schema at that moment.
        await boss.start().catch((error: { code?: unknown }) => {
          if (error.code !== '23505') throw error;
          return boss.start();
        });
        started = boss;
        await settleQueues(boss, jobs);
        await indexJobIds(database.db);
      });
      await onConnected?.();
      if (worksHere) await (beginning = work(boss, options));
    },
    /** Waits for what runs. After `graceMs` signals abort; what still runs then is run again elsewhere. */
    async stop({ graceMs = 10_000 }: { readonly graceMs?: number } = {}): Promise<void> {
      if (!started) return;
      // A process may be told to stop as soon as it has said that it is ready.
      await beginning?.catch(() => undefined);
      endPolling?.();
      const timer = setTimeout(() => ending.abort(), graceMs);
      await started.stop({ graceful: true, timeout: graceMs + lastMomentMs });
      clearTimeout(timer);
      started = undefined;
    },
  };
}

const commitMs = 25;

// The clock of the database decides what is due; a moment ago is due there, too.
const clockSkewMs = 60_000;

/** The moment from which a job is due. pg-boss deletes what has waited for two weeks since then. */
function startAfter(at = new Date(0)): Date {
  return new Date(Math.max(at.getTime(), Date.now() - clockSkewMs));
}

async function execute(pool: Pool, text: string, values: unknown[]): Promise<{ rows: unknown[] }> {
  const client = await pool.connect();
  try {
    const results = [await (values.length > 0 ? client.query(text, values) : client.query(text))].flat();
    return { rows: results.flatMap(({ rows }) => rows) };
  } catch (error) {
    // The first of several statements may have begun a transaction: others must not get into it.
    if (values.length === 0) await client.query('rollback').catch(() => undefined);
    throw error;
  } finally {
    client.release();
  }
}

/** The directory lock proves that no other process works here: whatever is active was left by one that died. */
async function giveBackActiveJobs(boss: PgBoss, db: Db): Promise<void> {
  const { rows } = await sql<{ name: string; id: string }>`
    select name, id from pgboss.job where state = 'active'`.execute(db);
  for (const { name, id } of rows) await boss.fail(name, id, { message: processEnded });
}

const processEnded = 'the process ended';

/** Whether an attempt failed because its process was gone; the second is the word of pg-boss. */
function isDeath(output: unknown): boolean {
  const stored = JSON.stringify(output) ?? '';
  return stored.includes(processEnded) || stored.includes('job heartbeat timeout');
}

/** pg-boss moves the job that waits for a key by its id alone, which none of its indexes begins with. */
async function indexJobIds(db: Db): Promise<void> {
  const { rows } = await sql<{ there: boolean }>`
    select to_regclass('pgboss.job_common_id') is not null as there`.execute(db);
  if (rows[0]?.there) return;
  await db.transaction().execute(async (trx) => {
    await takeLock(trx, 'index of jobs');
    await sql`create index if not exists job_common_id on pgboss.job_common (id)`.execute(trx);
  });
}

async function settleQueues(boss: PgBoss, jobs: readonly JobRef<never>[]): Promise<void> {
  const queues = await boss.getQueues(jobs.map(({ name }) => name));
  const stored = new Map(queues.map((queue) => [queue.name, queue]));
  for (const job of jobs) {
    const { policy, ...settings } = queueSettings(job);
    const queue = stored.get(job.name);
    if (!queue) await boss.createQueue(job.name, { policy, ...settings });
    else if (Object.entries(settings).some(([name, value]) => Reflect.get(queue, name) !== value))
      await boss.updateQueue(job.name, settings);
  }
}

const policies = { waiting: 'short', running: 'singleton' } as const;

function queueSettings(job: JobRef<never>) {
  return {
    policy: job.onePerKey ? policies[job.onePerKey] : 'standard',
    notify: false,
    heartbeatSeconds: 10,
    retryLimit: job.retries ?? 3,
    retryDelay: 1,
    retryBackoff: true,
    retryDelayMax: 300,
    expireInSeconds: job.timeLimitSeconds ?? 900,
    deleteAfterSeconds: 24 * 60 * 60,
  };
}

async function settleSchedules(boss: PgBoss, jobs: readonly JobRef<never>[]): Promise<void> {
  const stored = new Map((await boss.getSchedules()).map(({ name, cron }) => [name, cron]));
  const wanted = new Map(
    jobs.flatMap(({ name, cron }) => (cron === undefined ? [] : [[name, cron] as const])),
  );
  for (const name of stored.keys()) if (!wanted.has(name)) await boss.unschedule(name);
  for (const [name, cron] of wanted)
    if (stored.get(name) !== cron) await boss.schedule(name, cron, {}, { tz: 'UTC' });
}

/** Starts the workers of a job; the returned function wakes them. With `manyTenants` no tenant takes the last one. */
async function startWorkers(
  boss: PgBoss,
  { name, atOnce = 2 }: JobRef<never>,
  manyTenants: boolean,
  run: (stored: StoredJob) => Promise<void>,
): Promise<() => void> {
  const options = {
    pollingIntervalSeconds: 30,
    heartbeatRefreshSeconds: 3,
    includeMetadata: true as const,
    localConcurrency: atOnce,
    ...(manyTenants && atOnce > 1 && { localGroupConcurrency: atOnce - 1 }),
  };
  let workers: string[] = [];
  const wake = (): void => {
    for (const worker of workers) boss.notifyWorker(worker);
  };
  await boss.work(name, options, async ([stored]: StoredJob[]) => {
    if (stored) await run(stored).finally(wake);
  });
  workers = boss.getWipData().flatMap((worker) => (worker.name === name ? [worker.id] : []));
  return wake;
}

const pollMs = 400;

/** Wakes the workers of due jobs and fails jobs whose process is gone: one query, where each worker would poll. */
function wakeQueues(
  db: Db,
  wake: ReadonlyMap<string, () => void>,
  failLost: () => Promise<void>,
): () => void {
  const names = [...wake.keys()];
  const ending = new AbortController();
  let hadLost = false;
  const look = async (): Promise<void> => {
    const { rows } = await sql<{ name: string; isLost: boolean }>`
      select q.name, false as "isLost" from unnest(${names}::text[]) as q (name)
       where exists (select 1 from pgboss.job j
         where j.name = q.name and j.state in ('created', 'retry') and not j.blocked and j.start_after <= now())
      union all
      select j.name, true from pgboss.job j
       where j.name = any(${names}::text[]) and j.state = 'active'
         and j.heartbeat_on + j.heartbeat_seconds * interval '1 second' < now()`.execute(db);
    for (const { name, isLost } of rows) if (!isLost) wake.get(name)?.();
    const hasLost = rows.some(({ isLost }) => isLost);
    // Seen twice: when a laptop wakes up, or the database answers again, the jobs of this process say so in between.
    if (hasLost && hadLost) await failLost();
    hadLost = hasLost;
  };
  const poll = async (): Promise<void> => {
    while (!ending.signal.aborted) {
      await look().catch(() => undefined);
      await sleep(pollMs, undefined, { ref: false });
    }
  };
  void poll();
  return () => ending.abort();
}
