import type { Installation, InstallationQuery } from '@slack/oauth';
import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { sealedTables } from '../../src/app/keyring-service.ts';
import { createInstallations, type Installations, NotInstalledError } from '../../src/auth/installations.ts';
import { createKeyStore } from '../../src/auth/keys/key-store.ts';
import {
  createSealer,
  ownerColumn,
  SealError,
  type SealedTable,
  type Slot,
} from '../../src/auth/keys/sealing.ts';
import { findSecretKinds } from '../../src/secrets/scanner.ts';
import { Secret, withSecrets } from '../../src/secrets/secret.ts';
import type { Database } from '../../src/store/database.ts';
import { prepareEngines } from '../support/engines.ts';
import { createKeyring, generateKeys } from './keyring/keyrings.ts';

const engines = await prepareEngines();
const { embedded } = engines;
const entries = generateKeys('k1');

async function installationsOn({ db }: Database): Promise<Installations> {
  const sealer = createSealer(await createKeyring(entries));
  return createInstallations({ db, sealer, now: () => new Date('2026-11-21T08:00:00Z') });
}

/** Every row of a table, with the context that it was sealed with. */
async function readSealed({ db }: Database, table: SealedTable) {
  const { rows } = await sql<Slot & { version: number; value: string }>`
    select tenant, ${ownerColumn(table)} as "userId", ${table.kind}::text as kind, version, sealed as value
      from ${sql.table(table.name)}`.execute(db);
  return rows;
}

const acme: Installation<'v2', false> = {
  team: { id: 'T0ACME000', name: 'Acme' },
  enterprise: undefined,
  user: { id: 'U0ALICE00', token: undefined, scopes: undefined },
  bot: {
    id: 'B0BOT0000',
    userId: 'U0BOT0000',
    token: 'bot-token-of-acme',
    refreshToken: 'refresh-token-of-acme',
    expiresAt: 1_795_000_000,
    scopes: ['commands', 'chat:write'],
  },
  appId: 'A0APP0000',
  tokenType: 'bot',
  isEnterpriseInstall: false,
  authVersion: 'v2',
};
const corp: Installation<'v2', true> = {
  ...acme,
  team: undefined,
  enterprise: { id: 'E0CORP0000', name: 'Corp' },
  bot: { id: 'B0BOT0000', userId: 'U0BOT0000', token: 'bot-token-of-corp', scopes: ['commands'] },
  isEnterpriseInstall: true,
};
const inAcme: InstallationQuery<false> = {
  teamId: 'T0ACME000',
  enterpriseId: undefined,
  isEnterpriseInstall: false,
};
const inCorp: InstallationQuery<true> = {
  teamId: undefined,
  enterpriseId: 'E0CORP0000',
  isEnterpriseInstall: true,
};

test('an installation is kept by its workspace or organization, comes back as it was stored, and goes alone', async () => {
  const installations = await installationsOn(await embedded.emptyDatabase());
  await installations.storeInstallation(acme);
  await installations.storeInstallation(corp);
  expect(await installations.fetchInstallation(inAcme)).toEqual(JSON.parse(JSON.stringify(acme)));
  expect(await installations.fetchInstallation(inCorp)).toEqual(JSON.parse(JSON.stringify(corp)));
  const inOneTeam = { ...inCorp, teamId: 'T0CORPONE' } as unknown as InstallationQuery<true>;
  expect((await installations.fetchInstallation(inOneTeam)).bot?.token).toBe('bot-token-of-corp');
  const missing = installations.fetchInstallation({ ...inAcme, teamId: 'T0OTHER00' });
  await expect(missing).rejects.toBeInstanceOf(NotInstalledError);
  await expect(missing).rejects.toThrow('T0OTHER00');

  expect(await installations.remove(inAcme)).toBe(true);
  expect(await installations.remove(inAcme)).toBe(false);
  await expect(installations.fetchInstallation(inAcme)).rejects.toBeInstanceOf(NotInstalledError);
  expect((await installations.fetchInstallation(inCorp)).bot?.token).toBe('bot-token-of-corp');
});

test('no token is readable, and tokens of people are not kept', async () => {
  const database = await embedded.emptyDatabase();
  const installations = await installationsOn(database);
  await installations.storeInstallation({
    ...acme,
    user: { id: 'U0ALICE00', token: 'user-token-of-alice', scopes: ['search:read'] },
  });
  const rows = JSON.stringify(await database.db.selectFrom('installations').selectAll().execute());
  expect(rows).toContain('T0ACME000');
  expect(rows).not.toMatch(/(bot|refresh|user)-token/);
  await withSecrets(async () => {
    const found = await installations.fetchInstallation(inAcme);
    expect(found.user.token).toBeUndefined();
    for (const token of [found.bot?.token, found.bot?.refreshToken])
      expect(findSecretKinds(token ?? '')).toEqual(['slack-token']);
  });
});

test.each([{ teamId: undefined }, { isEnterpriseInstall: true as const }])(
  'without the id of its workspace or organization an installation is neither stored nor read: %j',
  async (lacking) => {
    const installations = await installationsOn(await embedded.emptyDatabase());
    const query = { ...inAcme, ...lacking } as InstallationQuery<boolean>;
    await expect(installations.fetchInstallation(query)).rejects.toThrow('needs the ID');
  },
);

test('somebody who installs without the bot does not take its token away', async () => {
  const installations = await installationsOn(await embedded.emptyDatabase());
  await installations.storeInstallation(acme);
  const { bot: _bot, ...userOnly } = acme;
  const user = { id: 'U0BOB0000', token: 'user-token-of-bob', scopes: [] };
  await expect(installations.storeInstallation({ ...userOnly, user })).rejects.toThrow('token of the bot');
  expect((await installations.fetchInstallation(inAcme)).bot?.token).toBe('bot-token-of-acme');
});

test('an older copy that is put back does not open, nor one of an app that was removed', async () => {
  const database = await embedded.emptyDatabase();
  const installations = await installationsOn(database);
  await installations.storeInstallation(acme);
  const [older] = await database.db.selectFrom('installations').selectAll().execute();
  if (!older) throw new Error('nothing was stored');
  await installations.storeInstallation(acme);
  const [newest] = await database.db.selectFrom('installations').selectAll().execute();
  await database.db.updateTable('installations').set(older).execute();
  await expect(installations.fetchInstallation(inAcme)).rejects.toMatchObject({ code: 'replayed' });

  await installations.remove(inAcme);
  if (newest) await database.db.insertInto('installations').values(newest).execute();
  await expect(installations.fetchInstallation(inAcme)).rejects.toMatchObject({ code: 'replayed' });
  await installations.storeInstallation(acme);
  expect((await installations.fetchInstallation(inAcme)).bot?.token).toBe('bot-token-of-acme');
});

test('of all sealed values only the own one opens in a place, whatever version is claimed for it', async () => {
  const database = await embedded.emptyDatabase();
  const installations = await installationsOn(database);
  const sealer = createSealer(await createKeyring(entries));
  const keyStore = createKeyStore({
    db: database.db,
    sealer,
    now: () => new Date('2026-11-21T08:00:00Z'),
  });
  await installations.storeInstallation(acme);
  await installations.storeInstallation({ ...acme, team: { id: 'T0BETA000' } });
  await installations.storeInstallation(corp);
  for (const [teamId, userId] of [
    ['T0ACME000', 'U0ALICE00'],
    ['T0ACME000', 'U0BOB0000'],
    ['T0BETA000', 'U0ALICE00'],
  ] as const)
    await keyStore.link({ teamId, userId }, new Secret('cdn key'));
  const rows = (await Promise.all(sealedTables.map((table) => readSealed(database, table)))).flat();
  expect(rows).toHaveLength(6);
  for (const here of rows) {
    await sealer.open(here.value, here);
    for (const { value, version } of rows.filter((there) => there !== here))
      await expect(sealer.open(value, { ...here, version })).rejects.toBeInstanceOf(SealError);
  }
});
