import type { Transaction } from 'kysely';
import type { ConstructorOptions, PgBoss, Job as StoredJob } from 'pg-boss';
import { withSecrets } from '../../secrets/secret.ts';
import type { Log } from '../../telemetry/log.ts';
import type { Database, Engine } from '../database.ts';
import type { Schema } from '../schema.ts';
import type { Job, JobRef } from './define-job.ts';

export interface Queue {
  /** Connects. With `work: false` this process only enqueues, and others do the work. */
  start<Ports>(options: StartOptions<Ports>): Promise<void>;
  /**
   * Takes no more jobs and waits for those that run. After `graceMs` (10 s by default) they are told to end and get a
   * moment; what still runs then is given back and runs again elsewhere.
   */
  stop(options?: { readonly graceMs?: number }): Promise<void>;
  /** Stores a run of a job and answers its id. */
  readonly enqueue: Enqueue;
}

export type Enqueue = <Data>(job: JobRef<Data>, data: Data, options?: EnqueueOptions) => Promise<string>;

export interface EnqueueOptions {
  /** Together with the rows of that transaction, or not at all. */
  readonly in?: Transaction<Schema> | undefined;
  /** Not before. */
  readonly at?: Date | undefined;
}

interface StartOptions<Ports> {
  /** Every job of the bot: jobs with a cron entry that are not among them lose it. */
  readonly jobs: readonly Job<never, Ports>[];
  /** Handed to each run. */
  readonly ports: Ports;
  readonly work?: boolean;
}

interface Options {
  readonly database: Database;
  readonly log: Log;
  readonly now: () => Date;
}

// Jobs that were told to end still have to write down how far they came.
const lastMomentMs = 3_000;
const dayInSeconds = 24 * 60 * 60;

/** Jobs in the database (pg-boss), on both engines: each runs on one process at a time, and again where one died. */
export function createQueue({ database, log, now }: Options): Queue {
  const ending = new AbortController();
  let boss: PgBoss | undefined;
  let fromKysely: typeof import('pg-boss').fromKysely | undefined;

  const run = async <Ports>(
    job: Job<never, Ports>,
    ports: Ports,
    { id, data, retryCount, signal }: StoredJob<unknown>,
  ): Promise<void> => {
    const context = {
      db: database.db,
      ports,
      log,
      now,
      signal: AbortSignal.any([signal, ending.signal]),
      attempt: retryCount + 1,
      lastAttempt: retryCount >= retriesOf(job),
    };
    const failure = await withSecrets(() => job.run(data, context)).then(
      () => undefined,
      (error: unknown) => ({ error }),
    );
    if (!failure) return;
    log.error({ job: job.name, id, attempt: retryCount + 1, ...failure }, 'a job failed');
    // pg-boss stores what is thrown, with all its members; those of a failed request hold its headers.
    const name = failure.error instanceof Error ? failure.error.name : 'Error';
    throw new Error(`${name}: the log has it under the job's id`);
  };

  const work = async <Ports>(boss: PgBoss, { jobs, ports }: StartOptions<Ports>): Promise<void> => {
    for (const job of jobs) {
      await boss.work<unknown>(
        job.name,
        // Retries are not notified, so polling stays short.
        { localConcurrency: job.atOnce ?? 2, pollingIntervalSeconds: 2, notifyPollingIntervalSeconds: 3 },
        async ([stored]) => {
          if (stored) await run(job, ports, stored);
        },
      );
      if (job.cron !== undefined) await boss.schedule(job.name, job.cron, {}, { tz: 'UTC' });
    }
    const scheduled = new Set(jobs.filter(({ cron }) => cron !== undefined).map(({ name }) => name));
    for (const { name } of await boss.getSchedules()) {
      if (!scheduled.has(name)) await boss.unschedule(name);
    }
  };

  return {
    async start(options) {
      const { jobs, work: worksHere = true } = options;
      // Imported here: it takes a while, and the bot answers before its queue runs.
      const library = await import('pg-boss');
      fromKysely = library.fromKysely;
      const started = new library.PgBoss({
        ...connection(database.native, library.fromPglite),
        useListenNotify: worksHere,
        supervise: worksHere,
        schedule: worksHere,
        cronMonitorIntervalSeconds: 5,
        // How soon the job of a process that died is noticed, beside its heartbeat.
        superviseIntervalSeconds: 10,
        monitorIntervalSeconds: 10,
      });
      started.on('error', (error: { code?: unknown; message?: string }) =>
        log.error({ code: error.code, reason: error.message }, 'the job queue reports an error'),
      );
      started.on('warning', ({ message }) => log.warn({ reason: message }, 'the job queue warns'));
      await started.start();
      boss = started;
      for (const job of jobs) {
        const settings = queueSettings(job);
        await started.createQueue(job.name, settings);
        // What an earlier version created gets the settings of this one.
        await started.updateQueue(job.name, settings);
      }
      if (worksHere) await work(started, options);
    },
    async stop({ graceMs = 10_000 } = {}) {
      if (!boss) return;
      const timer = setTimeout(() => ending.abort(), graceMs);
      await boss.stop({ graceful: true, timeout: graceMs + lastMomentMs });
      clearTimeout(timer);
      boss = undefined;
    },
    async enqueue(job, data, { in: trx, at } = {}) {
      if (!boss || !fromKysely) throw new Error('The job queue is not started');
      const id = await boss.send(job.name, job.encode(data), {
        ...(trx ? { db: fromKysely(trx) } : {}),
        ...(at ? { startAfter: at } : {}),
      });
      if (id === null) throw new Error(`The job ${job.name} was not stored`);
      return id;
    },
  };
}

function connection(
  engine: Engine,
  fromPglite: typeof import('pg-boss').fromPglite,
): Partial<ConstructorOptions> {
  if (engine.kind === 'embedded') {
    return {
      db: fromPglite(engine.pglite),
      backend: 'pglite',
      // The embedded engine has no background workers to look after; `store/upkeep.ts` vacuums there.
      monitorVacuum: false,
      reindex: false,
    };
  }
  // A pool of its own: one connection listens for new jobs the whole time.
  return { connectionString: engine.url.reveal(), application_name: 'cdn-chatops jobs', max: 4 };
}

function retriesOf({ retries = 3 }: JobRef<never>): number {
  return retries;
}

function queueSettings(job: JobRef<never>): {
  notify: true;
  heartbeatSeconds: number;
  retryLimit: number;
  retryDelay: number;
  retryBackoff: true;
  retryDelayMax: number;
  expireInSeconds: number;
  deleteAfterSeconds: number;
} {
  return {
    notify: true,
    // The job of a process that died runs again after about three of these.
    heartbeatSeconds: 10,
    retryLimit: retriesOf(job),
    retryDelay: 5,
    retryBackoff: true,
    retryDelayMax: 300,
    expireInSeconds: job.timeLimitSeconds ?? 900,
    // Finished jobs are kept for a look at what happened; the record that lasts is the audit.
    deleteAfterSeconds: dayInSeconds,
  };
}
