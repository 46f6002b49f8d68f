import { type Insertable, type Kysely, type Selectable, type SqlBool, sql, type Transaction } from 'kysely';
import type { Schema } from './schema.ts';
import { passLane } from './slack-pace.ts';

export type RunRow = Selectable<Schema['digest_runs']>;

/** One run of one digest. */
export interface RunKey {
  readonly digest_id: string;
  readonly due: Date;
}

/** A run, and who holds it: what it does next counts only while nobody else has taken it over. */
export interface HeldRun extends RunRow {
  readonly claim: string;
}

export interface Planned {
  readonly due: Date;
  readonly runAt: Date;
  readonly missed: number;
  /** Runs that are skipped without a word of their own: the one that is planned tells of them. */
  readonly skipped: readonly Date[];
}

/**
 * Plans a run together with moving the digest on to its next one. Nothing happens where another process was first, or
 * where the digest was changed meanwhile.
 */
export async function planRun(
  db: Kysely<Schema>,
  digest: { readonly id: string; readonly revision: number; readonly next_due: Date | null },
  plan: Planned,
  next: Date,
): Promise<boolean> {
  return db.transaction().execute(async (trx) => {
    const moved = await trx
      .updateTable('digests')
      .set({ next_due: next })
      .where('id', '=', digest.id)
      .where('revision', '=', digest.revision)
      .where('next_due', '=', digest.next_due)
      .executeTakeFirst();
    if (moved.numUpdatedRows !== 1n) return false;
    const { due, runAt, missed, skipped } = plan;
    await addRuns(trx, [
      ...skipped.map((at) => newRun({ digest_id: digest.id, due: at }, at, { state: 'skipped' })),
      newRun({ digest_id: digest.id, due }, runAt, { missed }),
    ]);
    return true;
  });
}

/** What somebody asked for is one wish, however often it is pressed within this time. */
const oneWishMs = 5_000;

/**
 * Plans a run that somebody asks for, in a transaction. False where one is on its way into the channel already, or they
 * asked a moment ago; whoever asks at the same time waits here.
 */
export async function planByHand(trx: Transaction<Schema>, key: RunKey, by: string): Promise<boolean> {
  await trx.selectFrom('digests').select('id').where('id', '=', key.digest_id).forUpdate().execute();
  const under = await trx
    .selectFrom('digest_runs')
    .select('due')
    .where('digest_id', '=', key.digest_id)
    .where(
      sql<SqlBool>`(state = 'due' and (by_hand is not null or run_at <= ${key.due}::timestamptz)
        or state = 'collecting' or (state in ('ready', 'sending') and parts_sent = 0)
        or (by_hand = ${by} and state in ('ready', 'sending', 'sent') and due > ${since(key.due, oneWishMs)}::timestamptz))`,
    )
    .executeTakeFirst();
  if (under) return false;
  await addRuns(trx, [newRun(key, key.due, { by_hand: by })]);
  return true;
}

function since(at: Date, ms: number): Date {
  return new Date(at.getTime() - ms);
}

function newRun(
  key: RunKey,
  runAt: Date,
  more: Partial<Insertable<Schema['digest_runs']>>,
): Insertable<Schema['digest_runs']> {
  return { ...key, run_at: runAt, state: 'due', missed: 0, attempts: 0, lookups: 0, parts_sent: 0, ...more };
}

async function addRuns(db: Kysely<Schema>, runs: Insertable<Schema['digest_runs']>[]): Promise<void> {
  // A run that is there already has run, or will.
  await db
    .insertInto('digest_runs')
    .values(runs)
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

interface Taking {
  readonly claim: string;
  readonly now: Date;
}

/** Takes a run that is to be collected, also from a process that has not been heard of since `lost`. */
export async function takeToCollect(
  db: Kysely<Schema>,
  { claim, now }: Taking,
  lost: Date,
): Promise<HeldRun | undefined> {
  const { rows } = await sql<HeldRun>`
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
export async function takeToSend(
  db: Kysely<Schema>,
  { claim, now }: Taking,
  ways: Ways,
): Promise<HeldRun | 'busy' | undefined> {
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
    if (!(await passLane(trx, { tenant, lane: channel }, now, ways.channelMs))) return 'busy';
    if (!(await passLane(trx, { tenant, lane: ways.method }, now, ways.methodMs, ways.methodCatchUpMs))) {
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
export async function takeToLookUp(
  db: Kysely<Schema>,
  { claim, now }: Taking,
  lost: Date,
  until: Date,
): Promise<HeldRun | undefined> {
  const { rows } = await sql<HeldRun>`
    update digest_runs set claim = ${claim}, run_at = ${until}::timestamptz
    where (digest_id, due) = (
      select digest_id, due from digest_runs
      where state = 'sending' and run_at <= ${now}::timestamptz and claimed_at < ${lost}::timestamptz
      order by run_at limit 1 for update skip locked)
    returning *`.execute(db);
  return rows[0];
}

type Moves = Partial<
  Pick<
    RunRow,
    | 'run_at'
    | 'attempts'
    | 'outcome'
    | 'parts'
    | 'parts_sent'
    | 'sent_to'
    | 'ts'
    | 'figures'
    | 'reason'
    | 'lookups'
  >
>;

/** Moves a run on. False where it is no longer held, or not in that state: then somebody else moved it. */
export async function moveRun(
  db: Kysely<Schema>,
  { digest_id, due, claim }: HeldRun,
  from: string,
  to: string,
  moves: Moves = {},
): Promise<boolean> {
  const result = await db
    .updateTable('digest_runs')
    .set({ ...moves, state: to })
    .where('digest_id', '=', digest_id)
    .where('due', '=', due)
    .where('claim', '=', claim)
    .where('state', '=', from)
    .executeTakeFirst();
  return result.numUpdatedRows === 1n;
}

/** Moves a run that nobody holds on: a person decided. */
export async function reopenRun(db: Kysely<Schema>, key: RunKey, from: string, now: Date): Promise<boolean> {
  const result = await db
    .updateTable('digest_runs')
    .set({ state: 'ready', run_at: now, claim: null, lookups: 0, reason: null })
    .where('digest_id', '=', key.digest_id)
    .where('due', '=', key.due)
    .where('state', '=', from)
    .where('parts', 'is not', null)
    .executeTakeFirst();
  return result.numUpdatedRows === 1n;
}

/** Takes back what the schedule planned and has not begun; the moments it was due. */
export async function unplanRuns(db: Kysely<Schema>, digestIds: readonly string[]): Promise<Date[]> {
  if (digestIds.length === 0) return [];
  const taken = await db
    .deleteFrom('digest_runs')
    .where('digest_id', 'in', [...digestIds])
    .where('state', '=', 'due')
    .where('by_hand', 'is', null)
    .returning('due')
    .execute();
  return taken.map(({ due }) => due);
}

/** The newest runs that found figures and said so, newest first; their thread may still be on its way. */
export function pastRuns(
  db: Kysely<Schema>,
  digestId: string,
  before: Date,
  most: number,
): Promise<{ due: Date; figures: string | null }[]> {
  return db
    .selectFrom('digest_runs')
    .select(['due', 'figures'])
    .where('digest_id', '=', digestId)
    .where('due', '<', before)
    .where('figures', 'is not', null)
    .where((where) =>
      where.or([
        where('state', 'in', ['sent', 'quiet']),
        where.and([where('outcome', '=', 'digest'), where('parts_sent', '>', 0)]),
      ]),
    )
    .orderBy('due', 'desc')
    .limit(most)
    .execute();
}

/** The last run of each digest that has ended or is under way. */
export async function lastRuns(db: Kysely<Schema>, digestIds: readonly string[]): Promise<RunRow[]> {
  if (digestIds.length === 0) return [];
  return db
    .selectFrom('digest_runs')
    .distinctOn('digest_id')
    .selectAll()
    .where('digest_id', 'in', [...digestIds])
    .where('state', 'not in', ['due', 'cancelled'])
    .orderBy('digest_id')
    .orderBy('due', 'desc')
    .execute();
}

/** When there is next something to send, or to look up; undefined = nothing is under way. */
export async function nextToSend(
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
export async function nextToCollect(
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

/** Forgets runs that ended long ago; says how many. */
export async function purgeRuns(db: Kysely<Schema>, before: Date): Promise<number> {
  const result = await db
    .deleteFrom('digest_runs')
    .where('due', '<', before)
    .where('state', 'not in', ['due', 'collecting', 'ready', 'sending'])
    .executeTakeFirst();
  return Number(result.numDeletedRows);
}
