import type { PgBoss } from 'pg-boss';
import type { JobRef } from './define-job.ts';

/** One query where every queue has the settings of this version already, which is every start but the first. */
export async function settleQueues(boss: PgBoss, jobs: readonly JobRef<never>[]): Promise<void> {
  const queues = await boss.getQueues(jobs.map(({ name }) => name));
  const stored = new Map(queues.map((queue) => [queue.name, queue]));
  for (const job of jobs) {
    const { policy, ...settings } = queueSettings(job);
    const queue = stored.get(job.name);
    if (!queue) await boss.createQueue(job.name, { policy, ...settings });
    // It keeps its policy.
    else if (differ(queue, settings)) await boss.updateQueue(job.name, settings);
  }
}

/** One query as well. A cron entry whose job is not among them is removed. */
export async function settleSchedules(boss: PgBoss, jobs: readonly JobRef<never>[]): Promise<void> {
  const stored = new Map((await boss.getSchedules()).map(({ name, cron }) => [name, cron]));
  for (const { name, cron } of jobs) {
    const old = stored.get(name);
    stored.delete(name);
    if (cron === undefined && old !== undefined) await boss.unschedule(name);
    else if (cron !== undefined && cron !== old) await boss.schedule(name, cron, {}, { tz: 'UTC' });
  }
  for (const name of stored.keys()) await boss.unschedule(name);
}

function differ(stored: object, settings: object): boolean {
  return Object.entries(settings).some(([name, value]) => Reflect.get(stored, name) !== value);
}

const policies = { waiting: 'short', running: 'singleton' } as const;

function queueSettings(job: JobRef<never>) {
  return {
    policy: job.onePerKey ? policies[job.onePerKey] : 'standard',
    notify: true,
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
