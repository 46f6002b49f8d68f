import type { Installation, InstallationQuery, InstallationStore } from '@slack/oauth';
import { registerSecret, Secret } from '../secrets/secret.ts';
import type { WithLock } from '../store/database.ts';
import type { Db, Trx } from '../store/schema.ts';
import { advanceVersion, destroySlot, openSlot, type SealedTable, sealRow } from './keys/sealed-rows.ts';
import type { Sealer } from './keys/sealing.ts';

type Query = InstallationQuery<boolean>;
/** The time comes back with the refreshed token of an installation; the page that installs knows none. */
type Stored = Installation & { readonly installedAt?: string };

/** The installation store of `@slack/oauth`, every token sealed. */
export interface Installations extends InstallationStore {
  /** Destroys an installation; with `userId` only the tokens that this person granted. False = there was none. */
  remove(query: Query): Promise<boolean>;
  /** When the tenant was installed last; a refreshed token is no new installation. */
  installedAt(tenant: string): Promise<Date | undefined>;
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
  db: Db;
  sealer: Sealer;
  now: () => Date;
  withLock: WithLock;
  /** Called with every installation that is stored, in its transaction: the app is (still) installed there. */
  onStored?: (tenant: string, options: { in: Trx }) => Promise<void>;
}): Installations {
  const { db, sealer, now, withLock, onStored } = options;

  const find = async (tenant: string): Promise<Stored | undefined> => {
    const opened = await openSlot(db, sealer, installationsTable, { tenant, userId: '' });
    if (!opened) return undefined;
    const installation = JSON.parse(opened.reveal()) as Stored;
    for (const token of [installation.bot?.token, installation.bot?.refreshToken])
      registerSecret('slack-token', token);
    return installation;
  };

  const findUser = async (tenant: string, userId: string): Promise<Installation['user'] | undefined> => {
    const opened = await openSlot(db, sealer, installationUsersTable, { tenant, userId });
    return opened && (JSON.parse(opened.reveal()) as Installation['user']);
  };

  const seal = async (
    trx: Trx,
    value: object,
    { tenant, userId = '', at }: { tenant: string; userId?: string; at: string },
  ) => {
    const { kind } = userId === '' ? installationsTable : installationUsersTable;
    const secret = new Secret(JSON.stringify(value), 'installation');
    return {
      ...(await sealRow(trx, sealer, secret, { tenant, userId, kind }, now())),
      installed_at: new Date(at),
    };
  };

  const remove = (query: Query): Promise<boolean> => {
    const tenant = tenantOf(query);
    const { userId } = query;
    return db.transaction().execute(async (trx) => {
      const removeUser = (user: string): Promise<boolean> =>
        destroySlot(trx, sealer, installationUsersTable, { tenant, userId: user }, now());
      if (userId !== undefined) return removeUser(userId);
      const slot = { tenant, userId: '', kind: installationsTable.kind };
      // Holds the installation, so that no person's token is stored between the next two steps.
      await advanceVersion(trx, sealer, slot, now());
      const users = trx.selectFrom('installation_users').where('tenant', '=', tenant);
      for (const { user_id } of await users.select('user_id').orderBy('user_id').execute())
        await removeUser(user_id);
      return destroySlot(trx, sealer, installationsTable, slot, now());
    });
  };

  return {
    async storeInstallation(installation: Stored) {
      const { isEnterpriseInstall = false, enterprise, team, user, ...rest } = installation;
      const { installedAt: at = now().toISOString() } = rest;
      const tenant = tenantOf({ isEnterpriseInstall, enterpriseId: enterprise?.id, teamId: team?.id });
      // An installation that grants only a person's own tokens must not remove the bot's token.
      const bot = installation.bot ?? (await find(tenant))?.bot;
      const shared = {
        ...rest,
        installedAt: at,
        isEnterpriseInstall,
        enterprise,
        team,
        ...(bot ? { bot } : {}),
        user: { id: user.id, token: undefined, scopes: undefined },
      };
      await db.transaction().execute(async (trx) => {
        const columns = await seal(trx, shared, { tenant, at });
        await trx
          .insertInto('installations')
          .values({ tenant, ...columns })
          .onConflict((conflict) => conflict.column('tenant').doUpdateSet(columns))
          .execute();
        await onStored?.(tenant, { in: trx });
        if (user.token === undefined) return;
        const own = await seal(trx, user, { tenant, userId: user.id, at });
        await trx
          .insertInto('installation_users')
          .values({ tenant, user_id: user.id, ...own })
          .onConflict((conflict) => conflict.columns(['tenant', 'user_id']).doUpdateSet(own))
          .execute();
      });
    },
    async fetchInstallation(query) {
      const tenant = tenantOf(query);
      const installation = await find(tenant);
      if (!installation) throw new NotInstalledError(tenant);
      const user = query.userId === undefined ? undefined : await findUser(tenant, query.userId);
      return user ? { ...installation, user } : installation;
    },
    remove,
    async installedAt(tenant) {
      const row = db.selectFrom('installations').select('installed_at').where('tenant', '=', tenant);
      return (await row.executeTakeFirst())?.installed_at;
    },
    withRefreshLock: (tenant, run) => withLock(`refresh/${tenant}`, run),
  };
}

/** The organisation of an org-wide install, else the workspace. */
function tenantOf({ isEnterpriseInstall, enterpriseId, teamId }: Omit<Query, 'userId'>): string {
  const tenant = isEnterpriseInstall ? enterpriseId : teamId;
  if (tenant) return tenant;
  throw new Error(
    `an installation needs the id of its ${isEnterpriseInstall ? 'organisation' : 'workspace'}`,
  );
}
