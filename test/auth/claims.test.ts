import { sql } from 'kysely';
import { describe, expect, test } from 'vitest';
import { createAudit } from '../../src/auth/audit/audit.ts';
import { createDeliveryClaims } from '../../src/auth/claims.ts';
import type { Person } from '../../src/auth/identity.ts';
import { createKeyStore } from '../../src/auth/keys/key-store.ts';
import { createSealer } from '../../src/auth/keys/sealing.ts';
import { createPolicies } from '../../src/auth/policy/policies.ts';
import { initialPolicy } from '../../src/auth/policy/policy.ts';
import { Secret } from '../../src/secrets/secret.ts';
import type { Database } from '../../src/store/database.ts';
import { prepareEngines } from '../support/engines.ts';
import { createKeyring } from './keyring/keyrings.ts';

const engines = await prepareEngines();
const { embedded } = engines;
const alice: Person = { teamId: 'T0ACME000', userId: 'U0ALICE00' };
const bob: Person = { teamId: 'T0BETA000', userId: 'U0BOB0000' };
const now = (): Date => new Date('2026-11-21T08:00:00.000Z');

async function claimsOn({ db }: Database) {
  const keyStore = createKeyStore({ db, sealer: createSealer(await createKeyring()), now });
  const audit = createAudit({ db, now });
  return {
    keyStore,
    policies: createPolicies({ db, audit, now }),
    claim: createDeliveryClaims({ db, keyStore, now }),
  };
}

test('claims that come together get the policy and key of their own person', async () => {
  const { claim, keyStore, policies } = await claimsOn(await embedded.emptyDatabase());
  const linked = await keyStore.link(alice, new Secret('key-of-alice'));
  const saved = { ...initialPolicy, operators: [bob.userId] };
  const change = { tenant: 'T0BETA000', policy: saved, by: 'U0ADMIN00', difference: [] };
  await policies.save({ ...change, base: 0 });
  await policies.save({ ...change, base: 1 });
  const [ofAlice, ofBob, unclaimed] = await Promise.all([
    claim('Ev1', alice),
    claim('Ev2', bob),
    claim(undefined, alice),
  ]);
  expect(await ofAlice?.policy()).toEqual(initialPolicy);
  expect(await ofBob?.policy()).toEqual({ ...saved, version: 2 });
  expect([ofAlice?.linked, ofBob?.linked, unclaimed?.linked]).toEqual([linked, undefined, linked]);
  const revealed = await ofAlice?.reveal();
  expect(revealed).toEqual(await keyStore.reveal(alice));
  expect(revealed?.key.reveal()).toBe('key-of-alice');
  expect(await ofBob?.reveal()).toBeUndefined();
});

test('the next claim sees a key that was destroyed and settings that were saved', async () => {
  const { claim, keyStore, policies } = await claimsOn(await embedded.emptyDatabase());
  await keyStore.link(alice, new Secret('key-of-alice'));
  expect((await claim('Ev1', alice))?.linked).toBeDefined();
  await keyStore.forget(alice);
  const change = { tenant: alice.teamId, by: 'U0ADMIN00', difference: [] };
  await policies.save({ ...change, base: 0, policy: { ...initialPolicy, changeApprovals: 2 } });
  const facts = await claim('Ev2', alice);
  expect(facts?.linked).toBeUndefined();
  expect(await facts?.reveal()).toBeUndefined();
  expect(await facts?.policy()).toMatchObject({ version: 1, changeApprovals: 2 });
});

test('a row of another person does not open, and settings that cannot be read allow nothing', async () => {
  const database = await embedded.emptyDatabase();
  const { claim, keyStore } = await claimsOn(database);
  await keyStore.link(alice, new Secret('key-of-alice'));
  await sql`update linked_keys set tenant = ${bob.teamId}, user_id = ${bob.userId}`.execute(database.db);
  await sql`insert into policies values (${bob.teamId}, 1, '{"operators":"everybody"}', 'U0', now())`.execute(
    database.db,
  );
  const facts = await claim('Ev1', bob);
  await expect(facts?.reveal()).rejects.toMatchObject({ code: 'replayed' });
  await expect(facts?.policy()).rejects.toThrow(/invalid_type/);
});

describe.each(engines.both)('on $name', ({ skip, emptyDatabase }) => {
  test.skipIf(skip)('of copies that come together one wins, and those without an id are none', async () => {
    const { claim } = await claimsOn(await emptyDatabase());
    const ids = ['Ev1', 'Ev2', 'Ev1', undefined, 'Ev3', 'Ev2', undefined, 'Ev1'];
    const claimed = await Promise.all(
      ids.map(async (id) => ((await claim(id, alice)) ? [id ?? 'none'] : [])),
    );
    expect(claimed.flat().toSorted((a, b) => a.localeCompare(b))).toEqual([
      'Ev1',
      'Ev2',
      'Ev3',
      'none',
      'none',
    ]);
    expect(await claim('Ev3', bob)).toBeUndefined();
  });
});
