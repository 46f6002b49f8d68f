import { chmod, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { sql } from 'kysely';
import { describe, expect, test } from 'vitest';
import { sealedTables } from '../../../src/app/keyring-service.ts';
import { createAudit, deployment } from '../../../src/auth/audit/audit.ts';
import type { Person } from '../../../src/auth/identity.ts';
import { createInstallations } from '../../../src/auth/installations.ts';
import { checkKeyring } from '../../../src/auth/keyring/check.ts';
import { type KeyringSource, readKeyring } from '../../../src/auth/keyring/keyring.ts';
import { runKeys } from '../../../src/auth/keyring/rotation.ts';
import { countKeyUse, rewrap } from '../../../src/auth/keyring/sealed-tables.ts';
import {
  createKeyringWatch,
  type KeyringWatch,
  removeGoneMembers,
  reportMember,
} from '../../../src/auth/keyring/watch.ts';
import { createKeyStore, type KeyStore } from '../../../src/auth/keys/key-store.ts';
import { createSealer, type Sealer } from '../../../src/auth/keys/sealing.ts';
import { UserError } from '../../../src/errors.ts';
import { Secret } from '../../../src/secrets/secret.ts';
import type { Database } from '../../../src/store/database.ts';
import { createMemoryLog, prepareEngines } from '../../support/engines.ts';
import { createTempDirectory } from '../../support/temp-directory.ts';
import { generateKeys } from './keyrings.ts';

const engines = await prepareEngines();
const at = new Date('2026-11-21T08:00:00.000Z');
const now = (): Date => at;
const person = (n: number): Person => ({ teamId: 'T0ACME000', userId: `U0PERSON${n}` });
const keepsEarlierKeys = 'cannot use the changed key file; keeping the earlier keys';
const inCorp: Person = { enterpriseId: 'E0CORP000', teamId: 'T0CORPONE', userId: 'U0ALICE00' };

interface Operator {
  readonly file: string;
  readonly database: Database;
  readonly log: ReturnType<typeof createMemoryLog>;
  /** What `npm run keys -- …` prints, or how it refuses; without what differs from run to run. */
  readonly types: (words: string, source?: KeyringSource) => Promise<string>;
  readonly ids: () => Promise<string>;
  readonly uses: () => Promise<string[]>;
  /** A running process with its watch, key store and sealer. */
  readonly runs: () => Promise<{ watch: KeyringWatch; keyStore: KeyStore; sealer: Sealer }>;
}

async function operator(database: Database, entries = generateKeys('k1')): Promise<Operator> {
  const file = join(await createTempDirectory(), 'keys');
  await writeFile(file, entries, { mode: 0o600 });
  const { db, withLock } = database;
  const tables = sealedTables;
  const log = createMemoryLog();
  return {
    file,
    database,
    log,
    async types(words, source = { file }) {
      const lines: string[] = [];
      const audit = createAudit({ db, now });
      const print = (line: string): void => void lines.push(line);
      try {
        await runKeys(words.split(' '), { db, tables, withLock, source, audit, now, print });
      } catch (error) {
        if (!(error instanceof UserError)) throw error;
        lines.push(`refused: ${error.message}`, error.hint ?? '');
      }
      return lines
        .join('\n')
        .replaceAll(file, '<file>')
        .replaceAll(`${hostname()} process ${process.pid}`, '<this process>')
        .replaceAll(/\d+ s ago/g, '<n> s ago');
    },
    ids: async () => (await readKeyring({ file })).keyring.ids.join(),
    uses: async () =>
      (await countKeyUse(db, tables)).map(({ table, keyId, rows }) => `${keyId} ${table} ${rows}`),
    async runs() {
      const first = await readKeyring({ file });
      await checkKeyring(db, first.keyring, tables);
      const watch = createKeyringWatch({ db, tables, source: { file }, first, alone: false, log });
      await watch.start();
      const sealer = createSealer(watch.keyring);
      return { watch, sealer, keyStore: createKeyStore({ db, sealer, now }) };
    },
  };
}

describe.each(engines.both)('on $name', ({ skip, emptyDatabase }) => {
  describe.skipIf(skip)('npm run keys', () => {
    test('leads from one key to the next, with people connected all the while', async () => {
      const operates = await operator(await emptyDatabase());
      const bot = await operates.runs();
      await bot.keyStore.link(person(1), new Secret('first'));
      await bot.keyStore.link(inCorp, new Secret('of corp'));

      expect(await operates.types('add k2')).toMatchInlineSnapshot(`
        "Added k2 to <file>. It opens, and does not seal yet.
        Back the file up. Where processes run on several machines, copy it to each.
        Running processes take it over within seconds. Then: npm run keys -- promote k2"
      `);
      expect(await operates.ids()).toBe('k1,k2');
      expect((await stat(operates.file)).mode & 0o777).toBe(0o600);
      expect(await readdir(join(operates.file, '..'))).toEqual(['keys']);

      expect(await operates.types('promote k2')).toMatchInlineSnapshot(`
        "refused: k2 cannot become the primary key yet: these processes do not know it, and could not open what is sealed under it:
          - <this process>: k1 (primary)
        A key file that changed is taken over within seconds; with ENCRYPTION_KEYS a process has to be restarted. One that was killed leaves this list after two minutes."
      `);
      expect(await operates.ids()).toBe('k1,k2');
      await bot.watch.refresh();
      expect(await operates.types('promote k2')).toMatchInlineSnapshot(`
        "k2 is the primary key in <file>; running processes take that over within seconds.
        Where processes run on several machines, copy the file to each. Then: npm run keys -- rewrap"
      `);
      expect(await operates.ids()).toBe('k2,k1');

      expect(await operates.types('retire k1')).toMatchInlineSnapshot(`
        "refused: k1 is still the primary key of running processes:
          - <this process>: k1 (primary), k2
        Wait until they have taken over the changed file, or restart them with the changed ENCRYPTION_KEYS."
      `);
      await bot.watch.refresh();
      await bot.keyStore.link(person(2), new Secret('second'));
      expect(await operates.types('retire k1')).toMatchInlineSnapshot(`
        "refused: k1 is still needed: 2 linked keys, 2 version records.
        npm run keys -- rewrap puts them under the primary key. What it cannot open, npm run keys -- retire k1 --destroy-rows destroys: their owners connect again."
      `);
      expect(await operates.types('status')).toMatchInlineSnapshot(`
        "Keys in <file>:
          k2  primary, seals and opens: 1 linked key, 1 version record
          k1  opens: 2 linked keys, 2 version records
        Running processes:
          <this process>: k2 (primary), k1, <n> s ago
        Next: npm run keys -- rewrap"
      `);

      expect(await operates.types('rewrap')).toMatchInlineSnapshot(`
        "  2 linked keys looked at
          2 version records looked at
        4 put under k2, 0 left that do not open.
        Next: npm run keys -- retire k1"
      `);
      expect(await operates.uses()).toEqual(['k2 linked_keys 3', 'k2 sealed_versions 3']);
      expect(await operates.types('retire k1')).toMatchInlineSnapshot(
        `"Took k1 out of <file>. Keep your backup of it as long as backups of the database need it."`,
      );
      expect(await operates.ids()).toBe('k2');

      await bot.watch.refresh();
      for (const [who, key] of [
        [person(1), 'first'],
        [person(2), 'second'],
        [inCorp, 'of corp'],
      ] as const)
        expect((await bot.keyStore.reveal(who))?.key.reveal()).toBe(key);
      const records = await createAudit({ db: operates.database.db, now }).recent(deployment, 10);
      expect(records.map(({ subject, detail }) => [subject, detail])).toEqual([
        ['k1', { step: 'retired' }],
        ['k2', { step: 'rewrapped', rows: 4 }],
        ['k2', { step: 'promoted' }],
        ['k2', { step: 'added' }],
      ]);
      await bot.watch.stop();
      expect(await operates.types('status')).toMatchInlineSnapshot(`
        "Keys in <file>:
          k2  primary, seals and opens: 3 linked keys, 3 version records
        Running processes: none"
      `);
    });

    test('installations and the tokens of people go along', async () => {
      const database = await emptyDatabase();
      const operates = await operator(database);
      const { watch, sealer } = await operates.runs();
      const installations = createInstallations({ ...database, sealer, now });
      await installations.storeInstallation({
        team: { id: 'T0ACME000' },
        enterprise: undefined,
        user: { id: 'U0ALICE00', token: 'token-of-alice', scopes: [] },
        bot: { id: 'B0', userId: 'U0', token: 'a bot token', scopes: [] },
        tokenType: 'bot',
      });
      await operates.types('add k2');
      await watch.refresh();
      await operates.types('promote k2');
      await watch.refresh();
      expect(await operates.types('rewrap')).toContain('4 put under k2');
      await operates.types('retire k1');
      await watch.refresh();
      const query = { teamId: 'T0ACME000', enterpriseId: undefined, isEnterpriseInstall: false };
      const found = await installations.fetchInstallation({ ...query, userId: 'U0ALICE00' });
      expect(found).toMatchObject({ bot: { token: 'a bot token' }, user: { token: 'token-of-alice' } });
      await watch.stop();
    });

    test('with ENCRYPTION_KEYS it prints what to set, and a key only once', async () => {
      const operates = await operator(await emptyDatabase());
      const keys = new Secret((await readFile(operates.file, 'utf8')).trim());
      const added = await operates.types('add k2', { keys });
      const entry = /^ {2},(k2:\S{43}=)$/m.exec(added)?.[1] ?? '';
      expect(added.replace(entry, '<entry>')).toMatchInlineSnapshot(`
        "Put this at the END of ENCRYPTION_KEYS, in every process, and restart them one by one:
          ,<entry>
        This is the one time that a key is printed: it is kept nowhere. Put it into your secret store now.
        Then: npm run keys -- promote k2"
      `);
      expect(added).not.toContain(keys.reveal());
      const both = new Secret(`${keys.reveal()},${entry}`);
      expect(await operates.types('promote k2', { keys })).toMatch(/^refused:/);

      const { db } = operates.database;
      await reportMember(db, { id: '1', label: 'host process 1', keyIds: ['k1', 'k2'], primaryId: 'k1' });
      await reportMember(db, { id: '2', label: 'host process 2', keyIds: ['k1'], primaryId: 'k1' });
      const refused = await operates.types('promote k2', { keys: both });
      expect(refused).toMatchInlineSnapshot(`
        "refused: k2 cannot become the primary key yet: these processes do not know it, and could not open what is sealed under it:
          - host process 2: k1 (primary)
        A key file that changed is taken over within seconds; with ENCRYPTION_KEYS a process has to be restarted. One that was killed leaves this list after two minutes."
      `);
      await reportMember(db, { id: '2', label: 'host process 2', keyIds: ['k1', 'k2'], primaryId: 'k1' });
      const promoted = await operates.types('promote k2', { keys: both });
      expect(promoted).toMatchInlineSnapshot(`
        "Every running process knows k2. Put its entry FIRST in ENCRYPTION_KEYS, in every process:
          k2:…,k1:…
        Restart them one by one. Then: npm run keys -- rewrap"
      `);

      const reversed = new Secret(both.reveal().split(',').toReversed().join(','));
      expect(await operates.types('retire k1', { keys: reversed })).toMatchInlineSnapshot(`
        "refused: k1 is still the primary key of running processes:
          - host process 1: k1 (primary), k2
          - host process 2: k1 (primary), k2
        Wait until they have taken over the changed file, or restart them with the changed ENCRYPTION_KEYS."
      `);
      for (const id of ['1', '2'])
        await reportMember(db, { id, label: `host process ${id}`, keyIds: ['k2', 'k1'], primaryId: 'k2' });
      await operates.types('rewrap', { keys: reversed });
      expect(await operates.types('retire k1', { keys: reversed })).toMatchInlineSnapshot(`
        "Nothing needs k1. Take its entry out of ENCRYPTION_KEYS and restart the processes one by one:
          k2:…"
      `);
      for (const said of [refused, promoted]) {
        for (const key of both.reveal().split(',')) expect(said).not.toContain(key.split(':')[1]);
      }
    });

    test('a process that was killed holds nothing up for longer than two minutes', async () => {
      const operates = await operator(await emptyDatabase(), generateKeys('k1', 'k2'));
      const { db } = operates.database;
      await reportMember(db, { id: '1', label: 'gone process 1', keyIds: ['k1'], primaryId: 'k1' });
      await sql`update keyring_members set seen_at = now() - interval '119 seconds'`.execute(db);
      expect(await operates.types('promote k2')).toMatch(/^refused:/);
      await sql`update keyring_members set seen_at = now() - interval '121 seconds'`.execute(db);
      await operates.types('promote k2');
      expect(await operates.ids()).toBe('k2,k1');
      await removeGoneMembers(db, 'gone');
      expect(await db.selectFrom('keyring_members').selectAll().execute()).toEqual([]);
    });

    test('rewrap while people link, leave and come back loses nothing', async () => {
      const operates = await operator(await emptyDatabase());
      const { watch, keyStore } = await operates.runs();
      for (let n = 0; n < 130; n += 1) await keyStore.link(person(n), new Secret(`old ${n}`));
      await operates.types('add k2');
      await watch.refresh();
      await operates.types('promote k2');
      await watch.refresh();
      const linking = Array.from({ length: 30 }, async (_, n) => {
        if (n % 3 === 0) await keyStore.forget(person(n));
        else await keyStore.link(person(n), new Secret(`new ${n}`));
      });
      const [said] = await Promise.all([operates.types('rewrap'), ...linking]);
      expect(said).toMatch(/\b0 left\b/);
      for (let n = 0; n < 130; n += 1) {
        const expected = n >= 30 ? `old ${n}` : n % 3 === 0 ? undefined : `new ${n}`;
        expect((await keyStore.reveal(person(n)))?.key.reveal()).toBe(expected);
      }
      await operates.types('rewrap');
      await operates.types('retire k1');
      expect(await operates.ids()).toBe('k2');
      await watch.stop();
    });

    test('a rewrap that was broken off goes on where it was', async () => {
      const operates = await operator(await emptyDatabase());
      const { watch, sealer, keyStore } = await operates.runs();
      for (let n = 0; n < 250; n += 1) await keyStore.link(person(n), new Secret(`key ${n}`));
      await operates.types('add k2');
      await watch.refresh();
      await operates.types('promote k2');
      await watch.refresh();
      const { db } = operates.database;
      const broken = rewrap({
        db,
        sealer,
        tables: sealedTables,
        progress() {
          throw new Error('terminal closed');
        },
      });
      await expect(broken).rejects.toThrow(/terminal/);
      expect(await operates.uses()).toEqual([
        'k1 linked_keys 150',
        'k1 sealed_versions 250',
        'k2 linked_keys 100',
      ]);
      expect((await keyStore.reveal(person(0)))?.key.reveal()).toBe('key 0');
      expect(await operates.types('rewrap')).toContain('400 put under k2');
      expect((await keyStore.reveal(person(249)))?.key.reveal()).toBe('key 249');
      await watch.stop();
    });

    test('rows that do not open are named and left; a record that was forged is not signed anew', async () => {
      const operates = await operator(await emptyDatabase());
      const { watch, keyStore } = await operates.runs();
      for (const n of [1, 2, 3]) await keyStore.link(person(n), new Secret(`key ${n}`));
      const { db } = operates.database;
      const row = await db
        .selectFrom('linked_keys')
        .select('sealed')
        .where('user_id', '=', person(1).userId)
        .executeTakeFirstOrThrow();
      await db.updateTable('linked_keys').set(row).where('user_id', '=', person(2).userId).execute();
      await db
        .updateTable('sealed_versions')
        .set({ mac: 'ab'.repeat(32) })
        .where('user_id', '=', person(3).userId)
        .execute();
      await operates.types('add k2');
      await watch.refresh();
      await operates.types('promote k2');
      await watch.refresh();
      const said = await operates.types('rewrap');
      expect(said.split('\n').slice(-5)).toMatchInlineSnapshot(`
        [
          "  3 version records looked at",
          "4 put under k2, 2 left that do not open.",
          "  does not open: T0ACME000/U0PERSON2",
          "  does not open: T0ACME000/U0PERSON3",
          "Still under k1: 1 linked key, 1 version record",
        ]
      `);
      await expect(keyStore.reveal(person(3))).rejects.toMatchObject({ code: 'replayed' });
      expect(await operates.types('retire k1')).toMatchInlineSnapshot(`
        "refused: k1 is still needed: 1 linked key, 1 version record.
        npm run keys -- rewrap puts them under the primary key. What it cannot open, npm run keys -- retire k1 --destroy-rows destroys: their owners connect again."
      `);

      expect(await operates.types('retire k1 --destroy-rows')).toMatchInlineSnapshot(`
        "Rows destroyed under k1: 1. Their owners connect again.
        Took k1 out of <file>. Keep your backup of it as long as backups of the database need it."
      `);
      expect(await operates.ids()).toBe('k2');
      expect((await keyStore.reveal(person(1)))?.key.reveal()).toBe('key 1');
      expect(await keyStore.reveal(person(2))).toBeUndefined();
      await keyStore.link(person(3), new Secret('again'));
      expect((await keyStore.reveal(person(3)))?.key.reveal()).toBe('again');
      await watch.stop();
    });

    test('a lost key: the rows it sealed are refused at start, named, and given up only on request', async () => {
      const database = await emptyDatabase();
      const before = await operator(database);
      const { watch, keyStore } = await before.runs();
      for (const n of [1, 2]) await keyStore.link(person(n), new Secret(`key ${n}`));
      await watch.stop();
      const operates = await operator(database, generateKeys('k2'));
      await expect(operates.runs()).rejects.toThrowErrorMatchingInlineSnapshot(`
        [UserError: The keyring lacks what the database was sealed with:
          - k1: 2 linked keys, 2 version records]
      `);
      expect(await operates.types('status')).toMatchInlineSnapshot(`
        "Keys in <file>:
          k2  primary, seals and opens: nothing
        Not in the keyring, so these do not open:
          k1  2 linked keys, 2 version records
        Running processes: none"
      `);
      expect(await operates.types('retire k1')).toMatchInlineSnapshot(`
        "refused: k1 is still needed: 2 linked keys, 2 version records.
        It is not in the keyring: put it back from your backup. What is lost for good, npm run keys -- retire k1 --destroy-rows destroys: their owners connect again."
      `);
      expect(await operates.types('retire k1 --destroy-rows')).toMatch(/ k1: 2\./);
      const bot = await operates.runs();
      expect(await bot.keyStore.reveal(person(1))).toBeUndefined();
      await bot.keyStore.link(person(1), new Secret('again'));
      expect((await bot.keyStore.reveal(person(1)))?.key.reveal()).toBe('again');
      const records = await createAudit({ db: database.db, now }).recent('T0ACME000', 10);
      expect(records.filter(({ event }) => event === 'key-destroyed')).toHaveLength(2);
      await bot.watch.stop();
    });

    test('another key under a known id is refused, with rows and without', async () => {
      const database = await emptyDatabase();
      const right = await operator(database);
      const { watch, keyStore } = await right.runs();
      await watch.stop();
      const wrong = await operator(database, generateKeys('k1'));
      const refusal = "The keyring's key k1 is not the key that this database knows as k1.";
      await expect(wrong.runs()).rejects.toThrow(refusal);
      await keyStore.link(person(1), new Secret('key'));
      await expect(wrong.runs()).rejects.toThrow(refusal);
      // Without a check value the rows prove the key.
      await sql`delete from keyring_keys`.execute(database.db);
      await expect(wrong.runs()).rejects.toThrow(refusal);
      await (await right.runs()).watch.stop();
    });

    test('a changed file that is wrong is not used and said once; the next right one is', async () => {
      const operates = await operator(await emptyDatabase());
      const { watch, keyStore } = await operates.runs();
      await keyStore.link(person(1), new Secret('key'));
      const good = await readFile(operates.file, 'utf8');
      for (const wrong of ['nonsense', generateKeys('k1'), generateKeys('k9')]) {
        const before = operates.log.entries.length;
        await writeFile(operates.file, wrong);
        await watch.refresh();
        await watch.refresh();
        expect(watch.keyring.ids).toEqual(['k1']);
        expect(operates.log.entries.slice(before).map(({ level, message }) => [level, message])).toEqual([
          ['error', keepsEarlierKeys],
        ]);
        await writeFile(operates.file, good);
        await watch.refresh();
      }
      expect((await keyStore.reveal(person(1)))?.key.reveal()).toBe('key');
      await watch.stop();
    });

    test('words that make no sense, or cannot be done, are refused and change nothing', async () => {
      const operates = await operator(await emptyDatabase());
      const said: Record<string, string> = {};
      for (const words of [
        'promote',
        'promote k9',
        'retire k9',
        'retire k1',
        'retire k1 --destroy-rows',
        'add k1',
        'add bad:id',
        'status k1',
        'rewrap --force',
        'promote k1 k2',
        'destroy',
      ])
        said[words] = await operates.types(words);
      expect(said).toMatchInlineSnapshot(`
        {
          "add bad:id": "refused: A key id has 1 to 32 letters, digits, - or _.
        Usage: npm run keys -- status | add [kid] | promote <kid> | rewrap | retire <kid> [--destroy-rows]",
          "add k1": "refused: There already is a key k1.
        ",
          "destroy": "refused: There is no “keys destroy”.
        Usage: npm run keys -- status | add [kid] | promote <kid> | rewrap | retire <kid> [--destroy-rows]",
          "promote": "refused: Which key? “promote” needs its id.
        Usage: npm run keys -- status | add [kid] | promote <kid> | rewrap | retire <kid> [--destroy-rows]",
          "promote k1 k2": "refused: Too many words.
        Usage: npm run keys -- status | add [kid] | promote <kid> | rewrap | retire <kid> [--destroy-rows]",
          "promote k9": "refused: There is no key k9 in the keyring.
        npm run keys -- status shows which there are.",
          "retire k1": "refused: k1 is the primary key: it seals what is stored.
        Promote another key first.",
          "retire k1 --destroy-rows": "refused: k1 is the primary key: it seals what is stored.
        Promote another key first.",
          "retire k9": "refused: There is no key k9 in the keyring.
        npm run keys -- status shows which there are.",
          "rewrap --force": "refused: Too many words.
        Usage: npm run keys -- status | add [kid] | promote <kid> | rewrap | retire <kid> [--destroy-rows]",
          "status k1": "refused: “status” takes no key id.
        Usage: npm run keys -- status | add [kid] | promote <kid> | rewrap | retire <kid> [--destroy-rows]",
        }
      `);
      expect(await operates.ids()).toBe('k1');
    });

    test.skipIf(process.getuid?.() === 0)('a file that cannot be replaced stays as it is', async () => {
      const operates = await operator(await emptyDatabase());
      await chmod(join(operates.file, '..'), 0o500);
      expect(await operates.types('add')).toMatch(/^refused: .*\(EACCES\)/);
      await chmod(join(operates.file, '..'), 0o700);
      expect(await operates.ids()).toBe('k1');
    });
  });
});
