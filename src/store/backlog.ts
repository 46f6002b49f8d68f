import { setTimeout } from 'node:timers/promises';
import { sql } from 'kysely';
import type { Backlog } from '../telemetry/metrics.ts';
import type { Db } from './schema.ts';

// A database that is slower than this is said not to answer.
const patienceMs = 5_000;

export function readBacklog(db: Db, now: Date): Promise<Backlog | undefined> {
  const late = setTimeout(patienceMs, undefined, { ref: false });
  return Promise.race([readAll(db, now).catch(() => undefined), late]);
}

/** What waits in the database: reads by index, whatever the tables have grown to. */
async function readAll(db: Db, now: Date): Promise<Backlog> {
  // One by one: a scrape never takes a second connection from people.
  const { rows } = await sql<{ takes: boolean }>`
    select current_setting('transaction_read_only') = 'off' as takes`.execute(db);
  const queues = await readQueues(db, now);
  const outbox = await readOutbox(db, now);
  const late = await countLate(db, now);
  const operations = await countOperations(db);
  return { takesWrites: rows[0]?.takes === true, queues, outbox, late, operations };
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

async function countOperations(db: Db): Promise<Backlog['operations']> {
  const { rows } = await sql<{ state: string; count: number }>`
    select state, count(*)::int as count from operations
     where state in ('proposed', 'approved', 'executing', 'unknown') group by state`.execute(db);
  const none = { proposed: 0, approved: 0, executing: 0, unknown: 0 };
  return { ...none, ...Object.fromEntries(rows.map(({ state, count }) => [state, count])) };
}

function secondsSince(moment: Date | null, now: Date): number {
  return moment === null ? 0 : Math.max(0, (now.getTime() - moment.getTime()) / 1000);
}
