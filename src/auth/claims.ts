import { setImmediate as collectBatch } from 'node:timers/promises';
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
  /** Rejects where the settings cannot be read. */
  readonly policy: () => Promise<Policy>;
  readonly linked: LinkedKey | undefined;
  /** Their key, opened when it is first asked for. @throws LinkedKeyError as `KeyStore.reveal` */
  readonly reveal: () => Promise<RevealedKey | undefined>;
}

/**
 * Claims a delivery of Slack; without an id it is never a repeat. The facts go to exactly one caller with this id,
 * undefined to all others.
 */
export type Claim = (id: string | undefined, person: Person) => Promise<PersonFacts | undefined>;

interface Asked {
  readonly id: string | undefined;
  readonly person: Person;
}

interface Row {
  /** Place in the batch, from 1 on. */
  readonly nth: number;
  readonly policy: StoredPolicy | null;
  readonly linked: StoredKey | null;
}

const policyColumn = currentPolicyColumn(sql`asked.tenant`);
const linkedColumn = linkedKeyColumn(sql`asked.tenant`, sql`asked.user_id`);

/**
 * Claims for any number of processes on one database. Claims that come together share one statement, which is most of
 * the cost of an insert, and which also reads what decides about their people: one round trip before an answer. Slack
 * repeats deliveries for up to an hour; ids are kept for a day.
 */
export function createDeliveryClaims(options: { db: Db; keyStore: KeyStore; now: () => Date }): Claim {
  const { db, keyStore, now } = options;
  let batch: Asked[] | undefined;
  let claimed: Promise<Map<number, Row>> = Promise.resolve(new Map());

  const claimNext = async (asked: readonly Asked[], earlier: Promise<unknown>): Promise<Map<number, Row>> => {
    await Promise.all([collectBatch(), earlier.catch(() => undefined)]);
    batch = undefined;
    const ids = asked.map(({ id }) => id ?? null);
    const tenants = asked.map(({ person }) => tenantId(person));
    const users = asked.map(({ person }) => person.userId);
    // Lists in subqueries: PostgreSQL would count their elements, find one cheaper than the list of unknown length that a
    // prepared plan is for, and plan anew each time, which takes twice as long as the rest.
    const { rows } = await sql<Row>`
      with asked as (
        select * from unnest((select ${ids}::text[]), (select ${tenants}::text[]), (select ${users}::text[]))
          with ordinality as asked (id, tenant, user_id, nth)),
      claimed as (
        insert into deliveries (id, seen_at) select id, ${now()}::timestamptz from asked where id is not null
        on conflict (id) do nothing returning id)
      select nth, ${policyColumn} as policy, ${linkedColumn} as linked from asked left join claimed using (id)
       where asked.id is null or claimed.id is not null`.execute(db);
    return new Map(rows.map((row) => [row.nth, row]));
  };

  return async (id, person) => {
    if (id !== undefined && batch?.some((other) => other.id === id)) return undefined;
    if (!batch) {
      batch = [];
      claimed = claimNext(batch, claimed);
    }
    const nth = batch.push({ id, person });
    const row = (await claimed).get(nth);
    return row && factsOf(keyStore, person, row);
  };
}

function factsOf(keyStore: KeyStore, person: Person, { policy, linked }: Row): PersonFacts {
  let revealed: Promise<RevealedKey> | undefined;
  return {
    policy: async () => readPolicy(policy),
    linked: linked ? { fingerprint: linked.fingerprint, linkedAt: new Date(linked.linked_at) } : undefined,
    reveal: async () => (linked ? (revealed ??= keyStore.open(person, linked)) : undefined),
  };
}
