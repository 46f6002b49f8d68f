import { sql } from 'kysely';
import type { JobWithMetadata, PgBoss } from 'pg-boss';
import type { Db } from '../schema.ts';
import type { JobRef } from './define-job.ts';

export type StoredJob = JobWithMetadata<unknown>;

/** Creates and changes queues: one query where each has the settings of this version, which is every start but the first. */
export async function settleQueues(boss: PgBoss, jobs: readonly JobRef<never>[]): Promise<void> {
  const queues = await boss.getQueues(jobs.map(({ name }) => name));
  const stored = new Map(queues.map((queue) => [queue.name, queue]));
  for (const job of jobs) {
    const { policy, ...settings } = queueSettings(job);
    const queue = stored.get(job.name);
    if (!queue) await boss.createQueue(job.name, { policy, ...settings });
    // It keeps its policy.
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
    // Short at first, since a killed process counts as a failure too.
    retryDelay: 1,
    retryBackoff: true,
    retryDelayMax: 300,
    expireInSeconds: job.timeLimitSeconds ?? 900,
    // Finished jobs are kept for a look at what happened; the record that lasts is the audit.
    deleteAfterSeconds: 24 * 60 * 60,
  };
}

/** Stores cron entries, and removes one whose job is not among these. */
export async function settleSchedules(boss: PgBoss, jobs: readonly JobRef<never>[]): Promise<void> {
  const stored = new Map((await boss.getSchedules()).map(({ name, cron }) => [name, cron]));
  const wanted = new Map(
    jobs.flatMap(({ name, cron }) => (cron === undefined ? [] : [[name, cron] as const])),
  );
  for (const name of stored.keys()) if (!wanted.has(name)) await boss.unschedule(name);
  for (const [name, cron] of wanted)
    if (stored.get(name) !== cron) await boss.schedule(name, cron, {}, { tz: 'UTC' });
}

/**
 * Starts the workers of a job; the returned function wakes them. A worker takes one job each time it looks, and looks again
 * when that is done, until nothing is left. `share`: how many may run for one tenant.
 */
export async function startWorkers(
  boss: PgBoss,
  { name, atOnce = 2 }: JobRef<never>,
  share: number | undefined,
  run: (stored: StoredJob) => Promise<void>,
): Promise<() => void> {
  const options = {
    // `wakeQueues` looks for all of them.
    pollingIntervalSeconds: 30,
    heartbeatRefreshSeconds: 3,
    includeMetadata: true as const,
    ...(share !== undefined && { groupConcurrency: share }),
  };
  const running = new Map<string, number>();
  const workers: string[] = [];
  for (let index = 0; index < atOnce; index += 1) {
    const worker: string = await boss.work(name, options, async ([stored]: StoredJob[]) => {
      if (!stored) return;
      const tenant = stored.groupId ?? '';
      const own = running.get(tenant) ?? 0;
      // Workers that look at the same moment do not see what the others have just taken.
      if (share !== undefined && tenant !== '' && own >= share) return putBack(boss, stored);
      running.set(tenant, own + 1);
      boss.notifyWorker(worker);
      try {
        await run(stored);
      } finally {
        const left = (running.get(tenant) ?? 1) - 1;
        if (left > 0) running.set(tenant, left);
        else running.delete(tenant);
      }
    });
    workers.push(worker);
  }
  return () => {
    for (const worker of workers) boss.notifyWorker(worker);
  };
}

/** Behind the other jobs of its tenant, as a new one. */
async function putBack(boss: PgBoss, { name, data, groupId, singletonKey }: StoredJob): Promise<void> {
  await boss.send(name, data as object, {
    ...(groupId && { group: { id: groupId } }),
    ...(singletonKey !== null && { singletonKey }),
  });
}

/** How soon a job of another process, a deferred one, a retry or the job of a killed process is noticed. */
const pollMs = 400;

/**
 * Looks for jobs that are due by now and wakes their workers, and for jobs whose process is gone and fails them: one query for
 * all queues, where each worker would have to poll. The returned function ends it.
 */
export function wakeQueues(
  db: Db,
  wake: ReadonlyMap<string, () => void>,
  failLost: () => Promise<void>,
): () => void {
  const names = [...wake.keys()];
  let isLooking = false;
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
  const timer = setInterval(() => {
    if (isLooking) return;
    isLooking = true;
    // pg-boss reports a database that does not answer.
    void look()
      .catch(() => undefined)
      .finally(() => {
        isLooking = false;
      });
  }, pollMs).unref();
  return () => clearInterval(timer);
}
