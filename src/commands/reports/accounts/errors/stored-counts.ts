import { type Person, tenantId } from '../../../../auth/identity.ts';
import type { Db } from '../../../../store/schema.ts';
import type { StoredPosition } from './position.ts';
import type { StoredTally } from './tally.ts';

/** Counts of another version are begun anew. */
export const storedVersion = 1;

/** All that is known of a zone's log, as JSON. */
export interface StoredCounts {
  readonly version: typeof storedVersion;
  /** Counting began here, epoch ms. */
  readonly since: number;
  /** UTC days of which the CDN holds more than it gave. */
  readonly partialDays: readonly string[];
  readonly position: StoredPosition;
  readonly tally: StoredTally;
}

export type KnownCounts = StoredCounts & { readonly lookedAt: Date };

/** Whose counts: with another key of the same person, which may be of another account, counting begins anew. */
export interface CountsOwner {
  readonly person: Person;
  readonly fingerprint: string;
}

/** The stored counts, and the row's revision for `storeCounts`. */
export async function findCounts(
  db: Db,
  owner: CountsOwner,
  zoneId: string,
): Promise<{ readonly revision: number | undefined; readonly known: KnownCounts | undefined }> {
  const row = await db
    .selectFrom('error_counts')
    .select(['fingerprint', 'revision', 'looked_at', 'body'])
    .where((is) => is.and(keyOf(owner, zoneId)))
    .executeTakeFirst();
  const counts = row?.fingerprint === owner.fingerprint ? (JSON.parse(row.body) as StoredCounts) : undefined;
  const known = row && counts?.version === storedVersion ? { ...counts, lookedAt: row.looked_at } : undefined;
  return { revision: row?.revision, known };
}

/** False where another process stored its look first. Without `counts` only the moment of the look changes. */
export async function storeCounts(
  db: Db,
  owner: CountsOwner,
  zoneId: string,
  look: {
    readonly revision: number | undefined;
    readonly lookedAt: Date;
    readonly counts: StoredCounts | undefined;
  },
): Promise<boolean> {
  const { revision, lookedAt, counts } = look;
  const key = keyOf(owner, zoneId);
  const { fingerprint } = owner;
  if (revision === undefined) {
    const body = JSON.stringify(counts);
    const inserted = await db
      .insertInto('error_counts')
      .values({ ...key, fingerprint, looked_at: lookedAt, body, revision: 1 })
      .onConflict((conflict) => conflict.doNothing())
      .executeTakeFirstOrThrow();
    return inserted.numInsertedOrUpdatedRows === 1n;
  }
  const changed = counts && { fingerprint, body: JSON.stringify(counts) };
  const updated = await db
    .updateTable('error_counts')
    .set({ ...changed, looked_at: lookedAt, revision: revision + 1 })
    .where((is) => is.and({ ...key, revision }))
    .executeTakeFirst();
  return updated.numUpdatedRows === 1n;
}

function keyOf({ person }: CountsOwner, zoneId: string) {
  return { tenant: tenantId(person), user_id: person.userId, zone_id: zoneId };
}
