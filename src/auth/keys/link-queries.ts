import { type Insertable, type Kysely, type Selectable, sql } from 'kysely';
import type { Schema } from '../../store/schema.ts';
import type { Owner } from './linked-keys.ts';

export type KeyLinkRow = Selectable<Schema['key_links']>;

/** How a link ended before its time: a key was connected with it, it was taken back, or too many keys were refused. */
export type EndOfLink = 'used' | 'voided' | 'refused';

export async function putKeyLink(db: Kysely<Schema>, row: Insertable<Schema['key_links']>): Promise<void> {
  await db.insertInto('key_links').values(row).execute();
}

export function findKeyLink(db: Kysely<Schema>, tokenHash: string): Promise<KeyLinkRow | undefined> {
  return db.selectFrom('key_links').selectAll().where('token_hash', '=', tokenHash).executeTakeFirst();
}

/** Takes back the open links of one person, except the newest `keep`. */
export async function voidKeyLinks(db: Kysely<Schema>, owner: Owner, keep = 0): Promise<void> {
  const newest = db
    .selectFrom('key_links')
    .select('token_hash')
    .where('tenant', '=', owner.tenant)
    .where('user_id', '=', owner.userId)
    .where('ended', 'is', null)
    // The hash decides between two of one millisecond, so that every process keeps the same ones.
    .orderBy('made_at', 'desc')
    .orderBy('token_hash')
    .limit(keep);
  await db
    .updateTable('key_links')
    .set({ ended: 'voided' })
    .where('tenant', '=', owner.tenant)
    .where('user_id', '=', owner.userId)
    .where('ended', 'is', null)
    .where('token_hash', 'not in', newest)
    .execute();
}

/**
 * Takes an open link for the check of one key, until a moment. True for exactly one of any number of callers, on any
 * number of processes; false = somebody else has it, or it has ended.
 */
export async function claimKeyLink(
  db: Kysely<Schema>,
  tokenHash: string,
  claim: { readonly id: string; readonly now: Date; readonly until: Date },
): Promise<boolean> {
  const result = await db
    .updateTable('key_links')
    .set({ claim: claim.id, claimed_until: claim.until })
    .where('token_hash', '=', tokenHash)
    .where('ended', 'is', null)
    .where('expires_at', '>', claim.now)
    .where((where) => where.or([where('claim', 'is', null), where('claimed_until', '<=', claim.now)]))
    .executeTakeFirst();
  return result.numUpdatedRows === 1n;
}

/** Ends a link because its key was accepted. False where whoever asks has lost it meanwhile, or it was taken back. */
export async function useKeyLink(db: Kysely<Schema>, tokenHash: string, claim: string): Promise<boolean> {
  const result = await db
    .updateTable('key_links')
    .set({ ended: 'used', claim: null, claimed_until: null })
    .where('token_hash', '=', tokenHash)
    .where('claim', '=', claim)
    .where('ended', 'is', null)
    .executeTakeFirst();
  return result.numUpdatedRows === 1n;
}

/** Gives a link back for another try; `refused` counts, and the last of `mostRefusals` ends the link. */
export async function releaseKeyLink(
  db: Kysely<Schema>,
  tokenHash: string,
  claim: string,
  refused: { readonly mostRefusals: number } | undefined,
): Promise<KeyLinkRow | undefined> {
  return db
    .updateTable('key_links')
    .set({
      claim: null,
      claimed_until: null,
      ...(refused
        ? {
            refusals: sql<number>`refusals + 1`,
            ended: sql<EndOfLink | null>`case when refusals + 1 >= ${refused.mostRefusals} then 'refused' else ended end`,
          }
        : {}),
    })
    .where('token_hash', '=', tokenHash)
    .where('claim', '=', claim)
    .returningAll()
    .executeTakeFirst();
}

/** Counts one more renewal of a link, at most `most` of them, each after the one before by a while. */
export async function countRenewal(
  db: Kysely<Schema>,
  tokenHash: string,
  limit: { readonly now: Date; readonly notSince: Date; readonly most: number },
): Promise<boolean> {
  const result = await db
    .updateTable('key_links')
    .set({ renewals: sql<number>`renewals + 1`, renewed_at: limit.now })
    .where('token_hash', '=', tokenHash)
    .where('renewals', '<', limit.most)
    .where((where) => where.or([where('renewed_at', 'is', null), where('renewed_at', '<=', limit.notSince)]))
    .executeTakeFirst();
  return result.numUpdatedRows === 1n;
}

/** Destroys every link of an organisation or workspace. */
export async function deleteKeyLinksOf(db: Kysely<Schema>, tenant: string): Promise<void> {
  await db.deleteFrom('key_links').where('tenant', '=', tenant).execute();
}

/** Forgets the links that expired before this moment; says how many. */
export async function purgeKeyLinks(db: Kysely<Schema>, before: Date): Promise<number> {
  const result = await db.deleteFrom('key_links').where('expires_at', '<', before).executeTakeFirst();
  return Number(result.numDeletedRows);
}
