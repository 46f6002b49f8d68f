import { randomInt } from 'node:crypto';
import { sql } from 'kysely';
import { type Person, tenantId } from '../../../auth/identity.ts';
import type { Db } from '../../../store/schema.ts';
import type { PauseReason, Scheduled, ScheduledRow, ScheduledTable } from './model.ts';

/** The table of a query over the columns that both have. */
export function tableOf({ name }: { readonly name: string }): 'digests' {
  return name as 'digests';
}

/** The shared columns of a row. */
export function readScheduled(row: ScheduledRow): Scheduled {
  return {
    id: row.id,
    tenant: row.tenant,
    owner: { enterpriseId: row.enterprise_id ?? undefined, teamId: row.team_id, userId: row.owner },
    channel: row.channel,
    revision: row.revision,
    paused:
      row.paused === null ? undefined : { reason: row.paused as PauseReason, by: row.paused_by ?? undefined },
    deletedAt: row.deleted_at ?? undefined,
    nextDue: row.next_due ?? undefined,
  };
}

export function ownerColumns(owner: Person) {
  return {
    tenant: tenantId(owner),
    enterprise_id: owner.enterpriseId ?? null,
    team_id: owner.teamId,
    owner: owner.userId,
  };
}

/** Place and content. `body` is stored as JSON. */
export type OrderColumns = { readonly channel: string; readonly body: string };

/** Stores one, paused as `new`, under a new short id, since people type ids. */
export async function insertScheduled<Item extends Scheduled>(
  db: Db,
  table: ScheduledTable<Item>,
  { owner, order, at, id = newId() }: { owner: Person; order: OrderColumns; at: Date; id?: string },
): Promise<Item> {
  const row = await db
    .insertInto(tableOf(table))
    .values({ id, ...ownerColumns(owner), ...order, revision: 1, paused: 'new', failures: 0, created_at: at })
    .onConflict((conflict) => conflict.doNothing())
    .returningAll()
    .executeTakeFirst();
  return row ? table.read(row) : insertScheduled(db, table, { owner, order, at });
}

/** Deleted ones too, as long as their deletion can be undone. */
export async function findScheduled<Item extends Scheduled>(
  db: Db,
  table: ScheduledTable<Item>,
  id: string,
): Promise<Item | undefined> {
  const row = await db.selectFrom(tableOf(table)).selectAll().where('id', '=', id).executeTakeFirst();
  return row && table.read(row);
}

/** All of a tenant that are not deleted, oldest first. */
export async function listScheduled<Item extends Scheduled>(
  db: Db,
  table: ScheduledTable<Item>,
  tenant: string,
): Promise<Item[]> {
  const rows = await db
    .selectFrom(tableOf(table))
    .selectAll()
    .where('tenant', '=', tenant)
    .where('deleted_at', 'is', null)
    .orderBy('created_at')
    .orderBy('id')
    .execute();
  return rows.map(table.read);
}

/** Counts a failed run; returns the number of consecutive ones. */
export async function countFailure(db: Db, table: { readonly name: string }, id: string): Promise<number> {
  const row = await db
    .updateTable(tableOf(table))
    .set({ failures: sql<number>`failures + 1` })
    .where('id', '=', id)
    .returning('failures')
    .executeTakeFirst();
  return row?.failures ?? 0;
}

/** Without vowels, so that it never is a word, and without look-alikes. */
function newId(): string {
  return Array.from({ length: 5 }, () => letters.charAt(randomInt(letters.length))).join('');
}
const letters = '23456789bcdfghjkmnpqrstvwxz';
