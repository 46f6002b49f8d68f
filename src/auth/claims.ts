import { sql } from 'kysely';
import type { Db } from '../store/schema.ts';
import { type Person, tenantId } from './identity.ts';
import {
  type KeyStore,
  type LinkedKey,
  linkedKeyColumn,
  type RevealedKey,
  type StoredKey,
} from './keys/key-store.ts';
import { currentPolicyColumn, readPolicy, type StoredPolicy } from './policy/policies.ts';
import type { Policy } from './policy/policy.ts';

/** What decides about a person, as it was stored when their delivery was claimed. */
export interface PersonFacts {
  readonly policy: () => Promise<Policy>;
  readonly linked: LinkedKey | undefined;
  readonly reveal: () => Promise<RevealedKey | undefined>;
}

/** The facts go to one caller with this id among all processes; without an id none is a repeat. */
export type Claim = (id: string | undefined, person: Person) => Promise<PersonFacts | undefined>;

interface Row {
  readonly policy: StoredPolicy | null;
  readonly linked: StoredKey | null;
}

/** Claims and reads in one round trip. Slack repeats deliveries for up to an hour; ids are kept for a day. */
export function createDeliveryClaims(options: { db: Db; keyStore: KeyStore; now: () => Date }): Claim {
  const { db, keyStore, now } = options;
  return async (deliveryId, person) => {
    const id = deliveryId ?? null;
    const [tenant, user] = [sql`${tenantId(person)}::text`, sql`${person.userId}::text`];
    const { rows } = await sql<Row>`
      with claimed as (
        insert into deliveries (id, seen_at) select ${id}::text, ${now()}::timestamptz where ${id}::text is not null
        on conflict (id) do nothing returning id)
      select ${currentPolicyColumn(tenant)} as policy, ${linkedKeyColumn(tenant, user)} as linked
       where ${id}::text is null or exists (select from claimed)`.execute(db);
    const [row] = rows;
    if (!row) return undefined;
    const { policy, linked } = row;
    let revealed: Promise<RevealedKey> | undefined;
    return {
      policy: async () => readPolicy(policy),
      linked: linked ? { fingerprint: linked.fingerprint, linkedAt: new Date(linked.linked_at) } : undefined,
      reveal: async () => (linked ? (revealed ??= keyStore.open(person, linked)) : undefined),
    };
  };
}

/** Claims something that must happen once: true for exactly one caller with this id, until it is given back. */
export function createClaims(db: Db, now: () => Date): (id: string) => Promise<boolean> {
  return async (id) => {
    const claimed = await db
      .insertInto('deliveries')
      .values({ id, seen_at: now() })
      .onConflict((conflict) => conflict.column('id').doNothing())
      .returning('id')
      .executeTakeFirst();
    return claimed !== undefined;
  };
}

export function createReleases(db: Db): (id: string) => Promise<void> {
  return async (id) => {
    await db.deleteFrom('deliveries').where('id', '=', id).execute();
  };
}
