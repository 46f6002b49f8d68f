import type { Installation, InstallationQuery, InstallationStore } from '@slack/oauth';
import { registerSecret, Secret } from '../secrets/secret.ts';
import type { Db, Trx } from '../store/schema.ts';
import { destroySlot, openSlot, type SealedTable, type Sealer, sealRow } from './keys/sealing.ts';

type Query = InstallationQuery<boolean>;

/** The installation store of `@slack/oauth`, every token sealed. */
export interface Installations extends InstallationStore {
  remove(query: Query): Promise<boolean>;
  installedAt(tenant: string): Promise<Date | undefined>;
}

export class NotInstalledError extends Error {
  override readonly name = 'NotInstalledError';
  readonly code = 'not_installed';

  constructor(tenant: string) {
    super(`This app is not installed in the workspace or organization ${tenant}.`);
  }
}

export const installationsTable: SealedTable = {
  name: 'installations',
  kind: 'installation',
  owner: undefined,
  noun: ['installation', 'installations'],
};

export function createInstallations(options: {
  db: Db;
  sealer: Sealer;
  now: () => Date;
  onStored?: (tenant: string, options: { in: Trx }) => Promise<void>;
}): Installations {
  const { db, sealer, now, onStored } = options;
  return {
    async storeInstallation(installation) {
      const { isEnterpriseInstall = false, enterprise, team, user, bot } = installation;
      // A person who only granted tokens of their own must not take the bot's away.
      if (!bot) throw new Error('an installation needs the token of the bot');
      const tenant = tenantOf({ isEnterpriseInstall, enterpriseId: enterprise?.id, teamId: team?.id });
      const stored = {
        ...installation,
        isEnterpriseInstall,
        user: { id: user.id, token: undefined, scopes: undefined },
      };
      const secret = new Secret(JSON.stringify(stored), 'installation');
      const slot = { tenant, userId: '', kind: installationsTable.kind };
      await db.transaction().execute(async (trx) => {
        const sealed = await sealRow(trx, sealer, secret, slot, now());
        const columns = { ...sealed, installed_at: now() };
        await trx
          .insertInto('installations')
          .values({ tenant, ...columns })
          .onConflict((conflict) => conflict.column('tenant').doUpdateSet(columns))
          .execute();
        await onStored?.(tenant, { in: trx });
      });
    },
    async fetchInstallation(query) {
      const tenant = tenantOf(query);
      const opened = await openSlot(db, sealer, installationsTable, { tenant, userId: '' });
      if (!opened) throw new NotInstalledError(tenant);
      const installation = JSON.parse(opened.reveal()) as Installation;
      for (const token of [installation.bot?.token, installation.bot?.refreshToken])
        registerSecret('slack-token', token);
      return installation;
    },
    remove: (query) =>
      db
        .transaction()
        .execute((trx) =>
          destroySlot(trx, installationsTable, { tenant: tenantOf(query), userId: '' }, now()),
        ),
    async installedAt(tenant) {
      const row = db.selectFrom('installations').select('installed_at').where('tenant', '=', tenant);
      return (await row.executeTakeFirst())?.installed_at;
    },
  };
}

function tenantOf({ isEnterpriseInstall, enterpriseId, teamId }: Query): string {
  const tenant = isEnterpriseInstall ? enterpriseId : teamId;
  if (tenant) return tenant;
  throw new Error(
    `an installation needs the ID of its ${isEnterpriseInstall ? 'organization' : 'workspace'}`,
  );
}
