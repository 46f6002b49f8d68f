import type { Enqueue, Job, JobContext, JobRef } from '../../../src/store/queue.ts';

interface Waiting {
  readonly job: JobRef<never>;
  readonly data: unknown;
  readonly key: string | undefined;
  readonly attempt: number;
  readonly at: number;
}

/** A queue in memory for tests with a clock of their own: one job at a time, retries 5 s later. */
export interface FakeQueue {
  readonly enqueue: Enqueue;
  readonly waiting: readonly Waiting[];
  /** Loses every job. */
  clear(): void;
  /** Runs the earliest job that is due by now; false where none is. Jobs that are not among `jobs` are dropped. */
  runNext<Ports>(jobs: readonly Job<never, Ports>[], context: JobContext<Ports>): Promise<boolean>;
}

export function createFakeQueue(now: () => Date): FakeQueue {
  const waiting: Waiting[] = [];
  return {
    waiting,
    clear() {
      waiting.length = 0;
    },
    async enqueue(job, data, { at, key } = {}) {
      const earlier = waiting.findIndex(
        (one) => job.onePerKey === 'waiting' && one.job.name === job.name && one.key === key,
      );
      if (key !== undefined && earlier !== -1) waiting.splice(earlier, 1);
      const due = at?.getTime() ?? now().getTime();
      waiting.push({ job, data: job.encode(data), key, attempt: 1, at: due });
    },
    async runNext(jobs, context) {
      const due = waiting.filter(({ at }) => at <= now().getTime()).toSorted((a, b) => a.at - b.at);
      const [next] = due;
      if (!next) return false;
      waiting.splice(waiting.indexOf(next), 1);
      const job = jobs.find(({ name }) => name === next.job.name);
      await job?.run(next.data, { ...context, attempt: next.attempt }).catch(() => {
        waiting.push({ ...next, attempt: next.attempt + 1, at: now().getTime() + 5_000 });
      });
      return true;
    },
  };
}
