import { setTimeout } from 'node:timers/promises';
import { sql } from 'kysely';
import type { Backlog } from '../telemetry/metrics.ts';
import type { Db } from './schema.ts';

// Several scrapers, and impatient ones, cost one read.
const keptMs = 3_000;
// A database that is slower than this is said not to answer.
const patienceMs = 5_000;

/** Reads what waits; undefined where the database does not answer in time. */
export function createBacklogReader(db: Db, now: () => Date): () => Promise<Backlog | undefined> {
  let latest: { readonly backlog: Promise<Backlog | undefined>; readonly readAt: number } | undefined;
  return () => {
    if (!latest || performance.now() - latest.readAt > keptMs) {
      const late = setTimeout(patienceMs, undefined, { ref: false });
      const read = readBacklog(db, now()).catch(() => undefined);
      latest = { backlog: Promise.race([read, late]), readAt: performance.now() };
    }
    return latest.backlog;
  };
}

/** What waits in the database: reads by index, whatever the tables have grown to. */
async function readBacklog(db: Db, now: Date): Promise<Backlog> {
  // One by one: a scrape never takes a second connection from people.
  const takesWrites = await readTakesWrites(db);
  const queues = await readQueues(db, now);
  const outbox = await readOutbox(db, now);
  const late = await countLate(db, now);
  return { takesWrites, queues, outbox, late, operations: await countOperations(db) };
}

async function readTakesWrites(db: Db): Promise<boolean> {
  const { rows } = await sql<{ takes: boolean }>`
    select current_setting('transaction_read_only') = 'off' as takes`.execute(db);
  return rows[0]?.takes === true;
}

async function readQueues(db: Db, now: Date): Promise<Backlog['queues']> {
  // An upserted job's `start_after` is the epoch. A job is never older than its row.
  const { rows } = await sql<{ queue: string; depth: number; oldest: Date | null; active: number }>`
    select q.name as queue, ready.depth, ready.oldest, running.active
      from pgboss.queue q,
      lateral (select count(*)::int as depth, min(greatest(created_on, start_after)) as oldest from pgboss.job j
        where j.name = q.name and j.state in ('created', 'retry') and not j.blocked
          and j.start_after <= ${now}::timestamptz) ready,
      lateral (select count(*)::int as active from pgboss.job j
        where j.name = q.name and j.state = 'active') running
     where q.name not like '\\_\\_%'
     order by q.name`.execute(db);
  return rows.map(({ oldest, ...row }) => ({ ...row, oldestSeconds: secondsSince(oldest, now) }));
}

async function readOutbox(db: Db, now: Date): Promise<Backlog['outbox']> {
  const row = await db
    .selectFrom('outbox')
    .select([sql<number>`count(*)::int`.as('depth'), sql<Date | null>`min(next_at)`.as('oldest')])
    .where('next_at', '<=', now)
    .executeTakeFirstOrThrow();
  return { depth: row.depth, oldestSeconds: secondsSince(row.oldest, now) };
}

// Longer than runs are spread over, with the time that a job needs to begin.
const lateSeconds = 120;

/** Scheduled work that should have begun, by kind. Another kind is another member. */
async function countLate(db: Db, now: Date): Promise<Backlog['late']> {
  const before = new Date(now.getTime() - lateSeconds * 1000);
  const { rows } = await sql<Record<'digest' | 'alert', number>>`select
    (select count(*) from report_runs where state in ('due', 'collecting') and run_at < ${before}::timestamptz)::int
    + (select count(*) from reports
        where kind = 'digest' and paused is null and deleted_at is null and next_due < ${before}::timestamptz)::int as digest,
    (select count(*) from reports
      where kind = 'alert' and paused is null and deleted_at is null
        and next_due < ${before}::timestamptz)::int as alert`.execute(db);
  return rows[0] ?? {};
}

/** The states that an operation leaves again, or that a person has to look at. */
const openStates = ['proposed', 'approved', 'executing', 'unknown'] as const;

async function countOperations(db: Db): Promise<Backlog['operations']> {
  const { rows } = await sql<{ state: string; count: number }>`
    select state, count(*)::int as count from operations
     where state in ('proposed', 'approved', 'executing', 'unknown') group by state`.execute(db);
  const counts = new Map(rows.map(({ state, count }) => [state, count]));
  return Object.fromEntries(openStates.map((state) => [state, counts.get(state) ?? 0]));
}

function secondsSince(moment: Date | null, now: Date): number {
  return moment === null ? 0 : Math.max(0, (now.getTime() - moment.getTime()) / 1000);
}
