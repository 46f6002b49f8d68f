import { sql } from 'kysely';
import type { Db } from '../store/schema.ts';

/** Calls that are paced together: a channel's, or a method's in a whole workspace. */
export type Method = 'chat.postMessage' | 'chat.update';

interface Rate {
  /** One call in so many milliseconds. */
  readonly everyMs: number;
  /** Calls that may come this much early after a quiet time. */
  readonly burstMs: number;
}

// https://docs.slack.dev/apis/web-api/rate-limits: one message a second in a channel, several hundred a minute in a
// workspace, and about fifty updates a minute.
const channelRate: Rate = { everyMs: 1_000, burstMs: 0 };
const rates: Record<Method, Rate> = {
  'chat.postMessage': { everyMs: 150, burstMs: 1_000 },
  'chat.update': { everyMs: 1_000, burstMs: 15_000 },
};

/** Reserves the next free moment of the workspace, and for posts of the channel: now, or later. */
export async function reserveSlot(
  db: Db,
  tenant: string,
  { method, channel }: { readonly method: Method; readonly channel: string },
  now: Date,
): Promise<Date> {
  const ofWorkspace = await reserve(db, tenant, method, rates[method], now);
  if (method === 'chat.update') return ofWorkspace;
  return reserve(db, tenant, channel, channelRate, ofWorkspace);
}

async function reserve(db: Db, tenant: string, bucket: string, { everyMs, burstMs }: Rate, from: Date) {
  const earliest = new Date(from.getTime() - burstMs);
  const { rows } = await sql<{ free_at: Date }>`
    insert into slack_pace (tenant, bucket, free_at)
    values (${tenant}, ${bucket}, ${new Date(earliest.getTime() + everyMs)}::timestamptz)
    on conflict (tenant, bucket) do update set free_at =
      greatest(slack_pace.free_at, ${earliest}::timestamptz) + ${everyMs} * interval '1 millisecond'
    returning free_at`.execute(db);
  const slot = (rows[0]?.free_at ?? from).getTime() - everyMs;
  return new Date(Math.max(slot, from.getTime()));
}

/** Slack asked for a pause: no call of this method before it is over, and earlier reservations are void. */
export async function pauseMethod(db: Db, tenant: string, method: Method, until: Date): Promise<void> {
  await sql`
    insert into slack_pace (tenant, bucket, free_at) values (${tenant}, ${method}, ${until}::timestamptz)
    on conflict (tenant, bucket) do update set free_at = greatest(slack_pace.free_at, excluded.free_at)`.execute(
    db,
  );
  await db
    .updateTable('outbox')
    .set({ slot: null })
    .where('tenant', '=', tenant)
    .where('slot', 'is not', null)
    .execute();
}
