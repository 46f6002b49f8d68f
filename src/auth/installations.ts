import type { Installation, InstallationQuery, InstallationStore } from '@slack/oauth';
import type { Kysely, Transaction } from 'kysely';
import { registerSecret, Secret } from '../secrets/secret.ts';
import type { WithLock } from '../store/database.ts';
import type { Schema } from '../store/schema.ts';
import {
  advanceVersion,
  newestVersion,
  openRow,
  type SealedColumns,
  type SealedTable,
  sealRow,
  slotOf,
} from './keys/sealed-rows.ts';
import type { SealContext, Sealer } from './keys/sealing.ts';

type Query = InstallationQuery<boolean>;

/** The installation store of `@slack/oauth`, every token sealed. */
export interface Installations extends InstallationStore {
  /** Destroys an installation; with `userId` only the tokens that this person granted. False = there was none. */
  remove(query: Query): Promise<boolean>;
  deleteInstallation: (query: Query) => Promise<void>;
  /**
   * Runs `run` for a workspace or organisation in turn, among all processes. It may refresh a token, and a refresh token
   * works once (docs.slack.dev/authentication/using-token-rotation). `tenant` is the organisation of an org-wide
   * install, else the workspace.
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

/** A row per workspace or organisation: what its installation granted. */
export const installationsTable: SealedTable = {
  name: 'installations',
  kind: 'installation',
  owner: undefined,
  noun: ['installation', 'installations'],
};

/** The tokens that people granted for themselves while installing. */
export const installationUsersTable: SealedTable = {
  name: 'installation_users',
  kind: 'installation-user',
  owner: 'user_id',
  noun: ['Slack token of a person', 'Slack tokens of people'],
};

export function createInstallations(options: {
  db: Kysely<Schema>;
  sealer: Sealer;
  now: () => Date;
  withLock: WithLock;
  /** Called with every installation that is stored, in its transaction: the app is (still) installed there. */
  onStored?: (tenant: string, options: { in: Transaction<Schema> }) => Promise<void>;
}): Installations {
  const { db, sealer, now, withLock, onStored } = options;

  const find = async (tenant: Tenant): Promise<Installation | undefined> => {
    const row = await db
      .selectFrom('installations')
      .select(['sealed', 'version', newestVersion(installationsTable)])
      .where('tenant', '=', tenant.id)
      .executeTakeFirst();
    if (!row) return undefined;
    const opened = await openRow(sealer, row, contextOf(tenant));
    const installation = JSON.parse(opened.reveal()) as Installation;
    const { bot } = installation;
    for (const token of [bot?.token, bot?.refreshToken]) registerSecret('slack-token', token);
    return installation;
  };

  const findUser = async (tenant: Tenant, userId: string): Promise<Installation['user'] | undefined> => {
    const row = await db
      .selectFrom('installation_users')
      .select(['sealed', 'version', newestVersion(installationUsersTable)])
      .where('tenant', '=', tenant.id)
      .where('user_id', '=', userId)
      .executeTakeFirst();
    if (!row) return undefined;
    const opened = await openRow(sealer, row, contextOf(tenant, userId));
    return JSON.parse(opened.reveal()) as Installation['user'];
  };

  const seal = (
    trx: Transaction<Schema>,
    value: object,
    tenant: Tenant,
    userId = '',
  ): Promise<SealedColumns> => {
    const secret = new Secret(JSON.stringify(value), 'installation');
    return sealRow(trx, sealer, secret, contextOf(tenant, userId), now());
  };

  const remove = (query: Query): Promise<boolean> => {
    const tenant = tenantOf(query.isEnterpriseInstall, query.enterpriseId, query.teamId);
    const { userId } = query;
    return db.transaction().execute(async (trx) => {
      const revoke = (owner = ''): Promise<number> =>
        advanceVersion(trx, sealer, slotOf(contextOf(tenant, owner)), now());
      const users = trx.selectFrom('installation_users').where('tenant', '=', tenant.id);
      if (userId !== undefined) {
        await revoke(userId);
        const { numDeletedRows } = await trx
          .deleteFrom('installation_users')
          .where('tenant', '=', tenant.id)
          .where('user_id', '=', userId)
          .executeTakeFirst();
        return numDeletedRows > 0n;
      }
      await revoke();
      for (const user of await users.select('user_id').orderBy('user_id').execute())
        await revoke(user.user_id);
      // Takes the tokens of people with it.
      const { numDeletedRows } = await trx
        .deleteFrom('installations')
        .where('tenant', '=', tenant.id)
        .executeTakeFirst();
      return numDeletedRows > 0n;
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
      // An installation that grants only a person's own tokens must not remove the bot's token.
      const bot = installation.bot ?? (await find(tenant))?.bot;
      const shared = {
        ...rest,
        ...(bot ? { bot } : {}),
        user: { id: user.id, token: undefined, scopes: undefined },
      };
      await db.transaction().execute(async (trx) => {
        const columns = { ...(await seal(trx, shared, tenant)), installed_at: now() };
        await trx
          .insertInto('installations')
          .values({ tenant: tenant.id, ...columns })
          .onConflict((conflict) => conflict.column('tenant').doUpdateSet(columns))
          .execute();
        await onStored?.(tenant.id, { in: trx });
        if (user.token === undefined) return;
        const own = { ...(await seal(trx, user, tenant, user.id)), installed_at: now() };
        await trx
          .insertInto('installation_users')
          .values({ tenant: tenant.id, user_id: user.id, ...own })
          .onConflict((conflict) => conflict.columns(['tenant', 'user_id']).doUpdateSet(own))
          .execute();
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

interface Tenant {
  readonly id: string;
  readonly enterprise: boolean;
}

function tenantOf(enterprise: boolean, enterpriseId: string | undefined, teamId: string | undefined): Tenant {
  const id = enterprise ? enterpriseId : teamId;
  if (!id)
    throw new Error(`an installation needs the id of its ${enterprise ? 'organisation' : 'workspace'}`);
  return { id, enterprise };
}

function contextOf({ id, enterprise }: Tenant, user = ''): SealContext {
  const { kind } = user === '' ? installationsTable : installationUsersTable;
  return enterprise ? { enterprise: id, team: '', user, kind } : { enterprise: '', team: id, user, kind };
}
