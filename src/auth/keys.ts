import { createHash } from 'node:crypto';
import type { Kysely } from 'kysely';
import type { Secret } from '../secret.ts';
import {
  deleteLinkedKey,
  deleteLinkedKeysOf,
  findLinkedKey,
  type Owner,
  putLinkedKey,
} from '../store/linked-keys.ts';
import type { Schema } from '../store/schema.ts';
import { type Person, tenantOf } from './identity.ts';
import type { SealContext, Sealer } from './sealing.ts';

export interface LinkedKey {
  /** 8 hexadecimal characters: tells two keys apart and says nothing else about them. */
  readonly fingerprint: string;
  readonly linkedAt: Date;
}

/** Keeps each person's CDN key, sealed for that person. */
export interface Custody {
  /** Stores a key; an older one is replaced. */
  link(person: Person, key: Secret): Promise<LinkedKey>;
  /** @throws SealError when the stored row does not open for this person. */
  reveal(person: Person): Promise<(LinkedKey & { readonly key: Secret }) | undefined>;
  describe(person: Person): Promise<LinkedKey | undefined>;
  /** Destroys the key; false = there was none. */
  forget(person: Person): Promise<boolean>;
  /** Destroys every key of an organisation or workspace, where the app was removed; says how many. */
  forgetTenant(tenant: string): Promise<number>;
}

export function createCustody(options: { db: Kysely<Schema>; sealer: Sealer; now: () => Date }): Custody {
  const { db, sealer, now } = options;
  return {
    async link(person, key) {
      const linked = { fingerprint: fingerprintOf(key), linkedAt: now() };
      const { tenant, userId } = ownerOf(person);
      await putLinkedKey(db, {
        tenant,
        user_id: userId,
        team_id: person.teamId,
        sealed: await sealer.seal(key, contextOf(person)),
        key_id: sealer.keyId,
        fingerprint: linked.fingerprint,
        linked_at: linked.linkedAt,
      });
      return linked;
    },
    async reveal(person) {
      const row = await findLinkedKey(db, ownerOf(person));
      if (!row) return undefined;
      const key = await sealer.open(row.sealed, contextOf(person));
      return { fingerprint: row.fingerprint, linkedAt: row.linked_at, key };
    },
    async describe(person) {
      const row = await findLinkedKey(db, ownerOf(person));
      return row && { fingerprint: row.fingerprint, linkedAt: row.linked_at };
    },
    forget: (person) => deleteLinkedKey(db, ownerOf(person)),
    forgetTenant: (tenant) => deleteLinkedKeysOf(db, tenant),
  };
}

function ownerOf(person: Person): Owner {
  return { tenant: tenantOf(person), userId: person.userId };
}

// Within an organisation a person is the same in every workspace, so the workspace is not part of what is bound.
function contextOf({ enterpriseId, teamId, userId }: Person): SealContext {
  return enterpriseId === undefined
    ? { enterprise: '', team: teamId, user: userId, kind: 'cdn-key' }
    : { enterprise: enterpriseId, team: '', user: userId, kind: 'cdn-key' };
}

// Its own domain: the same eight characters must not turn up where another program prints a plain hash of a key.
function fingerprintOf(key: Secret): string {
  return createHash('sha256')
    .update(`cdn-chatops key fingerprint\0${key.reveal()}`)
    .digest('hex')
    .slice(0, 8);
}
