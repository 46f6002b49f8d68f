import { describe, expect, test } from 'vitest';
import { createKeyStore } from '../../../src/auth/keys/key-store.ts';
import { createSealer } from '../../../src/auth/keys/sealing.ts';
import { createClientTokens, createKeyLinks } from '../../../src/auth/keys/tokens.ts';
import { findSecretKinds } from '../../../src/secrets/scanner.ts';
import { Secret, withSecrets } from '../../../src/secrets/secret.ts';
import type { Database } from '../../../src/store/database.ts';
import { prepareEngines } from '../../support/engines.ts';
import { createKeyring, generateKeys } from '../keyring/keyrings.ts';

const engines = await prepareEngines();
const { embedded } = engines;
const alice = { teamId: 'T0ACME000', userId: 'U0ALICE00' };
const bob = { teamId: 'T0ACME000', userId: 'U0BOB0000' };
const minute = 60_000;
const k1 = generateKeys('k1');
const morning = (): Date => new Date('2026-11-21T08:00:00Z');

async function linksOn({ db }: Pick<Database, 'db'>, keys = k1) {
  let at = Date.parse('2026-11-21T08:00:00Z');
  const links = createKeyLinks({
    db,
    sealer: createSealer(await createKeyring(keys)),
    now: () => new Date(at),
  });
  return {
    ...links,
    later: (ms: number) => void (at += ms),
    stateOf: async (token: string) => (await links.find(token))?.state,
    make: (person = alice) => links.offer(person, '@alice in acme'),
  };
}

test('a link opens for its person, for ten minutes, is still known for a day, and then forgotten', async () => {
  const { db } = await embedded.emptyDatabase();
  const links = await linksOn({ db });
  const token = await links.make();
  expect(await links.find(token)).toMatchObject({
    person: alice,
    shownFor: '@alice in acme',
    state: 'open',
  });
  expect(JSON.stringify(await db.selectFrom('key_links').selectAll().execute())).not.toContain(token);
  links.later(10 * minute - 1);
  expect(await links.stateOf(token)).toBe('open');
  links.later(1);
  expect(await links.stateOf(token)).toBe('expired');
  expect(await links.claim(token)).toBeUndefined();
  links.later(24 * 60 * minute);
  expect(await links.stateOf(token)).toBe('expired');
  links.later(1);
  expect(await links.find(token)).toBeUndefined();
  expect(await links.find('never made')).toBeUndefined();
});

test.each([
  ['a person', { user_id: alice.userId }, ['U0BOB0000', 'T0BETA000']],
  ['a workspace', { team_id: 'T0ACME000' }, ['T0BETA000']],
  ['everybody', {}, ['T0BETA000']],
])('the links of %s are forgotten, and those of no one else', async (_, whose, stay) => {
  const links = await linksOn(await embedded.emptyDatabase());
  const people = [alice, bob, { ...alice, teamId: 'T0BETA000' }];
  const made = await Promise.all(people.map(links.make));
  await links.forget({ tenant: 'T0ACME000', ...whose });
  const open = await Promise.all(made.map(links.find));
  expect(open.flatMap((link) => (link ? [link.person] : []))).toEqual(
    people.filter(({ teamId, userId }) => stay.includes(teamId) || stay.includes(userId)),
  );
});

test('only tokens made under this keyring are tokens, also after the first key changed', async () => {
  const database = await embedded.emptyDatabase();
  const token = await (await linksOn(database)).make();
  const rotated = await linksOn(database, `${generateKeys('k2')},${k1}`);
  expect(rotated.isToken(token)).toBe(true);
  const stranger = await linksOn(database, generateKeys('k1'));
  expect(stranger.isToken(token)).toBe(false);
  const flipped = token.slice(0, -1) + (token.endsWith('0') ? '1' : '0');
  for (const guess of [flipped, token.slice(1), `${token}0`, '']) expect(rotated.isToken(guess)).toBe(false);
});

test('a key that works ends the link of its person', async () => {
  const links = await linksOn(await embedded.emptyDatabase());
  const [token, ofBob] = [await links.make(), await links.make(bob)];
  expect(await (await links.claim(token))?.accept()).toBe(true);
  await links.close(alice);
  expect(await Promise.all([token, ofBob].map(links.stateOf))).toEqual(['used', 'open']);
  expect(await links.claim(token)).toBeUndefined();
});

test('a link that was taken back while its key was checked links nothing', async () => {
  const links = await linksOn(await embedded.emptyDatabase());
  const token = await links.make();
  const claim = await links.claim(token);
  await links.close(alice);
  expect(await claim?.accept()).toBe(false);
  expect(await links.stateOf(token)).toBe('voided');
});

test('a key that works is linked although others, refused meanwhile, ended the link', async () => {
  const links = await linksOn(await embedded.emptyDatabase());
  const token = await links.make();
  const [mine, ...others] = await Promise.all(Array.from({ length: 5 }, () => links.claim(token)));
  for (const other of others) await other?.release({ refused: true });
  expect(await links.stateOf(token)).toBe('refused');
  expect([await mine?.accept(), await mine?.accept()]).toEqual([true, false]);
});

test('five refused keys end a link; a check that failed otherwise is not counted', async () => {
  const links = await linksOn(await embedded.emptyDatabase());
  const token = await links.make();
  expect(await (await links.claim(token))?.release({ refused: false })).toBe(5);
  for (const left of [4, 3, 2, 1, 0]) {
    expect(await links.stateOf(token)).toBe('open');
    expect(await (await links.claim(token))?.release({ refused: true })).toBe(left);
  }
  expect(await links.stateOf(token)).toBe('refused');
  expect(await links.claim(token)).toBeUndefined();
});

test('a token for a client is ended by its person alone, by its time, and with the key it was made for', async () => {
  const { db } = await embedded.emptyDatabase();
  let at = Date.parse('2026-11-21T08:00:00Z');
  const now = () => new Date(at);
  const tokens = createClientTokens({ db, now });
  const keyStore = createKeyStore({ db, sealer: createSealer(await createKeyring()), now });
  const make = async () => (await tokens.make(alice, { name: 'laptop', days: 1 })) ?? '';
  expect(await make()).toBe('');
  await keyStore.link(alice, new Secret('cdn key'));
  const [token, ended] = [await make(), await make()];
  expect(await tokens.find(token)).toEqual({ person: alice, name: 'laptop' });
  const [newest] = await tokens.list(alice);
  const id = newest?.id ?? '';
  for (const stranger of [bob, { ...alice, teamId: 'T0BETA000' }])
    expect(await tokens.end(stranger, id)).toBe(false);
  expect([await tokens.end(alice, id), (await tokens.list(alice)).length]).toEqual([true, 1]);
  const left = (await tokens.find(token)) ? token : ended;
  at += 1_000;
  await keyStore.link(alice, new Secret('cdn key'));
  expect(await tokens.find(left)).toBeUndefined();
  const late = await make();
  at += 24 * 60 * minute;
  expect(await tokens.find(late)).toBeUndefined();
});

test('ten tokens a person, for ninety days at most, and an id is no pattern', async () => {
  const { db } = await embedded.emptyDatabase();
  const tokens = createClientTokens({ db, now: morning });
  const keyStore = createKeyStore({ db, sealer: createSealer(await createKeyring()), now: morning });
  const alicesElsewhere = { ...alice, teamId: 'T0BETA000' };
  for (const person of [alice, bob, alicesElsewhere]) await keyStore.link(person, new Secret('cdn key'));
  for (let nth = 0; nth < 10; nth += 1)
    expect(await tokens.make(alice, { name: 'laptop', days: 400 })).toBeDefined();
  expect(await tokens.make(alice, { name: 'laptop', days: 1 })).toBeUndefined();
  for (const { expiresAt } of await tokens.list(alice))
    expect(expiresAt).toEqual(new Date('2027-02-19T08:00:00Z'));
  for (const other of [bob, alicesElsewhere]) expect(await tokens.list(other)).toEqual([]);
  for (const id of ['%', '_'.repeat(12), '']) expect(await tokens.end(alice, id)).toBe(false);
  expect(await tokens.list(alice)).toHaveLength(10);
});

/** The kinds of secrets in a token that a piece of work has met. */
function findKindsAfter(met: () => Promise<unknown>, token?: string): Promise<readonly string[]> {
  return withSecrets(async () => {
    const made = await met();
    return findSecretKinds(token ?? String(made));
  });
}

test('whoever makes or is shown a token has it among the secrets that do not leave', async () => {
  const { db } = await embedded.emptyDatabase();
  const links = await linksOn({ db });
  const tokens = createClientTokens({ db, now: morning });
  const keyStore = createKeyStore({ db, sealer: createSealer(await createKeyring()), now: morning });
  await keyStore.link(alice, new Secret('cdn key'));
  const made = [await links.make(), (await tokens.make(alice, { name: 'laptop', days: 1 })) ?? ''] as const;
  expect([
    await findKindsAfter(() => links.make()),
    await findKindsAfter(() => links.find(made[0]), made[0]),
    await findKindsAfter(() => tokens.make(alice, { name: 'laptop', days: 1 })),
    await findKindsAfter(() => tokens.find(made[1]), made[1]),
    await findKindsAfter(() => tokens.find('what-strangers-send-1'), 'what-strangers-send-1'),
  ]).toEqual([['link-token'], ['link-token'], ['client-token'], ['client-token'], []]);
});

describe.each(engines.both)('on $name', ({ skip, emptyDatabase }) => {
  test.skipIf(skip)('the newest link of a person is open, and those of others stay', async () => {
    const links = await linksOn(await emptyDatabase());
    const others = [await links.make(bob), await links.make({ ...alice, teamId: 'T0BETA000' })];
    const tokens: string[] = [];
    for (let nth = 0; nth < 2; nth += 1) {
      tokens.push(await links.make());
      links.later(1_000);
    }
    expect(await Promise.all(tokens.map(links.stateOf))).toEqual(['voided', 'open']);
    expect(await Promise.all(others.map(links.stateOf))).toEqual(['open', 'open']);
    await links.close(alice);
    expect(await Promise.all(tokens.map(links.stateOf))).toEqual(['voided', 'voided']);
    expect(await Promise.all(others.map(links.stateOf))).toEqual(['open', 'open']);
  });

  test.skipIf(skip)(
    'of keys that are checked at once one is linked, and five are checked at most',
    async () => {
      const links = await linksOn(await emptyDatabase());
      const token = await links.make();
      const claims = await Promise.all(Array.from({ length: 8 }, () => links.claim(token)));
      expect(claims.filter(Boolean)).toHaveLength(5);
      const accepted = await Promise.all(claims.map(async (claim) => claim?.accept()));
      expect(accepted.filter(Boolean)).toHaveLength(1);
      expect(await links.stateOf(token)).toBe('used');
    },
  );
});
