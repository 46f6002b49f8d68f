import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { sql } from 'kysely';
import { describe, expect, test } from 'vitest';
import { openKeyringService, sealedTables } from '../../../src/app/keyring-service.ts';
import { createAudit, deployment } from '../../../src/auth/audit/audit.ts';
import type { Person } from '../../../src/auth/identity.ts';
import { parseKeyring } from '../../../src/auth/keyring/keyring.ts';
import { countKeyUse, rewrap } from '../../../src/auth/keyring/rewrap.ts';
import { createKeyStore } from '../../../src/auth/keys/key-store.ts';
import { createSealer } from '../../../src/auth/keys/sealing.ts';
import { destroyRows, keysCommand, printStatus } from '../../../src/cli/keys.ts';
import { UserError } from '../../../src/errors.ts';
import { Secret } from '../../../src/secrets/secret.ts';
import type { Database } from '../../../src/store/database.ts';
import { createMemoryLog, prepareEngines } from '../../support/engines.ts';
import { createTempDirectory } from '../../support/temp-directory.ts';
import { createTerminal } from '../../support/terminal.ts';
import { generateKeys } from './keyrings.ts';

const engines = await prepareEngines();
const { embedded } = engines;
const at = new Date('2026-11-21T08:00:00.000Z');
const now = (): Date => at;
const person = (n: number): Person => ({ teamId: 'T0ACME000', userId: `U0PERSON${n}` });
const inCorp: Person = { enterpriseId: 'E0CORP000', teamId: 'T0CORPONE', userId: 'U0ALICE00' };
const [k1, k2] = generateKeys('k1', 'k2').split(',') as [string, string];

/** The processes and terminals of one deployment, whose key file is `file`. */
async function deploy(database: Database, list = k1) {
  const file = join(await createTempDirectory(), 'keys');
  const { db } = database;
  const log = createMemoryLog();
  const write = (entries: string): Promise<void> => writeFile(file, entries, { mode: 0o600 });
  await write(list);
  /** What a command prints, or how it is refused. */
  const type = async (run: (print: (line: string) => void) => Promise<void>): Promise<string> => {
    const lines: string[] = [];
    try {
      await run((line) => void lines.push(line));
    } catch (error) {
      if (!(error instanceof UserError)) throw error;
      lines.push(`refused: ${error.message}`, error.hint ?? '');
    }
    return lines.join('\n').replaceAll(file, '<file>');
  };
  const read = async () => parseKeyring(new Secret(await readFile(file, 'utf8')), file);
  return {
    db,
    log,
    write,
    status: () => type(async (print) => printStatus({ db, read: await read(), print })),
    destroy: (id: string) => type(async (print) => destroyRows(id, { db, read: await read(), print })),
    async uses() {
      const use = await countKeyUse(db, sealedTables);
      return use.map(({ table, keyId, rows }) => `${keyId} ${table} ${rows}`);
    },
    /** A process that serves. Its timer is not started: `refresh` is one turn of it. */
    async run(
      keys = { keys: undefined, file, command: undefined } as Parameters<
        typeof openKeyringService
      >[0]['keyring'],
    ) {
      const store = { databaseUrl: undefined, dataDir: '' };
      const service = await openKeyringService({ keyring: keys, store, logLevel: 'info' }, database, log);
      const sealer = createSealer(service.keyring);
      return { ...service, sealer, keyStore: createKeyStore({ db, sealer, now }) };
    },
  };
}

test('a new first key is taken over, and all is put under it while people are connected', async () => {
  const there = await deploy(await embedded.emptyDatabase());
  const bot = await there.run();
  await bot.keyStore.link(person(1), new Secret('first'));
  await bot.keyStore.link(inCorp, new Secret('of corp'));
  await there.write(`${k2}\n${k1}\n`);
  expect(await there.status()).toMatchInlineSnapshot(`
    "Keys of <file>: the first one seals, all of them open.
      k2  nothing yet
      k1  2 linked keys
    Running processes reseal everything under k2 within minutes. What stays does not open.
    Remove a key once every process runs with this list: requests that wait since before become void. Keep it with the backups that need it."
  `);
  await bot.refresh();
  await bot.keyStore.link(person(2), new Secret('second'));
  expect(await there.uses()).toEqual(['k2 linked_keys 3']);
  expect(there.log.entries.at(-1)).toMatchObject({
    message: 'sealed everything under the first encryption key',
    fields: { first: 'k2', moved: 2, unused: ['k1'] },
  });
  expect(await there.status()).toMatchInlineSnapshot(`
    "Keys of <file>: the first one seals, all of them open.
      k2  3 linked keys
      k1  not needed: it can be removed
    Remove a key once every process runs with this list: requests that wait since before become void. Keep it with the backups that need it."
  `);

  await there.write(k2);
  await bot.refresh();
  expect(bot.keyring.ids).toEqual(['k2']);
  for (const [who, key] of [
    [person(1), 'first'],
    [person(2), 'second'],
    [inCorp, 'of corp'],
  ] as const)
    expect((await bot.keyStore.reveal(who))?.key.reveal()).toBe(key);
  const [record] = await createAudit({ db: there.db, now }).recent(deployment, 10);
  expect(record).toMatchObject({ subject: 'k2', detail: { step: 'rewrapped', rows: 2 } });
  await bot.stop();
});

test('a process that ends while it rewraps leaves the rest to the next', async () => {
  const there = await deploy(await embedded.emptyDatabase());
  const before = await there.run();
  for (let n = 0; n < 120; n += 1) await before.keyStore.link(person(n), new Secret(`key ${n}`));
  await there.write(`${k2}\n${k1}`);
  const next = await there.run();
  const ending = new AbortController();
  const { sealer } = next;
  const seal: typeof sealer.seal = (...given) => {
    ending.abort();
    return sealer.seal(...given);
  };
  const { db } = there;
  // What fails otherwise is no row that does not open.
  const failing = { ...sealer, open: () => Promise.reject(new Error('down')) };
  await expect(rewrap({ db, sealer: failing, tables: sealedTables })).rejects.toThrow('down');
  await rewrap({ db, sealer: { ...sealer, seal }, tables: sealedTables, signal: ending.signal });
  expect(await there.uses()).toEqual(['k1 linked_keys 20', 'k2 linked_keys 100']);
  for (const n of [0, 119]) expect((await next.keyStore.reveal(person(n)))?.key.reveal()).toBe(`key ${n}`);
  await next.refresh();
  expect(await there.uses()).toEqual(['k2 linked_keys 120']);
  for (const n of [0, 119]) expect((await next.keyStore.reveal(person(n)))?.key.reveal()).toBe(`key ${n}`);
  for (const bot of [before, next]) await bot.stop();
});

test('rows that do not open are counted and left until they are destroyed', async () => {
  const there = await deploy(await embedded.emptyDatabase());
  const bot = await there.run();
  const { db } = there;
  for (const n of [1, 2]) await bot.keyStore.link(person(n), new Secret(`key ${n}`));
  const copied = db.selectFrom('linked_keys').select('sealed').where('user_id', '=', person(1).userId);
  const row = await copied.executeTakeFirstOrThrow();
  await db.updateTable('linked_keys').set(row).where('user_id', '=', person(2).userId).execute();
  await there.write(`${k2}\n${k1}`);
  await bot.refresh();
  await bot.refresh();
  const warned = 'rows do not open with any encryption key: npm run keys -- status';
  expect(there.log.entries.filter(({ message }) => message === warned)).toHaveLength(1);
  expect(await there.status()).toMatchInlineSnapshot(`
    "Keys of <file>: the first one seals, all of them open.
      k2  1 linked key
      k1  1 linked key
    Running processes reseal everything under k2 within minutes. What stays does not open.
    Remove a key once every process runs with this list: requests that wait since before become void. Keep it with the backups that need it."
  `);

  expect(await there.destroy('k1')).toBe('Rows destroyed under k1: 1. Their owners must connect again.');
  expect(await there.uses()).toEqual(['k2 linked_keys 1']);
  expect((await bot.keyStore.reveal(person(1)))?.key.reveal()).toBe('key 1');
  expect(await bot.keyStore.reveal(person(2))).toBeUndefined();
  await bot.keyStore.link(person(2), new Secret('again'));
  expect((await bot.keyStore.reveal(person(2)))?.key.reveal()).toBe('again');
  await bot.stop();
});

test('a start whose list lacks a key is refused with its id, and its rows are destroyed only on request', async () => {
  const there = await deploy(await embedded.emptyDatabase());
  const before = await there.run();
  for (const n of [1, 2]) await before.keyStore.link(person(n), new Secret(`key ${n}`));
  await before.stop();
  const installation = { tenant: 'T0ACME000', sealed: 'x', key_id: 'k1', installed_at: now(), version: 1 };
  await there.db.insertInto('installations').values(installation).execute();
  await there.write(k2);
  await expect(there.run()).rejects.toThrowErrorMatchingInlineSnapshot(`
    [UserError: The keyring lacks keys that the database was sealed with:
      - k1: 1 installation, 2 linked keys]
  `);
  expect(await there.status()).toMatchInlineSnapshot(`
    "Keys of <file>: the first one seals, all of them open.
      k2  nothing yet
    Missing, so these rows do not open:
      k1  1 installation, 2 linked keys"
  `);
  expect(await there.destroy('k2')).toMatch(/^refused: k2/u);
  expect(await there.destroy('k1')).toMatch(/ k1: 3\./u);
  const bot = await there.run();
  expect(await bot.keyStore.reveal(person(1))).toBeUndefined();
  await bot.keyStore.link(person(1), new Secret('again'));
  expect((await bot.keyStore.reveal(person(1)))?.key.reveal()).toBe('again');
  const records = await createAudit({ db: there.db, now }).recent('T0ACME000', 10);
  expect(records.filter(({ event }) => event === 'key-destroyed')).toHaveLength(2);
  await bot.stop();
});

test('another key under a known id is refused at the start; one altered row is not taken for it', async () => {
  const there = await deploy(await embedded.emptyDatabase());
  const before = await there.run();
  for (const n of [1, 2]) await before.keyStore.link(person(n), new Secret(`key ${n}`));
  await there.write(generateKeys('k1'));
  const refusal = 'is not the key that this database was sealed with as k1';
  await expect(there.run()).rejects.toThrow(refusal);
  await there.write(k1);
  await sql`update linked_keys set sealed = replace(sealed, '.', '.A') where user_id = ${person(1).userId}`.execute(
    there.db,
  );
  const bot = await there.run();
  expect((await bot.keyStore.reveal(person(2)))?.key.reveal()).toBe('key 2');
  for (const one of [before, bot]) await one.stop();
});

test('a changed file that is wrong is not used and said once; the next right one is', async () => {
  const there = await deploy(await embedded.emptyDatabase());
  const bot = await there.run();
  await bot.keyStore.link(person(1), new Secret('key'));
  for (const wrong of ['nonsense', generateKeys('k1'), generateKeys('k9')]) {
    const before = there.log.entries.length;
    await there.write(wrong);
    await bot.refresh();
    await bot.refresh();
    expect(bot.keyring.ids).toEqual(['k1']);
    expect(there.log.entries.slice(before).map(({ level, message }) => [level, message])).toEqual([
      ['error', 'cannot use the changed key file; keeping the earlier keys'],
    ]);
    await there.write(k1);
    await bot.refresh();
  }
  expect((await bot.keyStore.reveal(person(1)))?.key.reveal()).toBe('key');
  await bot.stop();
});

test('a process that lacks the key another one seals under is not ready, and says which', async () => {
  const there = await deploy(await embedded.emptyDatabase());
  const older = await there.run({ keys: new Secret(k1), file: undefined, command: undefined });
  const newer = await there.run({ keys: new Secret(`${k2},${k1}`), file: undefined, command: undefined });
  expect(await older.findProblem()).toBeUndefined();
  await newer.keyStore.link(person(1), new Secret('key'));
  expect(await older.findProblem()).toMatch(/lacks k2/u);
  expect(await newer.findProblem()).toBeUndefined();
  for (const bot of [older, newer]) await bot.stop();
});

/** What the command prints, or its refusal. */
async function type(...words: string[]): Promise<string> {
  // Nothing is configured.
  const { terminal, lines } = createTerminal({ DATA_DIR: '/nowhere' });
  try {
    await keysCommand(words, terminal);
    return lines.join('\n');
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    return `${error.message} ${error.hint?.slice(0, 6)}`;
  }
}

describe('npm run keys', () => {
  test('prints a new entry and nothing else, with an id of its own or the given one', async () => {
    const made = [await type('new'), await type('new'), await type('new', 'k3')];
    const lists = made.map((entry) => parseKeyring(new Secret(entry), 'the output').keyring.ids);
    expect(new Set(made).size).toBe(3);
    expect(lists[2]).toEqual(['k3']);
    expect(lists[0]).not.toEqual(lists[1]);
  });

  test.each([
    [['promote', 'k1'], 'Unknown command “keys promote”.'],
    [['status', 'k1'], 'Too many words.'],
    [['new', 'a', 'b'], 'Too many words.'],
    [['new', 'bad:id'], 'A key ID has 1 to 32 letters, digits, - or _.'],
    [['destroy', 'k1'], 'Name the key twice: this cannot be undone.'],
    [['destroy', 'k1', '--yes', 'k2'], 'Name the key twice: this cannot be undone.'],
    [['destroy'], 'Name the key twice: this cannot be undone.'],
  ])('%j is refused with its usage', async (words, refusal) => {
    expect(await type(...words)).toBe(`${refusal} Usage:`);
  });
});

describe.each(engines.both)('on $name', ({ skip, emptyDatabase }) => {
  test.skipIf(skip)(
    'rewrapping by two processes while people link, leave and come back loses nothing',
    async () => {
      const there = await deploy(await emptyDatabase());
      const before = await there.run();
      for (let n = 0; n < 24; n += 1) await before.keyStore.link(person(n), new Secret(`old ${n}`));
      await there.write(`${k2}\n${k1}`);
      const [one, other] = [await there.run(), await there.run()];
      const linking = Array.from({ length: 12 }, async (_, n) => {
        if (n % 3 === 0) await one.keyStore.forget(person(n));
        else await other.keyStore.link(person(n), new Secret(`new ${n}`));
      });
      await Promise.all([one.refresh(), other.refresh(), ...linking]);
      await rewrap({ db: there.db, sealer: one.sealer, tables: sealedTables });
      expect((await there.uses()).every((use) => use.startsWith('k2 '))).toBe(true);
      for (let n = 0; n < 24; n += 1) {
        const expected = n >= 12 ? `old ${n}` : n % 3 === 0 ? undefined : `new ${n}`;
        expect((await one.keyStore.reveal(person(n)))?.key.reveal()).toBe(expected);
      }
      for (const bot of [before, one, other]) await bot.stop();
    },
  );
});
