import { type Insertable, type Kysely, type Selectable, type SqlBool, sql } from 'kysely';
import { z } from 'zod';
import { type Person, tenantId } from '../../auth/identity.ts';
import type { Schema } from '../../store/schema.ts';
import { digestKindNames } from '../kinds/list.ts';
import type { Digest, DigestOrder, PauseReason } from '../model.ts';

export type DigestRow = Selectable<Schema['digests']>;

/**
 * How far people were told of a pause: `sending` while its notice is in the outbox, `waiting` while the app is not in the
 * workspace; in the end `told`, or `nobody` where no place took it.
 */
export type NoticeState = 'sending' | 'waiting' | 'told' | 'nobody';

const ids = z.array(z.string());
const bodySchema = z.object({
  kinds: z.array(z.enum(digestKindNames)),
  targets: z.object({ zones: ids, shieldZones: ids, apps: ids }),
  only: z.union([z.enum(['always', 'changed']), z.object({ above: z.number() })]),
  schedule: z.object({
    time: z.string(),
    zone: z.string(),
    weekdays: z.array(z.number()),
    monthDays: z.array(z.number()),
  }),
});

export function writeDigestBody({ subject, schedule }: DigestOrder): string {
  const { kinds, targets, only } = subject;
  return JSON.stringify({ kinds, targets, only, schedule });
}

function readDigest(row: DigestRow): Digest {
  const { kinds, targets, only, schedule } = bodySchema.parse(JSON.parse(row.body));
  return {
    id: row.id,
    tenant: row.tenant,
    owner: { enterpriseId: row.enterprise_id ?? undefined, teamId: row.team_id, userId: row.owner },
    channel: row.channel,
    subject: { kinds, targets, only, timeZone: schedule.zone },
    schedule,
    revision: row.revision,
    paused:
      row.paused === null ? undefined : { reason: row.paused as PauseReason, by: row.paused_by ?? undefined },
    deletedAt: row.deleted_at ?? undefined,
    nextDue: row.next_due ?? undefined,
  };
}

export function ownerColumns(
  owner: Person,
): Pick<DigestRow, 'tenant' | 'enterprise_id' | 'team_id' | 'owner'> {
  return {
    tenant: tenantId(owner),
    enterprise_id: owner.enterpriseId ?? null,
    team_id: owner.teamId,
    owner: owner.userId,
  };
}

/** Undefined where the id is taken: ids are short, so that people can type them. */
export async function insertDigest(
  db: Kysely<Schema>,
  row: Insertable<Schema['digests']>,
): Promise<Digest | undefined> {
  const inserted = await db
    .insertInto('digests')
    .values(row)
    .onConflict((conflict) => conflict.doNothing())
    .returningAll()
    .executeTakeFirst();
  return inserted && readDigest(inserted);
}

/** Deleted ones too, as long as their deletion can be undone. */
export async function findDigest(db: Kysely<Schema>, id: string): Promise<Digest | undefined> {
  const row = await db.selectFrom('digests').selectAll().where('id', '=', id).executeTakeFirst();
  return row && readDigest(row);
}

/** A tenant's digests that are not deleted, oldest first. */
export async function listDigests(db: Kysely<Schema>, tenant: string): Promise<Digest[]> {
  const rows = await db
    .selectFrom('digests')
    .selectAll()
    .where('tenant', '=', tenant)
    .where('deleted_at', 'is', null)
    .orderBy('created_at')
    .orderBy('id')
    .execute();
  return rows.map(readDigest);
}

/** Changes a digest of this revision. Undefined where another change came first. */
export async function changeDigest(
  db: Kysely<Schema>,
  { id, revision }: Pick<DigestRow, 'id' | 'revision'>,
  changes: Partial<Omit<DigestRow, 'id' | 'tenant' | 'revision' | 'failures' | 'created_at'>>,
): Promise<Digest | undefined> {
  const row = await db
    .updateTable('digests')
    .set({ ...changes, failures: 0, revision: sql<number>`revision + 1` })
    .where('id', '=', id)
    .where('revision', '=', revision)
    .returningAll()
    .executeTakeFirst();
  return row && readDigest(row);
}

/** Pauses what runs: one digest, all of a person, or all of a tenant. Returns those that it paused. */
export async function pauseRunningDigests(
  db: Kysely<Schema>,
  which: { readonly id: string } | { readonly tenant: string; readonly owner: string | undefined },
  { reason, at }: { readonly reason: PauseReason; readonly at: Date },
): Promise<Digest[]> {
  let query = db
    .updateTable('digests')
    .set({
      paused: reason,
      paused_by: null,
      paused_at: at,
      pause_notice: (reason === 'uninstalled' ? 'waiting' : 'sending') satisfies NoticeState,
      next_due: null,
      revision: sql<number>`revision + 1`,
    })
    .where('paused', 'is', null)
    .where('deleted_at', 'is', null);
  if ('id' in which) query = query.where('id', '=', which.id);
  else {
    query = query.where('tenant', '=', which.tenant);
    if (which.owner !== undefined) query = query.where('owner', '=', which.owner);
  }
  return (await query.returningAll().execute()).map(readDigest);
}

/** Moves the notices of paused digests on. Returns those that were in that state. */
export async function moveNotices(
  db: Kysely<Schema>,
  which: { readonly ids: readonly string[] } | { readonly tenant: string | undefined },
  from: NoticeState,
  to: NoticeState,
): Promise<Digest[]> {
  let query = db
    .updateTable('digests')
    .set({ pause_notice: to })
    .where('pause_notice', '=', from)
    .where('paused', 'is not', null)
    .where('deleted_at', 'is', null);
  if ('ids' in which) query = query.where('id', 'in', [...which.ids]);
  else if (which.tenant !== undefined) query = query.where('tenant', '=', which.tenant);
  // Installed again; or the bot serves one workspace and stores no installation.
  else
    query = query.where(
      sql<SqlBool>`(exists (select from installations i where i.tenant = digests.tenant)
        or not exists (select from installations))`,
    );
  const rows = await query.returningAll().execute();
  return rows.toSorted((a, b) => a.created_at.getTime() - b.created_at.getTime()).map(readDigest);
}

/** Counts a failed run; returns the number of consecutive ones. */
export async function countFailure(db: Kysely<Schema>, id: string): Promise<number> {
  const row = await db
    .updateTable('digests')
    .set({ failures: sql<number>`failures + 1` })
    .where('id', '=', id)
    .returning('failures')
    .executeTakeFirst();
  return row?.failures ?? 0;
}

export async function resetFailures(db: Kysely<Schema>, id: string): Promise<void> {
  await db
    .updateTable('digests')
    .set({ failures: 0 })
    .where('id', '=', id)
    .where('failures', '>', 0)
    .execute();
}

export function findDueBefore(
  db: Kysely<Schema>,
  before: Date,
): Promise<{ readonly id: string; readonly next_due: Date | null }[]> {
  return db
    .selectFrom('digests')
    .select(['id', 'next_due'])
    .where('next_due', '<', before)
    .where('paused', 'is', null)
    .where('deleted_at', 'is', null)
    .execute();
}

export async function deleteDigest(db: Kysely<Schema>, id: string): Promise<void> {
  await db.deleteFrom('digests').where('id', '=', id).execute();
}
