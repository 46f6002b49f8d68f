import { type Person, tenantId } from './identity.ts';
import type { KeyStore } from './keys/key-store.ts';

/** Whose work ends: one person's, or everyone's of an organisation or workspace. */
type Ended =
  | { readonly person: Person; readonly tenant: string }
  | { readonly person: undefined; readonly tenant: string };

/** Stops a feature's work (digests, waiting requests). Called after the key is gone; may be called twice. */
export type OffboardingHook = (ended: Ended) => Promise<void>;

/** Destroys keys when their person, workspace or installation goes, and stops the work that ran on them. */
export interface Offboarding {
  /** Slack deactivated a person. */
  readonly person: (person: Person) => Promise<void>;
  /** The app was removed from one workspace of an organisation. */
  readonly team: (tenant: string, teamId: string) => Promise<void>;
  /** The app was removed, or its tokens were revoked. */
  readonly tenant: (tenant: string, cause: 'app-uninstalled' | 'tokens-revoked') => Promise<void>;
}

export function createOffboarding(keyStore: KeyStore, hooks: readonly OffboardingHook[]): Offboarding {
  const runHooks = async (ended: Ended): Promise<void> => {
    await Promise.all(hooks.map((hook) => hook(ended)));
  };
  const endPerson = async (person: Person, cause: string): Promise<void> => {
    await keyStore.forget(person, { actor: 'system', cause });
    await runHooks({ person, tenant: tenantId(person) });
  };
  return {
    person: (person) => endPerson(person, 'user-deleted'),
    async team(tenant, teamId) {
      for (const userId of await keyStore.usersOfTeam(tenant, teamId)) {
        await endPerson({ enterpriseId: tenant, teamId, userId }, 'team-access-revoked');
      }
    },
    async tenant(tenant, cause) {
      await keyStore.forgetTenant(tenant, { actor: 'system', cause });
      await runHooks({ person: undefined, tenant });
    },
  };
}
