import type { z } from 'zod';
import type { Log } from '../../telemetry/log.ts';
import type { Db } from '../schema.ts';

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
