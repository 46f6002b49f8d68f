import { type Kysely, sql } from 'kysely';
import type { Job, JobContext } from '../../../src/store/queue/define-job.ts';
import type { Enqueue } from '../../../src/store/queue/queue.ts';
import type { Schema } from '../../../src/store/schema.ts';

interface StoredJob {
  readonly id: string;
  readonly name: string;
  readonly data: unknown;
}

/** A queue in a table of the simulated database, so that jobs commit with rows, with a clock that tests set. */
export async function createJobTable(db: Kysely<Schema>): Promise<void> {
  await sql`create table test_jobs (id bigserial primary key, name text not null, key text, one_per_key text,
    data jsonb not null, at timestamptz not null, taken_by text)`.execute(db);
}

/** Enqueues as a process that has this database. */
export function enqueueInto(db: Kysely<Schema>, now: () => Date): Enqueue {
  return async (job, data, { in: trx, at, key } = {}) => {
    const store = async (within: Kysely<Schema>): Promise<void> => {
      if (job.onePerKey === 'waiting')
        await sql`delete from test_jobs where name = ${job.name} and key = ${key} and taken_by is null`.execute(
          within,
        );
      await sql`insert into test_jobs (name, key, one_per_key, data, at)
        values (${job.name}, ${key ?? null}, ${job.onePerKey ?? null}, ${JSON.stringify(job.encode(data))}::jsonb,
          ${at ?? now()}::timestamptz)`.execute(within);
    };
    await (trx ? store(trx) : db.transaction().execute(store));
    return 'stored';
  };
}

/** Runs the earliest job that is due as the process `by`. False where none is. A failed job runs again 5 s later. */
export async function runNextJob<Ports>(
  jobs: readonly Job<never, Ports>[],
  context: JobContext<Ports>,
  by: string,
): Promise<boolean> {
  const { db, now } = context;
  const { rows } = await sql<StoredJob>`
    update test_jobs set taken_by = ${by} where id = (
      select id from test_jobs j where taken_by is null and at <= ${now()}::timestamptz
        and (one_per_key is distinct from 'running' or not exists (select from test_jobs o
          where o.name = j.name and o.key = j.key and o.taken_by is not null))
      order by at, id limit 1)
    returning id, name, data`.execute(db);
  const [next] = rows;
  if (!next) return false;
  const job = jobs.find(({ name }) => name === next.name);
  if (!job) throw new Error(`no job ${next.name}`);
  try {
    await job.run(next.data, context);
  } catch {
    const later = new Date(now().getTime() + 5_000);
    await sql`update test_jobs set taken_by = null, at = ${later}::timestamptz where id = ${next.id}`.execute(
      db,
    );
    return true;
  }
  await sql`delete from test_jobs where id = ${next.id}`.execute(db);
  return true;
}

/** What a process held that died runs again. */
export async function giveBackJobs(db: Kysely<Schema>, by: string): Promise<void> {
  await sql`update test_jobs set taken_by = null where taken_by = ${by}`.execute(db);
}

export async function findNextJobTime(db: Kysely<Schema>): Promise<number | undefined> {
  const { rows } = await sql<{ at: Date | null }>`select min(at) as at from test_jobs`.execute(db);
  return rows[0]?.at?.getTime();
}
