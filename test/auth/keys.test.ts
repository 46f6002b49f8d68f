import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { describe, expect, test } from 'vitest';
import type { Person } from '../../src/auth/identity.ts';
import { type Custody, createCustody } from '../../src/auth/keys.ts';
import { createSealer, SealError } from '../../src/auth/sealing.ts';
import { Secret } from '../../src/secret.ts';
import type { Database } from '../../src/store/database.ts';
import { enginesUnderTest } from '../store/engines.ts';
import { keyEntries, keyringOf } from './keyrings.ts';

const engines = await enginesUnderTest();
const at = new Date('2026-11-21T08:00:00.000Z');

const alice: Person = { teamId: 'T0ACME000', userId: 'U0ALICE00' };
const bob: Person = { teamId: 'T0ACME000', userId: 'U0BOB0000' };
const otherAlice: Person = { teamId: 'T0BETA000', userId: 'U0ALICE00' };

async function custodyOn(database: Database, entries = keyEntries('k1'), now = () => at): Promise<Custody> {
  return createCustody({ db: database.db, sealer: createSealer(await keyringOf(entries)), now });
}

describe.each(engines.both)('on $name', ({ skip, empty }) => {
  describe.skipIf(skip)('custody', () => {
    test('a linked key comes back whole, with its fingerprint and the moment it was linked', async () => {
      const custody = await custodyOn(await empty());
      const linked = await custody.link(alice, new Secret('key-of-alice'));
      expect(linked).toEqual({ fingerprint: expect.stringMatching(/^[0-9a-f]{8}$/), linkedAt: at });
      const found = await custody.reveal(alice);
      expect(found).toMatchObject(linked);
      expect(found?.key.reveal()).toBe('key-of-alice');
      expect(await custody.describe(alice)).toEqual(linked);
      expect(await custody.reveal(bob)).toBeUndefined();
      expect(await custody.describe(bob)).toBeUndefined();
    });

    test('what is stored does not hold the key', async () => {
      const database = await empty();
      await (await custodyOn(database)).link(alice, new Secret('key-of-alice'));
      const rows = JSON.stringify(await database.db.selectFrom('linked_keys').selectAll().execute());
      expect(rows).not.toContain('key-of-alice');
      expect(rows).not.toContain(Buffer.from('key-of-alice').toString('base64url'));
    });

    test('linking again replaces the key and its fingerprint', async () => {
      let now = at;
      const custody = await custodyOn(await empty(), undefined, () => now);
      const first = await custody.link(alice, new Secret('first'));
      now = new Date(at.getTime() + 60_000);
      const second = await custody.link(alice, new Secret('second'));
      expect(second.fingerprint).not.toBe(first.fingerprint);
      const found = await custody.reveal(alice);
      expect(found?.key.reveal()).toBe('second');
      expect(found?.linkedAt).toEqual(now);
    });

    test('forgetting destroys the row and says whether there was one', async () => {
      const database = await empty();
      const custody = await custodyOn(database);
      await custody.link(alice, new Secret('key'));
      expect(await custody.forget(alice)).toBe(true);
      expect(await custody.forget(alice)).toBe(false);
      expect(await custody.reveal(alice)).toBeUndefined();
      expect(await database.db.selectFrom('linked_keys').selectAll().execute()).toEqual([]);
    });

    test('equal user ids in two workspaces are two people', async () => {
      const custody = await custodyOn(await empty());
      await custody.link(alice, new Secret('acme'));
      await custody.link(otherAlice, new Secret('beta'));
      expect((await custody.reveal(alice))?.key.reveal()).toBe('acme');
      expect((await custody.reveal(otherAlice))?.key.reveal()).toBe('beta');
      await custody.forget(alice);
      expect((await custody.reveal(otherAlice))?.key.reveal()).toBe('beta');
    });

    test('within an organisation a person is the same in every workspace', async () => {
      const custody = await custodyOn(await empty());
      const here = { enterpriseId: 'E0CORP0000', teamId: 'T0CORPONE', userId: 'U0ALICE00' };
      await custody.link(here, new Secret('corp'));
      expect((await custody.reveal({ ...here, teamId: 'T0CORPTWO' }))?.key.reveal()).toBe('corp');
      expect(await custody.reveal(alice)).toBeUndefined();
    });

    test('a removed app takes the keys of its workspace and of no other', async () => {
      const custody = await custodyOn(await empty());
      for (const person of [alice, bob, otherAlice]) await custody.link(person, new Secret('key'));
      expect(await custody.forgetTenant('T0ACME000')).toBe(2);
      expect(await custody.describe(alice)).toBeUndefined();
      expect(await custody.describe(otherAlice)).toBeDefined();
    });

    test('a row moved to another person does not open', async () => {
      const database = await empty();
      const custody = await custodyOn(database);
      await custody.link(alice, new Secret('key-of-alice'));
      await custody.link(bob, new Secret('key-of-bob'));
      const stolen = await database.db
        .selectFrom('linked_keys')
        .select('sealed')
        .where('user_id', '=', alice.userId)
        .executeTakeFirstOrThrow();
      await database.db.updateTable('linked_keys').set(stolen).where('user_id', '=', bob.userId).execute();
      const refused = await custody.reveal(bob).catch((error: unknown) => error);
      expect(refused).toBeInstanceOf(SealError);
      expect(refused).toMatchObject({ code: 'refused' });
      expect((await custody.reveal(alice))?.key.reveal()).toBe('key-of-alice');
    });

    test('a row under a key that the keyring no longer holds says which key is missing', async () => {
      const database = await empty();
      await (await custodyOn(database, keyEntries('old'))).link(alice, new Secret('key'));
      const custody = await custodyOn(database, keyEntries('new'));
      await expect(custody.reveal(alice)).rejects.toMatchObject({ code: 'unknown_key', keyId: 'old' });
    });

    test('after a change of the primary key older rows still open', async () => {
      const database = await empty();
      const [old, next] = [keyEntries('old'), keyEntries('new')];
      await (await custodyOn(database, old)).link(alice, new Secret('key'));
      const custody = await custodyOn(database, `${next},${old}`);
      expect((await custody.reveal(alice))?.key.reveal()).toBe('key');
    });
  });
});

describe('embedded', () => {
  test('a key whose link was acknowledged survives kill -9', async () => {
    const place = await engines.embedded.place();
    const entries = keyEntries('k1');
    const child = spawn(
      process.execPath,
      [new URL('link-and-wait.ts', import.meta.url).pathname, place.dataDir, entries],
      { stdio: ['ignore', 'pipe', 'inherit'] },
    );
    const ended = once(child, 'exit');
    const said = await Promise.race([once(child.stdout, 'data'), ended]);
    expect(String(said[0])).toBe('linked\n');
    child.kill('SIGKILL');
    await ended;
    const custody = await custodyOn(await place.open(), entries);
    expect((await custody.reveal(alice))?.key.reveal()).toBe('key-of-alice');
  });
});
