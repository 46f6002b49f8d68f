import { type Kysely, sql } from 'kysely';
import type { Schema } from '../store/schema.ts';

export interface RateBucket {
  readonly tenant: string;
  /** A channel's id, or a method's name. */
  readonly lane: string;
}

/**
 * Takes a lane for one call and closes it for `forMs`. False where another process's call has closed it. A lane that was
 * free for a while is closed for less, by as much as `catchUpMs`: what came late does not make all after it later.
 */
export async function acquireBucket(
  db: Kysely<Schema>,
  { tenant, lane }: RateBucket,
  now: Date,
  forMs: number,
  catchUpMs = 0,
): Promise<boolean> {
  const result = await sql`
    insert into slack_pace (tenant, lane, free_at) values (${tenant}, ${lane}, ${after(now, forMs)}::timestamptz)
    on conflict (tenant, lane) do update set free_at =
      greatest(slack_pace.free_at, ${after(now, -catchUpMs)}::timestamptz) + ${forMs} * interval '1 millisecond'
    where slack_pace.free_at <= ${now}::timestamptz`.execute(db);
  return result.numAffectedRows === 1n;
}

/** Slack asks for a pause: nobody calls before it is over. */
export async function blockBucket(
  db: Kysely<Schema>,
  { tenant, lane }: RateBucket,
  now: Date,
  forMs: number,
): Promise<void> {
  await sql`
    insert into slack_pace (tenant, lane, free_at) values (${tenant}, ${lane}, ${after(now, forMs)}::timestamptz)
    on conflict (tenant, lane) do update set free_at = greatest(slack_pace.free_at, excluded.free_at)`.execute(
    db,
  );
}

/** Forgets lanes that nobody has used since. */
export async function purgeBuckets(db: Kysely<Schema>, before: Date): Promise<void> {
  await db.deleteFrom('slack_pace').where('free_at', '<', before).execute();
}

function after(now: Date, ms: number): Date {
  return new Date(now.getTime() + ms);
}
