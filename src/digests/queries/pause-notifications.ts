import { type Kysely, sql } from 'kysely';
import { acquireBucket, type RateBucket } from '../../outbox/rate-limit.ts';
import type { Schema } from '../../store/schema.ts';
import type { DigestRow } from './digests.ts';

/**
 * How far people were told that a digest stopped: `no`, or `each` where it is one of those that stopped with the app;
 * `telling <n>` while the n-th place is told; in the end `yes`, or `nobody` where no place took it.
 */
export type NotificationState = 'no' | 'each' | `telling ${number}` | 'yes' | 'nobody';

/** What is to be told, or may have been when its process died. */
const isUntold = sql<boolean>`d.paused is not null and d.deleted_at is null
  and (d.paused_told = 'each' or d.paused_told like 'telling %'
    or (d.paused_told = 'no' and d.paused <> 'uninstalled'))`;

const lease = sql`left join slack_pace l on l.tenant = d.tenant and l.lane = 'pause:' || d.id || ':' || d.revision`;
const channel = sql`left join slack_pace c on c.tenant = d.tenant and c.lane = d.channel`;

/** Takes the oldest notice that nobody holds and whose channel is free, for `leaseMs`. Whoever dies with it lets it go. */
export async function claimNotification(
  db: Kysely<Schema>,
  now: Date,
  leaseMs: number,
): Promise<DigestRow | undefined> {
  return db.transaction().execute(async (trx) => {
    const { rows } = await sql<DigestRow>`
      select d.* from digests d ${lease} ${channel}
      where ${isUntold}
        and (l.free_at is null or l.free_at <= ${now}::timestamptz)
        and (c.free_at is null or c.free_at <= ${now}::timestamptz)
      order by d.paused_at, d.id limit 1 for update of d skip locked`.execute(trx);
    const [row] = rows;
    return row && (await acquireBucket(trx, leaseOf(row), now, leaseMs)) ? row : undefined;
  });
}

/** When there is next one to tell; undefined = everybody knows. */
export async function findNextNotificationTime(db: Kysely<Schema>): Promise<Date | undefined> {
  const { rows } = await sql<{ at: Date | null }>`
    select min(greatest(d.paused_at, l.free_at, c.free_at)) as at
    from digests d ${lease} ${channel} where ${isUntold}`.execute(db);
  return rows[0]?.at ?? undefined;
}

/** Writes down how far it came. Undefined where the digest was changed, or somebody else went on, meanwhile. */
export async function moveNotification(
  db: Kysely<Schema>,
  { id, revision, paused_told: from }: DigestRow,
  to: NotificationState,
): Promise<DigestRow | undefined> {
  return db
    .updateTable('digests')
    .set({ paused_told: to })
    .where('id', '=', id)
    .where('revision', '=', revision)
    .where('paused_told', '=', from)
    .returningAll()
    .executeTakeFirst();
}

/** Leaves it alone for so long, beginning now. */
export async function delayNotification(
  db: Kysely<Schema>,
  row: DigestRow,
  now: Date,
  forMs: number,
): Promise<void> {
  const { tenant, lane } = leaseOf(row);
  await db
    .updateTable('slack_pace')
    .set({ free_at: new Date(now.getTime() + forMs) })
    .where('tenant', '=', tenant)
    .where('lane', '=', lane)
    .execute();
}

function leaseOf({ tenant, id, revision }: DigestRow): RateBucket {
  return { tenant, lane: `pause:${id}:${revision}` };
}
