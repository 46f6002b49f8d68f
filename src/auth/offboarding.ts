import { type Person, tenantId } from './identity.ts';
import type { KeyStore } from './keys/key-store.ts';

/** Whose work ends: one person's, or everyone's of an organisation or workspace. */
interface Ended {
  readonly tenant: string;
  readonly person: Person | undefined;
}

/** Stops a feature's work (digests, waiting requests). Called after the key is gone; may be called twice. */
export type OffboardingHook = (ended: Ended) => Promise<void>;

/** Destroys keys when their person, workspace or installation goes, and stops the work that ran on them. */
export function createOffboarding(keyStore: KeyStore, hooks: readonly OffboardingHook[]) {
  const runHooks = (ended: Ended) => Promise.all(hooks.map((hook) => hook(ended)));
  const endPerson = async (person: Person, cause: string): Promise<void> => {
    await keyStore.forget(person, { actor: 'system', cause });
    await runHooks({ person, tenant: tenantId(person) });
  };
  return {
    /** Slack deactivated a person. */
    person: (person: Person) => endPerson(person, 'user-deleted'),
    /** The app was removed from one workspace of an organisation. */
    async team(tenant: string, teamId: string): Promise<void> {
      for (const userId of await keyStore.usersOfTeam(tenant, teamId))
        await endPerson({ enterpriseId: tenant, teamId, userId }, 'team-access-revoked');
    },
    /** The app was removed, or its tokens were revoked. */
    async tenant(tenant: string, cause: 'app-uninstalled' | 'tokens-revoked'): Promise<void> {
      await keyStore.forgetTenant(tenant, { actor: 'system', cause });
      await runHooks({ person: undefined, tenant });
    },
  };
}
