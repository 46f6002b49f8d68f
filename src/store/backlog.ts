import { setTimeout } from 'node:timers/promises';
import { sql } from 'kysely';
import type { Measured } from '../telemetry/metrics.ts';
import type { Db } from './schema.ts';

// A database that is slower than this is said not to answer.
const patienceMs = 5_000;

/** What waits in the database, for the metrics. */
export async function readBacklog(db: Db, now: Date): Promise<Measured> {
  const late = setTimeout(patienceMs, undefined, { ref: false });
  const backlog = await Promise.race([readAll(db, now).catch(() => undefined), late]);
  return { database_takes_writes: 0, ...backlog, database_up: backlog ? 1 : 0 };
}

async function readAll(db: Db, now: Date): Promise<Measured> {
  const { rows } = await sql<{ takes: boolean }>`
    select current_setting('transaction_read_only') = 'off' as takes`.execute(db);
  const queues = await readQueues(db, now);
  const byQueue = (value: (one: (typeof queues)[number]) => number): Record<string, number> =>
    Object.fromEntries(queues.map((one) => [one.queue, value(one)]));
  const outbox = await db
    .selectFrom('outbox')
    .select([sql<number>`count(*)::int`.as('depth'), sql<Date | null>`min(next_at)`.as('oldest')])
    .where('next_at', '<=', now)
    .executeTakeFirstOrThrow();
  return {
    database_takes_writes: rows[0]?.takes ? 1 : 0,
    queue_depth: byQueue(({ depth }) => depth),
    queue_oldest_seconds: byQueue(({ oldest }) => secondsSince(oldest, now)),
    queue_active: byQueue(({ active }) => active),
    outbox_depth: outbox.depth,
    outbox_oldest_seconds: secondsSince(outbox.oldest, now),
    late: await countLate(db, now),
    operations: await countOperations(db),
  };
}

async function readQueues(db: Db, now: Date) {
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
  return rows;
}

// Longer than runs are spread over, with the time that a job needs to begin.
const lateSeconds = 120;

async function countLate(db: Db, now: Date): Promise<Record<string, number>> {
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

async function countOperations(db: Db): Promise<Record<string, number>> {
  const { rows } = await sql<{ state: string; count: number }>`
    select state, count(*)::int as count from operations
     where state in ('proposed', 'approved', 'executing', 'unknown') group by state`.execute(db);
  const none = { proposed: 0, approved: 0, executing: 0, unknown: 0 };
  return { ...none, ...Object.fromEntries(rows.map(({ state, count }) => [state, count])) };
}

function secondsSince(moment: Date | null, now: Date): number {
  return moment === null ? 0 : Math.max(0, (now.getTime() - moment.getTime()) / 1000);
}
