import { sql } from 'kysely';
import type { Db } from '../schema.ts';

/** How soon a deferred job or a retry is noticed. New jobs are notified at once. */
const pollMs = 500;

/**
 * Looks for jobs that are due by now and wakes their queues: one look for all of them, where a worker of each queue would
 * have to poll. `wake`: by name. The answered function ends it.
 */
export function wakeDueQueues(db: Db, wake: ReadonlyMap<string, () => void>): () => void {
  const names = [...wake.keys()];
  let isLooking = false;
  const look = async (): Promise<void> => {
    if (isLooking) return;
    isLooking = true;
    // pg-boss reports a database that does not answer.
    const due = await findDue(db, names).catch(() => []);
    isLooking = false;
    for (const name of due) wake.get(name)?.();
  };
  const timer = setInterval(() => void look(), pollMs).unref();
  return () => clearInterval(timer);
}

async function findDue(db: Db, names: readonly string[]): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`
    select q.name from unnest(${names}::text[]) as q (name)
     where exists (select 1 from pgboss.job j
       where j.name = q.name and j.state in ('created', 'retry') and not j.blocked and j.start_after <= now())`.execute(
    db,
  );
  return rows.map(({ name }) => name);
}
