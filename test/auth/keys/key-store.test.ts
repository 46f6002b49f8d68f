import { type RawBuilder, type Selectable, sql } from 'kysely';
import { describe, expect, test } from 'vitest';
import { createAudit, verifyChain } from '../../../src/auth/audit/audit.ts';
import type { Person } from '../../../src/auth/identity.ts';
import { createInstallations, installationsTable } from '../../../src/auth/installations.ts';
import {
  createKeyStore,
  type KeyStore,
  linkedKeysTable,
  requireKey,
} from '../../../src/auth/keys/key-store.ts';
import { createSealer, openSlot, SealError } from '../../../src/auth/keys/sealing.ts';
import { Secret } from '../../../src/secrets/secret.ts';
import type { Database } from '../../../src/store/database.ts';
import type { Schema } from '../../../src/store/schema.ts';
import { prepareEngines } from '../../support/engines.ts';
import { looksSecret } from '../audit/tampering.ts';
import { createKeyring } from '../keyring/keyrings.ts';

const engines = await prepareEngines();
const { embedded } = engines;
const at = new Date('2026-11-21T08:00:00.000Z');

const alice: Person = { teamId: 'T0ACME000', userId: 'U0ALICE00' };
const bob: Person = { teamId: 'T0ACME000', userId: 'U0BOB0000' };
const otherAlice: Person = { teamId: 'T0BETA000', userId: 'U0ALICE00' };

async function keyStoreOn({ db }: Database, now = () => at): Promise<KeyStore> {
  return createKeyStore({ db, sealer: createSealer(await createKeyring()), now });
}

type Row = Selectable<Schema['linked_keys']>;

function rowOf({ db }: Database, person: Person): Promise<Row> {
  return db
    .selectFrom('linked_keys')
    .selectAll()
    .where('tenant', '=', person.enterpriseId ?? person.teamId)
    .where('user_id', '=', person.userId)
    .executeTakeFirstOrThrow();
}

/** What only somebody can do who owns the table. */
async function pastTheTriggers({ db }: Database, change: RawBuilder<unknown>): Promise<void> {
  await db.transaction().execute(async (trx) => {
    await sql`alter table sealed_versions disable trigger user`.execute(trx);
    await change.execute(trx);
    await sql`alter table sealed_versions enable trigger user`.execute(trx);
  });
}

test('a linked key comes back whole, until another replaces it, and is not stored in the clear', async () => {
  const database = await embedded.emptyDatabase();
  let now = at;
  const keyStore = await keyStoreOn(database, () => now);
  const linked = await keyStore.link(alice, new Secret('key-of-alice'));
  // No plain hash, which another program may print.
  expect(linked).toEqual({ fingerprint: '6d4a2b12', linkedAt: at });
  const found = await keyStore.reveal(alice);
  expect(found).toMatchObject(linked);
  expect(found?.key.reveal()).toBe('key-of-alice');
  expect(await keyStore.describe(alice)).toEqual(linked);
  expect(await keyStore.reveal(bob)).toBeUndefined();
  expect(await requireKey(keyStore, alice)).toMatchObject(linked);
  await expect(requireKey(keyStore, bob)).rejects.toMatchObject({ name: 'UserError' });
  const rows = JSON.stringify(await database.db.selectFrom('linked_keys').selectAll().execute());
  for (const text of ['key-of-alice', Buffer.from('key-of-alice').toString('base64url')])
    expect(rows).not.toContain(text);

  now = new Date(at.getTime() + 60_000);
  const second = await keyStore.link(alice, new Secret('second'));
  expect(second.fingerprint).not.toBe(linked.fingerprint);
  const replaced = await keyStore.reveal(alice);
  expect([replaced?.key.reveal(), replaced?.linkedAt]).toEqual(['second', now]);
});

test('equal user ids in two workspaces are two people, in those of one organization the same', async () => {
  const { db, ...database } = await embedded.emptyDatabase();
  const keyStore = await keyStoreOn({ db, ...database });
  const inCorp = { enterpriseId: 'E0CORP0000', teamId: 'T0CORPONE', userId: 'U0ALICE00' };
  for (const person of [alice, otherAlice, inCorp]) await keyStore.link(person, new Secret(person.teamId));
  await keyStore.forget(alice);
  expect(await keyStore.reveal(alice)).toBeUndefined();
  // Nothing is stored about people who never connected a key.
  expect(await keyStore.forget(bob)).toBe(false);
  expect(await db.selectFrom('sealed_versions').select('user_id').distinct().execute()).toEqual([
    { user_id: alice.userId },
  ]);
  expect((await keyStore.reveal(otherAlice))?.key.reveal()).toBe(otherAlice.teamId);
  expect((await keyStore.reveal({ ...inCorp, teamId: 'T0CORPTWO' }))?.key.reveal()).toBe('T0CORPONE');

  await keyStore.link({ ...inCorp, teamId: 'T0CORPTWO', userId: 'U0BOB0000' }, new Secret('of Bob'));
  const found = [inCorp.enterpriseId, otherAlice.teamId].map((tenant) =>
    keyStore.usersOfTeam(tenant, 'T0CORPONE'),
  );
  expect(await Promise.all(found)).toEqual([[inCorp.userId], []]);
});

test('a slot opens by its owner, or by its tenant where that is the owner', async () => {
  const { db } = await embedded.emptyDatabase();
  const sealer = createSealer(await createKeyring());
  for (const person of [alice, bob])
    await createKeyStore({ db, sealer, now: () => at }).link(person, new Secret(person.userId));
  const tenant = alice.teamId;
  const installation = { team: { id: tenant }, user: { id: alice.userId }, bot: { token: 'xoxb' } };
  const open = async (...slot: [typeof linkedKeysTable, string]) =>
    (await openSlot(db, sealer, slot[0], { tenant, userId: slot[1] }))?.reveal();
  expect(await open(linkedKeysTable, bob.userId)).toBe(bob.userId);
  expect(await open(linkedKeysTable, 'U0NOBODY0')).toBeUndefined();
  expect(await open(installationsTable, '')).toBeUndefined();
  await createInstallations({ db, sealer, now: () => at }).storeInstallation(installation as never);
  expect(await open(installationsTable, '')).toContain('xoxb');
});

test('what goes wrong otherwise while a key is opened is no wrong key, and not recorded as one', async () => {
  const { db } = await embedded.emptyDatabase();
  const sealer = { ...createSealer(await createKeyring()), open: () => Promise.reject(new Error('a bug')) };
  const keyStore = createKeyStore({ db, sealer, now: () => at });
  await keyStore.link(alice, new Secret('key'));
  await expect(keyStore.reveal(alice)).rejects.toThrow('a bug');
  expect(await createAudit({ db, now: () => at }).recent(alice.teamId, 5)).toHaveLength(1);
});

test('an older copy of a row that is put back does not open, is recorded, and connecting again mends it', async () => {
  const database = await embedded.emptyDatabase();
  const keyStore = await keyStoreOn(database);
  await keyStore.link(alice, new Secret('old key'));
  const older = await rowOf(database, alice);
  await keyStore.link(alice, new Secret('new key'));
  await database.db.updateTable('linked_keys').set(older).execute();
  await expect(keyStore.reveal(alice)).rejects.toMatchObject({ name: 'SealError', code: 'replayed' });
  const [newest] = await createAudit({ db: database.db, now: () => at }).recent(alice.teamId, 1);
  expect(newest).toMatchObject({
    event: 'key-mismatch',
    actor: 'system',
    subject: alice.userId,
    detail: { code: 'replayed' },
  });
  await keyStore.link(alice, new Secret('newest key'));
  expect((await keyStore.reveal(alice))?.key.reveal()).toBe('newest key');
});

test('a destroyed row that is put back does not open', async () => {
  const database = await embedded.emptyDatabase();
  const keyStore = await keyStoreOn(database);
  await keyStore.link(alice, new Secret('key'));
  const destroyed = await rowOf(database, alice);
  await keyStore.forget(alice);
  await database.db.insertInto('linked_keys').values(destroyed).execute();
  await expect(keyStore.reveal(alice)).rejects.toMatchObject({ code: 'replayed' });

  await database.db.deleteFrom('linked_keys').execute();
  await keyStore.link(alice, new Secret('key'));
  const ofTenant = await rowOf(database, alice);
  await keyStore.forgetTenant(alice.teamId);
  await database.db.insertInto('linked_keys').values(ofTenant).execute();
  await expect(keyStore.reveal(alice)).rejects.toMatchObject({ code: 'replayed' });
});

test('an older copy does not open either where the record of its version was taken away', async () => {
  const database = await embedded.emptyDatabase();
  const keyStore = await keyStoreOn(database);
  await keyStore.link(alice, new Secret('old key'));
  const older = await rowOf(database, alice);
  await keyStore.link(alice, new Secret('new key'));
  await database.db.updateTable('linked_keys').set(older).execute();
  const takeAway = sql`delete from sealed_versions`;
  await expect(takeAway.execute(database.db)).rejects.toMatchObject({ code: '23000' });
  await pastTheTriggers(database, takeAway);
  await expect(keyStore.reveal(alice)).rejects.toBeInstanceOf(SealError);
});

test('a row that takes its version along to another person does not open', async () => {
  const database = await embedded.emptyDatabase();
  const keyStore = await keyStoreOn(database);
  for (const thief of [bob, otherAlice]) {
    await keyStore.link(alice, new Secret('key-of-alice'));
    await keyStore.link(thief, new Secret('key-of-thief'));
    const { sealed, key_id, version } = await rowOf(database, alice);
    const ofThief = { tenant: thief.teamId, user_id: thief.userId };
    await database.db
      .updateTable('linked_keys')
      .set({ sealed, key_id, version })
      .where((is) => is.and(ofThief))
      .execute();
    await pastTheTriggers(
      database,
      sql`update sealed_versions set version = ${version}
           where tenant = ${ofThief.tenant} and user_id = ${ofThief.user_id}`,
    );
    await expect(keyStore.reveal(thief)).rejects.toMatchObject({ code: 'refused' });
  }
});

test('each link and each loss is recorded with the change: who, whose, why', async () => {
  const database = await embedded.emptyDatabase();
  const keyStore = await keyStoreOn(database);
  const { fingerprint } = await keyStore.link(alice, new Secret('first'));
  await keyStore.link(alice, new Secret('second'), { cause: 'page' });
  await keyStore.forget(alice, { cause: 'disconnect' });
  await keyStore.forget(alice, { cause: 'disconnect' });
  await keyStore.link(alice, new Secret('third'));
  await keyStore.link(bob, new Secret('fourth'));
  await keyStore.forgetTenant(alice.teamId, { cause: 'app-uninstalled' });
  const audit = createAudit({ db: database.db, now: () => at });
  const records = (await audit.recent(alice.teamId, 20)).toReversed();
  expect(records.map(({ actor, event, subject, detail }) => [actor, event, subject, detail])).toEqual([
    ['U0ALICE00', 'key-linked', 'U0ALICE00', { fingerprint, replaced: false }],
    [
      'U0ALICE00',
      'key-linked',
      'U0ALICE00',
      { fingerprint: expect.any(String), replaced: true, cause: 'page' },
    ],
    ['U0ALICE00', 'key-destroyed', 'U0ALICE00', { cause: 'disconnect' }],
    ['U0ALICE00', 'key-linked', 'U0ALICE00', { fingerprint: expect.any(String), replaced: false }],
    ['U0BOB0000', 'key-linked', 'U0BOB0000', { fingerprint: expect.any(String), replaced: false }],
    ['system', 'key-destroyed', 'U0ALICE00', { cause: 'app-uninstalled' }],
    ['system', 'key-destroyed', 'U0BOB0000', { cause: 'app-uninstalled' }],
  ]);
  expect(await verifyChain(database.db, alice.teamId)).toMatchObject({ ok: true, records: 7 });
});

test('a change that cannot be recorded does not happen', async () => {
  const database = await embedded.emptyDatabase();
  const keyStore = await keyStoreOn(database);
  await keyStore.link(alice, new Secret('key'));
  const secretly = { cause: 'xoxb-1-2-abc' };
  await expect(keyStore.link(alice, new Secret('other'), secretly)).rejects.toThrow(looksSecret);
  await expect(keyStore.forget(alice, secretly)).rejects.toThrow(looksSecret);
  await expect(keyStore.forgetTenant(alice.teamId, secretly)).rejects.toThrow(looksSecret);
  expect((await keyStore.reveal(alice))?.key.reveal()).toBe('key');
});

// The embedded database has one session, in which nothing runs beside a transaction.
test.skipIf(engines.postgres.skip)(
  'a key that is being linked while the app is uninstalled leaves no row',
  async () => {
    const database = await engines.postgres.emptyDatabase();
    const sealer = createSealer(await createKeyring());
    const [sealing, go] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const seal: typeof sealer.seal = async (...given) => {
      sealing.resolve();
      await go.promise;
      return sealer.seal(...given);
    };
    const options = { db: database.db, now: () => at };
    const slow = createKeyStore({ ...options, sealer: { ...sealer, seal } });
    const linking = slow.link(alice, new Secret('key-of-alice'));
    await sealing.promise;
    const removing = createKeyStore({ ...options, sealer }).forgetTenant('T0ACME000');
    // Time in which it would be done, if it did not wait for the key that is being linked.
    for (let nth = 0; nth < 20; nth += 1) await database.db.selectFrom('names').selectAll().execute();
    go.resolve();
    await linking;
    expect(await removing).toBe(1);
    expect(await slow.describe(alice)).toBeUndefined();
  },
);

describe.each(engines.both)('on $name', ({ skip, emptyDatabase }) => {
  test.skipIf(skip)(
    'links, losses and a removed app at the same moment leave whole rows and a whole record',
    async () => {
      const database = await emptyDatabase();
      const keyStore = await keyStoreOn(database);
      const people = [alice, bob, { ...alice, userId: 'U0CAROL00' }];
      await Promise.all(
        Array.from({ length: 30 }, async (_, n) => {
          const person = people[n % people.length] ?? alice;
          if (n % 10 === 9) await keyStore.forgetTenant(alice.teamId);
          else if (n % 4 === 3) await keyStore.forget(person);
          else await keyStore.link(person, new Secret(`key ${n}`));
        }),
      );
      for (const person of people) {
        const found = await keyStore.reveal(person);
        expect(found?.key.reveal() ?? 'key 0').toMatch(/^key \d+$/);
      }
      expect(await verifyChain(database.db, alice.teamId)).toMatchObject({ ok: true });
    },
  );
});
