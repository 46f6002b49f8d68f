import type { Installation, InstallationQuery, InstallationStore } from '@slack/oauth';
import type { Kysely, Transaction } from 'kysely';
import { registerSecret, Secret } from '../secrets/secret.ts';
import type { WithLock } from '../store/locks.ts';
import type { Schema } from '../store/schema.ts';
import {
  deleteInstallation,
  deleteInstallationUser,
  findInstallation,
  findInstallationUser,
  findInstallationUsers,
  installationKind,
  installationUserKind,
  putInstallation,
  putInstallationUser,
  type SealedRow,
} from './installation-queries.ts';
import { type Slot, selectNewestVersion } from './keyring/sealed-versions.ts';
import { readKeyId, type SealContext, type Sealer } from './keys/sealing.ts';
import { advanceVersion, checkVersion } from './keys/versions.ts';

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
  /** The app is (still) installed there: called with every token that is stored, in its transaction. */
  stored?: (tenant: string, options: { in: Transaction<Schema> }) => Promise<void>;
}): Installations {
  const { db, sealer, now, withLock, stored } = options;

  const find = async (tenant: Tenant): Promise<AnyInstallation | undefined> => {
    const row = await findInstallation(db, tenant.id);
    return row && noted(JSON.parse(await open(row, tenant)) as AnyInstallation);
  };

  const findUser = async (tenant: Tenant, userId: string): Promise<AnyInstallation['user'] | undefined> => {
    const row = await findInstallationUser(db, tenant.id, userId);
    return row && (JSON.parse(await open(row, tenant, userId)) as AnyInstallation['user']);
  };

  const open = async (row: SealedRow, tenant: Tenant, userId = ''): Promise<string> => {
    checkVersion(sealer, slotOf(tenant.id, userId), row.version, selectNewestVersion(row));
    const context = { ...contextOf(tenant, userId), version: row.version };
    return (await sealer.open(row.sealed, context)).reveal();
  };

  /** What a row of this tenant or person holds from now on, sealed as the newest. */
  const seal = async (
    trx: Transaction<Schema>,
    value: object,
    tenant: Tenant,
    userId = '',
  ): Promise<{ sealed: string; key_id: string; version: number }> => {
    const version = await advanceVersion(trx, sealer, slotOf(tenant.id, userId), now());
    const context = { ...contextOf(tenant, userId), version };
    const sealed = await sealer.seal(new Secret(JSON.stringify(value), 'installation'), context);
    return { sealed, key_id: readKeyId(sealed), version };
  };

  const remove = async (query: Query): Promise<boolean> => {
    const { id } = tenantOf(query.isEnterpriseInstall, query.enterpriseId, query.teamId);
    const { userId } = query;
    return db.transaction().execute(async (trx) => {
      const supersede = (owner = ''): Promise<number> =>
        advanceVersion(trx, sealer, slotOf(id, owner), now());
      if (userId !== undefined) {
        await supersede(userId);
        return deleteInstallationUser(trx, id, userId);
      }
      await supersede();
      for (const user of await findInstallationUsers(trx, id)) await supersede(user);
      return deleteInstallation(trx, id);
    });
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
      const row = { tenant: tenant.id, installed_at: now() };
      await db.transaction().execute(async (trx) => {
        await putInstallation(trx, { ...row, ...(await seal(trx, shared, tenant)) });
        await stored?.(tenant.id, { in: trx });
        if (user.token === undefined) return;
        await putInstallationUser(trx, {
          ...row,
          user_id: user.id,
          ...(await seal(trx, user, tenant, user.id)),
        });
      });
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

/** The tokens in it are guarded one by one. */
function noted(installation: AnyInstallation): AnyInstallation {
  const { bot } = installation;
  for (const token of [bot?.token, bot?.refreshToken]) registerSecret('slack-token', token);
  return installation;
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

function contextOf({ id, enterprise }: Tenant, user: string): SealContext {
  const { kind } = slotOf(id, user);
  return enterprise ? { enterprise: id, team: '', user, kind } : { enterprise: '', team: id, user, kind };
}

function slotOf(tenant: string, userId: string): Slot {
  return { tenant, userId, kind: userId === '' ? installationKind : installationUserKind };
}
