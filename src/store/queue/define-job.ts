import type { Kysely } from 'kysely';
import type { z } from 'zod';
import type { Log } from '../../telemetry/log.ts';
import type { Schema } from '../schema.ts';

/** `Ports`: what the job reaches outwards with, handed in at start, so that no job knows how Slack or the CDN is reached. */
export interface JobContext<out Ports = unknown> {
  /** Ends when the bot stops and has waited long enough, or when this run lost its claim on the job. */
  readonly signal: AbortSignal;
  readonly db: Kysely<Schema>;
  readonly ports: Ports;
  readonly log: Log;
  readonly now: () => Date;
  /** 1 for the first. */
  readonly attempt: number;
  /** After this one nobody tries again: what failed has to be told now. */
  readonly lastAttempt: boolean;
}

export interface JobSettings {
  /** Further attempts after a failure. 0 for what must not be tried twice. Default 3. */
  readonly retries?: number;
  /** An attempt that takes longer is told to end and counts as failed. Default 15 minutes. */
  readonly timeLimitSeconds?: number;
  /** How many run at once in one process. Default 2. */
  readonly atOnce?: number;
}

/** What it takes to enqueue a job. */
export interface JobRef<in Data> extends JobSettings {
  /** The queue's name in the database: renaming it strands what waits there. */
  readonly name: string;
  /** When it runs by itself, as cron in UTC, with `{}` as its data. */
  readonly cron?: string;
  /** What is stored for a run; throws where the data is not as the job wants it. */
  readonly encode: (data: Data) => object;
}

/** Work that runs later or long, on any process. It may run twice: after a crash, or while a lost attempt still ends. */
export interface Job<in Data, in Ports = never> extends JobRef<Data> {
  readonly run: (stored: unknown, context: JobContext<Ports>) => Promise<void>;
}

/**
 * Ties a job's data to its `run` by a schema, read when the job is enqueued and again when it runs: data may have
 * been stored by an older version. Data never holds a secret; it is readable in the database.
 *
 * ```ts
 * export const digest = defineJob({
 *   name: 'digest', data: z.object({ scheduleId: z.string() }),
 *   async run({ scheduleId }, { db, ports, signal }) { … },
 * });
 * ```
 */
export function defineJob<Schema extends z.ZodType<object>, Ports>(
  job: JobSettings & {
    name: string;
    data: Schema;
    cron?: string;
    run: (data: z.output<Schema>, context: JobContext<Ports>) => Promise<void>;
  },
): Job<z.input<Schema>, Ports> {
  const { data, run, ...rest } = job;
  return {
    ...rest,
    encode(given) {
      data.parse(given);
      return given as object;
    },
    run: async (stored, context) => run(data.parse(stored), context),
  };
}
