import {
  type ExpressionBuilder,
  type Insertable,
  type Kysely,
  type Selectable,
  sql,
  type Transaction,
} from 'kysely';
import type { Schema } from '../store/schema.ts';

export type OperationRow = Selectable<Schema['operations']>;
export type EventRow = Selectable<Schema['operation_events']>;

/** A row with its log, and which operation tries it again. */
export interface LoggedOperation {
  readonly row: OperationRow;
  readonly events: readonly EventRow[];
  readonly triedAgainAs: string | undefined;
}

export async function addOperation(
  trx: Transaction<Schema>,
  row: Insertable<Schema['operations']>,
): Promise<void> {
  await trx.insertInto('operations').values(row).execute();
}

export async function addOperationEvent(
  trx: Transaction<Schema>,
  row: Insertable<Schema['operation_events']>,
): Promise<void> {
  await trx.insertInto('operation_events').values(row).execute();
}

/** Moves a row that is where it was read: false = somebody else has moved it. */
export async function moveOperation(
  trx: Transaction<Schema>,
  from: Pick<OperationRow, 'id' | 'state' | 'seq'>,
  to: Pick<OperationRow, 'state' | 'seq' | 'moved_by' | 'moved_at' | 'outcome'>,
): Promise<boolean> {
  const { numUpdatedRows } = await trx
    .updateTable('operations')
    .set(to)
    .where('id', '=', from.id)
    .where('state', '=', from.state)
    .where('seq', '=', from.seq)
    .executeTakeFirst();
  return numUpdatedRows === 1n;
}

/** One operation; others that lock the same wait for the end of the transaction. */
export async function lockOperation(
  trx: Transaction<Schema>,
  id: string,
): Promise<LoggedOperation | undefined> {
  const row = await trx
    .selectFrom('operations')
    .selectAll()
    .where('id', '=', id)
    .forUpdate()
    .executeTakeFirst();
  // The log in a statement after the lock: it sees what the one before has written.
  return row && (await withLogs(trx, [row]))[0];
}

export async function findOperation(
  db: Kysely<Schema>,
  tenant: string,
  id: string,
): Promise<LoggedOperation | undefined> {
  const row = await db
    .selectFrom('operations')
    .selectAll()
    .where('id', '=', id)
    .where('tenant', '=', tenant)
    .executeTakeFirst();
  return row && (await withLogs(db, [row]))[0];
}

/** What one person asked for, newest first. */
export async function findRequestedBy(
  db: Kysely<Schema>,
  tenant: string,
  userId: string,
  most: number,
): Promise<LoggedOperation[]> {
  const rows = await db
    .selectFrom('operations')
    .selectAll()
    .where('tenant', '=', tenant)
    .where('user_id', '=', userId)
    .orderBy('created_at', 'desc')
    .orderBy('id')
    .limit(most)
    .execute();
  return withLogs(db, rows);
}

/** What others of the tenant asked for, waits, and this person has not approved. Oldest first. */
export async function findWaitingFor(
  db: Kysely<Schema>,
  tenant: string,
  userId: string,
  now: Date,
  most: number,
): Promise<LoggedOperation[]> {
  const rows = await db
    .selectFrom('operations')
    .selectAll()
    .where('tenant', '=', tenant)
    .where('state', '=', 'proposed')
    .where('expires_at', '>', now)
    .where('user_id', '<>', userId)
    .where((where) => where.not(approvedBy(where, userId)))
    .orderBy('created_at')
    .orderBy('id')
    .limit(most)
    .execute();
  return withLogs(db, rows);
}

function approvedBy(where: ExpressionBuilder<Schema, 'operations'>, userId: string) {
  return where.exists(
    where
      .selectFrom('operation_events')
      .select('seq')
      .whereRef('operation_id', '=', 'operations.id')
      .where('actor', '=', userId)
      .where('what', '=', 'approval'),
  );
}

/** Ids of what waits for approval until no later than `now`, or was approved no later than `approvedBefore`. */
export async function findDue(db: Kysely<Schema>, now: Date, approvedBefore: Date): Promise<string[]> {
  const rows = await db
    .selectFrom('operations')
    .select('id')
    .where((where) =>
      where.or([
        where.and([where('state', '=', 'proposed'), where('expires_at', '<=', now)]),
        where.and([where('state', '=', 'approved'), where('moved_at', '<=', approvedBefore)]),
      ]),
    )
    .orderBy('id')
    .execute();
  return rows.map(({ id }) => id);
}

/** Ids of what has been executing since `before` or longer. */
export async function findExecutingSince(db: Kysely<Schema>, before: Date): Promise<string[]> {
  const rows = await db
    .selectFrom('operations')
    .select('id')
    .where('state', '=', 'executing')
    .where('moved_at', '<=', before)
    .orderBy('id')
    .execute();
  return rows.map(({ id }) => id);
}

/** Ids of what has not begun: one person's, or a tenant's. */
export async function findUnbegun(
  db: Kysely<Schema>,
  tenant: string,
  userId: string | undefined,
): Promise<string[]> {
  let query = db
    .selectFrom('operations')
    .select('id')
    .where('tenant', '=', tenant)
    .where('state', 'in', ['proposed', 'approved']);
  if (userId !== undefined) query = query.where('user_id', '=', userId);
  return (await query.orderBy('id').execute()).map(({ id }) => id);
}

/** What waits past half of its time without a reminder. */
export async function findOperationsToRemind(db: Kysely<Schema>, now: Date): Promise<LoggedOperation[]> {
  const rows = await db
    .selectFrom('operations')
    .selectAll()
    .where('state', '=', 'proposed')
    .where('reminded_at', 'is', null)
    .where('expires_at', '>', now)
    .where(sql<boolean>`created_at + (expires_at - created_at) / 2 <= ${now}`)
    .orderBy('id')
    .execute();
  return withLogs(db, rows);
}

/** True for exactly one of any number of callers. */
export async function claimReminder(db: Kysely<Schema>, id: string, now: Date): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('operations')
    .set({ reminded_at: now })
    .where('id', '=', id)
    .where('state', '=', 'proposed')
    .where('reminded_at', 'is', null)
    .executeTakeFirst();
  return numUpdatedRows === 1n;
}

export async function setMessages(trx: Transaction<Schema>, id: string, messages: string): Promise<void> {
  await trx.updateTable('operations').set({ messages }).where('id', '=', id).execute();
}

/** The newest two that set, or may have set, the value of the same variable as this one; newest first. */
export function findLastSets(db: Kysely<Schema>, id: string): Promise<OperationRow[]> {
  return db
    .selectFrom('operations as this')
    .innerJoin('operations as set', (join) =>
      join.onRef('set.tenant', '=', 'this.tenant').onRef('set.path', '=', 'this.path'),
    )
    .selectAll('set')
    .where('this.id', '=', id)
    .where('set.value_mac', 'is not', null)
    .where('set.state', 'in', ['executing', 'unknown', 'succeeded'])
    .orderBy('set.moved_at', 'desc')
    .orderBy('set.id')
    .limit(2)
    .execute();
}

async function withLogs(db: Kysely<Schema>, rows: readonly OperationRow[]): Promise<LoggedOperation[]> {
  if (rows.length === 0) return [];
  const ids = rows.map(({ id }) => id);
  const events = await db
    .selectFrom('operation_events')
    .selectAll()
    .where('operation_id', 'in', ids)
    .orderBy('seq')
    .execute();
  const again = await db
    .selectFrom('operations')
    .select(['id', 'attempt_of'])
    .where('attempt_of', 'in', ids)
    .execute();
  const eventsOf = Map.groupBy(events, (event) => event.operation_id);
  const againOf = new Map(again.map((row) => [row.attempt_of, row.id]));
  return rows.map((row) => ({
    row,
    events: eventsOf.get(row.id) ?? [],
    triedAgainAs: againOf.get(row.id),
  }));
}
