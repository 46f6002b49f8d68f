import type { Kysely } from 'kysely';
import type { Schema } from '../store/schema.ts';
import { type Person, tenantId } from './identity.ts';
import type { KeyStore } from './keys/key-store.ts';
import { findLinkedUsersOfTeam } from './keys/linked-keys.ts';

/** Whose work ends: one person's, or everybody's of an organisation or workspace. */
type Ended =
  | { readonly person: Person; readonly tenant: string }
  | { readonly person: undefined; readonly tenant: string };

/** Stops what runs for somebody (digests, requests that wait). Called after the key is gone; may be called twice. */
export type OffboardingHook = (ended: Ended) => Promise<void>;

/** A key ends with its person, its workspace and its installation; so does what ran on it. */
export interface Offboarding {
  /** Somebody was deactivated. */
  person(person: Person): Promise<void>;
  /** The app was taken out of one workspace of an organisation. */
  team(tenant: string, teamId: string): Promise<void>;
  /** The app was removed, or its tokens taken back. */
  tenant(tenant: string, cause: 'app-uninstalled' | 'tokens-revoked'): Promise<void>;
}

export function createOffboarding(options: {
  readonly db: Kysely<Schema>;
  readonly keyStore: KeyStore;
  readonly pauses: readonly OffboardingHook[];
}): Offboarding {
  const { db, keyStore, pauses } = options;
  const pause = async (ended: Ended): Promise<void> => {
    await Promise.all(pauses.map((stop) => stop(ended)));
  };
  const endPerson = async (person: Person, cause: string): Promise<void> => {
    await keyStore.forget(person, { actor: 'system', cause });
    await pause({ person, tenant: tenantId(person) });
  };
  return {
    person: (person) => endPerson(person, 'user-deleted'),
    async team(tenant, teamId) {
      for (const userId of await findLinkedUsersOfTeam(db, tenant, teamId)) {
        await endPerson({ enterpriseId: tenant, teamId, userId }, 'team-access-revoked');
      }
    },
    async tenant(tenant, cause) {
      await keyStore.forgetTenant(tenant, { actor: 'system', cause });
      await pause({ person: undefined, tenant });
    },
  };
}
