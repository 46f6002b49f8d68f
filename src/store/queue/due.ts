import { sql } from 'kysely';
import type { Db } from '../schema.ts';

/** How soon a deferred job, a retry or the job of a killed process is noticed. New jobs are notified at once. */
const pollMs = 500;

interface Options {
  readonly db: Db;
  /** By the queue's name. */
  readonly wake: ReadonlyMap<string, () => void>;
  /** Fails the jobs whose process no longer says that it is there. */
  readonly failLost: () => Promise<void>;
}

/**
 * Looks for jobs that are due by now and wakes their queues, and for jobs that were lost: one look for all of them, where
 * a worker of each queue would have to poll, and pg-boss would go through a dozen statements. The answered function ends it.
 */
export function wakeQueues({ db, wake, failLost }: Options): () => void {
  const names = [...wake.keys()];
  let isLooking = false;
  let hadLost = false;
  const look = async (): Promise<void> => {
    const found = await findWork(db, names);
    for (const { name, isLost } of found) if (!isLost) wake.get(name)?.();
    const hasLost = found.some(({ isLost }) => isLost);
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

async function findWork(db: Db, names: readonly string[]) {
  const { rows } = await sql<{ name: string; isLost: boolean }>`
    select q.name, false as "isLost" from unnest(${names}::text[]) as q (name)
     where exists (select 1 from pgboss.job j
       where j.name = q.name and j.state in ('created', 'retry') and not j.blocked and j.start_after <= now())
    union all
    select j.name, true from pgboss.job j
     where j.name = any(${names}::text[]) and j.state = 'active'
       and j.heartbeat_on + j.heartbeat_seconds * interval '1 second' < now()`.execute(db);
  return rows;
}
