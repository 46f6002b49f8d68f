import type { Installation, InstallationQuery, InstallationStore } from '@slack/oauth';
import type { Kysely } from 'kysely';
import { Secret } from '../secret.ts';
import {
  deleteInstallation,
  deleteInstallationUser,
  findInstallation,
  findInstallationUser,
  putInstallation,
} from '../store/installations.ts';
import type { WithLock } from '../store/locks.ts';
import type { Schema } from '../store/schema.ts';
import type { SealContext, Sealer } from './sealing.ts';

type AnyInstallation = Installation;
type Query = InstallationQuery<boolean>;

/** What `@slack/oauth` keeps its installations in, every token sealed. */
export interface Installations extends InstallationStore {
  /** Destroys an installation; with `userId` only the tokens that this person granted. False = there was none. */
  remove(query: Query): Promise<boolean>;
  deleteInstallation: (query: Query) => Promise<void>;
  /**
   * Runs `authorize` for a workspace or organisation in turn, among all processes: it may refresh a token, and the
   * refresh token works once (slack.md §2.4). `tenant` is the organisation of an org-wide install, else the workspace.
   */
  withRefreshLock: <T>(tenant: string, run: () => Promise<T>) => Promise<T>;
}

/** `fetchInstallation` rejects with this: the app was never installed there, or was removed. */
export class NotInstalledError extends Error {
  override readonly name = 'NotInstalledError';
  readonly code = 'not_installed';

  constructor(tenant: string) {
    super(`The workspace or organisation ${tenant} has no installation of this app.`);
  }
}

export function createInstallations(options: {
  db: Kysely<Schema>;
  sealer: Sealer;
  now: () => Date;
  withLock: WithLock;
}): Installations {
  const { db, sealer, now, withLock } = options;

  const find = async (tenant: Tenant): Promise<AnyInstallation | undefined> => {
    const sealed = await findInstallation(db, tenant.id);
    if (sealed === undefined) return undefined;
    const opened = await sealer.open(sealed, contextOf(tenant));
    return JSON.parse(opened.reveal()) as AnyInstallation;
  };

  const findUser = async (tenant: Tenant, userId: string): Promise<AnyInstallation['user'] | undefined> => {
    const sealed = await findInstallationUser(db, tenant.id, userId);
    if (sealed === undefined) return undefined;
    const opened = await sealer.open(sealed, contextOf(tenant, userId));
    return JSON.parse(opened.reveal()) as AnyInstallation['user'];
  };

  const remove = async (query: Query): Promise<boolean> => {
    const { id } = tenantOf(query.isEnterpriseInstall, query.enterpriseId, query.teamId);
    return query.userId === undefined
      ? deleteInstallation(db, id)
      : deleteInstallationUser(db, id, query.userId);
  };

  return {
    async storeInstallation(installation) {
      const tenant = tenantOf(
        installation.isEnterpriseInstall === true,
        installation.enterprise?.id,
        installation.team?.id,
      );
      const { user, ...rest } = installation;
      // Somebody who grants tokens only for themselves must not take the bot's token away from everybody.
      const bot = installation.bot ?? (await find(tenant))?.bot;
      const shared = {
        ...rest,
        ...(bot ? { bot } : {}),
        user: { id: user.id, token: undefined, scopes: undefined },
      };
      const row = { tenant: tenant.id, key_id: sealer.keyId, installed_at: now() };
      const seal = (value: object, context: SealContext): Promise<string> =>
        sealer.seal(new Secret(JSON.stringify(value)), context);
      await putInstallation(
        db,
        { ...row, sealed: await seal(shared, contextOf(tenant)) },
        user.token === undefined
          ? undefined
          : { ...row, user_id: user.id, sealed: await seal(user, contextOf(tenant, user.id)) },
      );
    },
    async fetchInstallation(query) {
      const tenant = tenantOf(query.isEnterpriseInstall, query.enterpriseId, query.teamId);
      const installation = await find(tenant);
      if (!installation) throw new NotInstalledError(tenant.id);
      const user = query.userId === undefined ? undefined : await findUser(tenant, query.userId);
      return user ? { ...installation, user } : installation;
    },
    remove,
    async deleteInstallation(query) {
      await remove(query);
    },
    withRefreshLock: (tenant, run) => withLock(`refresh/${tenant}`, run),
  };
}

interface Tenant {
  readonly id: string;
  readonly enterprise: boolean;
}

function tenantOf(enterprise: boolean, enterpriseId: string | undefined, teamId: string | undefined): Tenant {
  const id = enterprise ? enterpriseId : teamId;
  if (!id)
    throw new Error(
      `An installation was asked for without the id of its ${enterprise ? 'organisation' : 'workspace'}`,
    );
  return { id, enterprise };
}

function contextOf({ id, enterprise }: Tenant, user = ''): SealContext {
  const kind = user === '' ? 'installation' : 'installation-user';
  return enterprise ? { enterprise: id, team: '', user, kind } : { enterprise: '', team: id, user, kind };
}
