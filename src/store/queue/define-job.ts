import type { z } from 'zod';
import type { Log } from '../../telemetry/log.ts';
import type { Db } from '../schema.ts';

/** `Ports`: what the job reaches outwards with, handed in at start, so that no job knows how Slack or the CDN is reached. */
export interface JobContext<out Ports = unknown> {
  /** Aborts when the bot stops and has waited long enough, or when the job's claim was lost. */
  readonly signal: AbortSignal;
  readonly db: Db;
  readonly ports: Ports;
  readonly log: Log;
  readonly now: () => Date;
  /** 1 for the first. Kills count. */
  readonly attempt: number;
}

export interface JobSettings {
  /** Further attempts after a failure or a killed process. 0 for work that must not be tried twice. Default 3. */
  readonly retries?: number;
  /** An attempt that takes longer is aborted and counts as failed. Default 15 minutes. */
  readonly timeLimitSeconds?: number;
  /** How many run at once in one process. Default 2. */
  readonly atOnce?: number;
  /**
   * With jobs that are enqueued under a key. `waiting`: at most one waits per key, and enqueueing again replaces its data
   * and its moment (a job that runs or is retried does not count). `running`: at most one runs per key.
   */
  readonly onePerKey?: 'waiting' | 'running';
}

export interface JobRef<in Data> extends JobSettings {
  /** The queue's name in the database: renaming it strands what waits there. */
  readonly name: string;
  /** When it runs by itself, as cron in UTC, with `{}` as its data. */
  readonly cron?: string;
  /** The data in its stored form; throws if it does not fit the job's schema. */
  readonly encode: (data: Data) => object;
}

/** Work that runs later or long, on any process. It may run twice: after a crash, or while a lost attempt still ends. */
export interface Job<in Data, in Ports = never> extends JobRef<Data> {
  readonly run: (stored: unknown, context: JobContext<Ports>) => Promise<void>;
  /** Instead of `run` where two processes have died while they ran it: ends what it was for, and tells who waits for that. */
  readonly putAside?: ((stored: unknown, context: JobContext<Ports>) => Promise<void>) | undefined;
}

/** Ties a job's data to its `run` by a schema. Data never holds a secret; it is readable in the database. */
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
