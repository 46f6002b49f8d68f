import { type Kysely, sql } from 'kysely';
import { acquireBucket } from '../../outbox/rate-limit.ts';
import type { Schema } from '../../store/schema.ts';
import type { ClaimedRun } from './runs.ts';

interface Taking {
  readonly claim: string;
  readonly now: Date;
}

/** Takes a run that is to be collected, also from a process that has not been heard of since `lost`. */
export async function claimRunToCollect(
  db: Kysely<Schema>,
  { claim, now }: Taking,
  lost: Date,
): Promise<ClaimedRun | undefined> {
  const { rows } = await sql<ClaimedRun>`
    update digest_runs set state = 'collecting', claim = ${claim}, claimed_at = ${now}::timestamptz,
      attempts = attempts + 1
    where (digest_id, due) = (
      select digest_id, due from digest_runs
      where run_at <= ${now}::timestamptz and (state = 'due'
        or (state = 'collecting' and claimed_at < ${lost}::timestamptz))
      order by run_at limit 1 for update skip locked)
    returning *`.execute(db);
  return rows[0];
}

export interface Ways {
  /** How long one post closes its channel, and how long the method for its workspace. */
  readonly channelMs: number;
  readonly methodMs: number;
  readonly method: string;
  /** A late post of the workspace may be made up for by as much; in a channel everybody sees it. */
  readonly methodCatchUpMs: number;
}

/**
 * Takes a run whose next message is ready, whose channel is free, and closes both for others. `busy`: another process
 * was faster, so there may be more.
 */
export async function claimRunToSend(
  db: Kysely<Schema>,
  { claim, now }: Taking,
  ways: Ways,
): Promise<ClaimedRun | 'busy' | undefined> {
  return db.transaction().execute(async (trx) => {
    const { rows } = await sql<{ digest_id: string; due: Date; tenant: string; channel: string }>`
      select r.digest_id, r.due, d.tenant, d.channel from digest_runs r
      join digests d on d.id = r.digest_id
      left join slack_pace c on c.tenant = d.tenant and c.lane = d.channel
      left join slack_pace m on m.tenant = d.tenant and m.lane = ${ways.method}
      where r.state = 'ready' and r.run_at <= ${now}::timestamptz
        and (c.free_at is null or c.free_at <= ${now}::timestamptz)
        and (m.free_at is null or m.free_at <= ${now}::timestamptz)
      order by r.run_at limit 1 for update of r skip locked`.execute(trx);
    const [found] = rows;
    if (!found) return undefined;
    const { tenant, channel } = found;
    if (!(await acquireBucket(trx, { tenant, lane: channel }, now, ways.channelMs))) return 'busy';
    if (
      !(await acquireBucket(trx, { tenant, lane: ways.method }, now, ways.methodMs, ways.methodCatchUpMs))
    ) {
      // Nobody posts there now: the channel stays free.
      await trx
        .updateTable('slack_pace')
        .set({ free_at: now })
        .where('tenant', '=', tenant)
        .where('lane', '=', channel)
        .execute();
      return 'busy';
    }
    const taken = await trx
      .updateTable('digest_runs')
      .set({ state: 'sending', claim, claimed_at: now })
      .where('digest_id', '=', found.digest_id)
      .where('due', '=', found.due)
      .returningAll()
      .executeTakeFirstOrThrow();
    return { ...taken, claim };
  });
}

/** Takes a run that was being sent when its process was last heard of, before `lost`; for the length of one look. */
export async function claimRunToLookUp(
  db: Kysely<Schema>,
  { claim, now }: Taking,
  lost: Date,
  until: Date,
): Promise<ClaimedRun | undefined> {
  const { rows } = await sql<ClaimedRun>`
    update digest_runs set claim = ${claim}, run_at = ${until}::timestamptz
    where (digest_id, due) = (
      select digest_id, due from digest_runs
      where state = 'sending' and run_at <= ${now}::timestamptz and claimed_at < ${lost}::timestamptz
      order by run_at limit 1 for update skip locked)
    returning *`.execute(db);
  return rows[0];
}

/** When there is next something to send, or to look up; undefined = nothing is under way. */
export async function findNextSendTime(
  db: Kysely<Schema>,
  { lostMs, method }: { readonly lostMs: number; readonly method: string },
): Promise<Date | undefined> {
  const { rows } = await sql<{ at: Date | null }>`
    select min(case r.state
      when 'ready' then greatest(r.run_at, c.free_at, m.free_at)
      else greatest(r.run_at, r.claimed_at + ${lostMs} * interval '1 millisecond') end) as at
    from digest_runs r
    join digests d on d.id = r.digest_id
    left join slack_pace c on c.tenant = d.tenant and c.lane = d.channel
    left join slack_pace m on m.tenant = d.tenant and m.lane = ${method}
    where r.state in ('ready', 'sending')`.execute(db);
  return rows[0]?.at ?? undefined;
}

/** When there is next something to collect; undefined = nothing is planned. */
export async function findNextCollectTime(
  db: Kysely<Schema>,
  { lostMs }: { readonly lostMs: number },
): Promise<Date | undefined> {
  const { rows } = await sql<{ at: Date | null }>`
    select min(case state
      when 'due' then run_at
      else greatest(run_at, claimed_at + ${lostMs} * interval '1 millisecond') end) as at
    from digest_runs where state in ('due', 'collecting')`.execute(db);
  return rows[0]?.at ?? undefined;
}
