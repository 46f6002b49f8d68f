import { type Selectable, sql } from 'kysely';
import { type Person, tenantId } from '../../auth/identity.ts';
import type { Db, Schema } from '../../store/schema.ts';
import type { Digest, DigestOrder, PauseReason } from '../model.ts';

export function readDigest(row: Selectable<Schema['digests']>): Digest {
  return {
    ...(JSON.parse(row.body) as Pick<DigestOrder, 'subject' | 'schedule'>),
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

/** Content, schedule and place of a digest, for its new owner. */
export function orderColumns(owner: Person, { subject, schedule, channel }: DigestOrder) {
  return { ...ownerColumns(owner), channel, body: JSON.stringify({ subject, schedule }) };
}

/** Stores a digest, paused as `new`. Undefined where the id is taken: ids are short, so that people can type them. */
export async function insertDigest(
  db: Db,
  { id, owner, order, at }: { id: string; owner: Person; order: DigestOrder; at: Date },
): Promise<Digest | undefined> {
  const row = await db
    .insertInto('digests')
    .values({ id, ...orderColumns(owner, order), revision: 1, paused: 'new', failures: 0, created_at: at })
    .onConflict((conflict) => conflict.doNothing())
    .returningAll()
    .executeTakeFirst();
  return row && readDigest(row);
}

/** Deleted ones too, as long as their deletion can be undone. */
export async function findDigest(db: Db, id: string): Promise<Digest | undefined> {
  const row = await db.selectFrom('digests').selectAll().where('id', '=', id).executeTakeFirst();
  return row && readDigest(row);
}

/** Counts a failed run; returns the number of consecutive ones. */
export async function countFailure(db: Db, id: string): Promise<number> {
  const row = await db
    .updateTable('digests')
    .set({ failures: sql<number>`failures + 1` })
    .where('id', '=', id)
    .returning('failures')
    .executeTakeFirst();
  return row?.failures ?? 0;
}
