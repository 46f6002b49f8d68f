import type { JobWithMetadata, PgBoss, WorkOptions } from 'pg-boss';
import type { JobSettings } from './define-job.ts';

/** A job as it is stored. */
export type StoredJob = JobWithMetadata<unknown>;

interface Options {
  readonly job: JobSettings & { readonly name: string };
  /** How many of its jobs may run at once for one tenant, in all processes together and in this one. */
  readonly share: number | undefined;
  readonly run: (stored: StoredJob) => Promise<void>;
}

/**
 * Starts the workers of a job; the answered function wakes one that is idle.
 *
 * A worker takes one job each time it looks. New jobs wake all workers; a job that begins wakes another worker, and its
 * own again when it is done, until nothing is left. So one has to be woken when a deferred job is due: any that is idle,
 * since all but one may be busy for minutes.
 */
export async function startWorkers(boss: PgBoss, { job, share, run }: Options): Promise<() => void> {
  const { atOnce = 2 } = job;
  const idle = new Set<string>();
  const running = new Map<string, number>();
  const wakeOne = (): void => {
    const [next] = idle;
    if (next) boss.notifyWorker(next);
  };
  const options = {
    notifyPollingIntervalSeconds: 30,
    heartbeatRefreshSeconds: 3,
    includeMetadata: true,
    ...(share !== undefined && { groupConcurrency: share }),
  } as const satisfies WorkOptions;
  for (let index = 0; index < atOnce; index += 1) {
    const worker: string = await boss.work(job.name, options, async ([stored]: StoredJob[]) => {
      if (!stored) return;
      const tenant = stored.groupId ?? '';
      const own = running.get(tenant) ?? 0;
      // Workers that look at the same moment do not see what the others have just taken.
      if (share !== undefined && tenant !== '' && own >= share) return putBack(boss, stored);
      running.set(tenant, own + 1);
      idle.delete(worker);
      wakeOne();
      boss.notifyWorker(worker);
      try {
        await run(stored);
      } finally {
        idle.add(worker);
        const left = (running.get(tenant) ?? 1) - 1;
        if (left > 0) running.set(tenant, left);
        else running.delete(tenant);
      }
    });
    idle.add(worker);
  }
  return wakeOne;
}

/** Behind the other jobs of its tenant, as a new one. */
async function putBack(boss: PgBoss, { name, data, groupId, singletonKey }: StoredJob): Promise<void> {
  await boss.send(name, data as object, {
    ...(groupId && { group: { id: groupId } }),
    ...(singletonKey !== null && { singletonKey }),
  });
}
