import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { readStoreConfig } from '../../src/app/config.ts';
import { createAudit } from '../../src/auth/audit/audit.ts';
import { signCheckpoint, writeCheckpoint } from '../../src/auth/audit/checkpoint.ts';
import { loadSigningKey } from '../../src/auth/audit/checkpoints.ts';
import { readKeyring } from '../../src/auth/keyring/keyring.ts';
import { createSealer } from '../../src/auth/keys/sealing.ts';
import { auditCommand } from '../../src/cli/audit.ts';
import { UserError } from '../../src/errors.ts';
import { Secret } from '../../src/secrets/secret.ts';
import { type Database, openDatabase } from '../../src/store/database.ts';
import { acme, beta, insertRecords, readExportedLines, runWithoutTriggers } from '../auth/audit/tampering.ts';
import { generateKeys } from '../auth/keyring/keyrings.ts';
import { copyEmbeddedDatabase } from '../support/database-templates.ts';
import { createMemoryLog } from '../support/engines.ts';
import { findPostgres, type PostgresServer } from '../support/postgres.ts';
import { startBotProcess } from '../support/process.ts';

type Env = Readonly<Record<string, string>>;

interface Printed {
  readonly said: string;
  /** 0: whole, 1: broken, 2: cannot be checked. */
  readonly code: number | null;
}

/** `npm run audit:verify -- …`, in this process: starting one each time takes a second. */
async function verify(env: Env, ...words: string[]): Promise<Printed> {
  const lines: string[] = [];
  const options = {
    config: () => readStoreConfig(env, { needsKeyring: false }),
    log: createMemoryLog(),
    print: (line: string) => void lines.push(line),
  };
  try {
    const verdict = await auditCommand(['verify', ...words], options);
    return { said: `${lines.join('\n')}\n`, code: verdict === 'whole' ? 0 : 1 };
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    return { said: `${error.message}\n${error.hint}`, code: 2 };
  }
}

/** The same as an operator types it. */
async function verifyInProcess(env: Env, ...words: string[]): Promise<Printed> {
  const command = startBotProcess(env, 'audit', ['verify', ...words]);
  const code = await command.exited;
  return { said: command.output(), code };
}

let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'chatops-verify-'));
});
afterAll(() => rm(directory, { recursive: true, force: true }));

interface Store {
  readonly env: Env;
  /** Works in the database while no other process has it. */
  readonly inside: <T>(work: (database: Database) => Promise<T>) => Promise<T>;
  /** A checkpoint of acme's chain as it is now, made the way the bot makes it. */
  readonly checkpoint: () => Promise<string>;
}

const now = (): Date => new Date('2026-11-21T00:07:00.000Z');

function store(env: Env, databaseUrl?: Secret): Store {
  const inside: Store['inside'] = async (work) => {
    const dataDir = env['DATA_DIR'] ?? '';
    const database = await openDatabase({ databaseUrl, dataDir, log: createMemoryLog() });
    try {
      await database.migrate();
      return await work(database);
    } finally {
      await database.close();
    }
  };
  return {
    env,
    inside,
    checkpoint: () =>
      inside(async ({ db }) => {
        const { keyring } = await readKeyring({ keys: new Secret(env['ENCRYPTION_KEYS'] ?? '') });
        const audit = createAudit({ db, now });
        const key = await loadSigningKey({ db, sealer: createSealer(keyring), audit, now });
        const [newest] = await audit.recent(acme, 1);
        const facts = { tenant: acme, seq: newest?.seq ?? 0, head: newest?.hash ?? '', at: now() };
        return writeCheckpoint(signCheckpoint(facts, key));
      }),
  };
}

const found = await findPostgres();
const without = typeof found === 'string' ? ` (skipped: ${found})` : '';
let server: PostgresServer | undefined;
afterAll(() => server?.stop());

describe.each([
  {
    name: 'the embedded database',
    skip: false,
    make: async (): Promise<Store> => {
      const DATA_DIR = await mkdtemp(join(directory, 'data-'));
      await copyEmbeddedDatabase(DATA_DIR);
      return store({ DATA_DIR, ENCRYPTION_KEYS: generateKeys('k1') });
    },
  },
  {
    name: `PostgreSQL${without}`,
    skip: typeof found === 'string',
    make: async (): Promise<Store> => {
      if (typeof found === 'string') throw new Error(found);
      server ??= await found.start();
      const url = await server.createDatabase();
      const DATA_DIR = await mkdtemp(join(directory, 'data-'));
      return store({ DATABASE_URL: url.reveal(), DATA_DIR, ENCRYPTION_KEYS: generateKeys('k1') }, url);
    },
  },
])('on $name', ({ skip, make }) => {
  describe.skipIf(skip)('audit:verify', () => {
    test('says what is whole, names the first record that is not, and ends with 0 and 1', async () => {
      const { env, inside } = await make();
      await inside(async () => undefined);
      expect(await verify(env)).toMatchObject({ code: 0, said: expect.stringContaining('no records yet') });
      await inside(async (database) => {
        await insertRecords(database, 700);
        await insertRecords(database, 3, beta);
      });
      const whole = await verify(env);
      expect(whole.code).toBe(0);
      expect(whole.said).toMatch(/^T0ACME000: whole, 700 records, head [0-9a-f]{64}$/mu);
      expect(whole.said).toMatch(/^T0BETA000: whole, 3 records/mu);
      expect(whole.said).toContain('The record is whole.');

      await inside((database) =>
        runWithoutTriggers(
          database,
          `update audit_records set actor = 'U9' where seq in (600, 601) and tenant = '${acme}'`,
        ),
      );
      const broken = await verify(env);
      expect(broken.code).toBe(1);
      expect(broken.said).toMatch(/^T0ACME000: BROKEN at record 600 \(altered\): Record 600 was changed/mu);
      expect(broken.said).toMatch(/^T0BETA000: whole/mu);
      expect(await verify(env, '--tenant', beta)).toMatchObject({ code: 0 });
    });

    test('a checkpoint shows what was cut off; a forged one is refused', async () => {
      const { env, inside, checkpoint } = await make();
      expect(await verify(env, '--public-key')).toMatchObject({
        code: 2,
        said: expect.stringContaining('No checkpoint was ever signed'),
      });
      await inside((database) => insertRecords(database, 6));
      const line = await checkpoint();
      const path = join(directory, `${Math.random()}.txt`);
      await writeFile(path, `Audit checkpoint\n\`\`\`${line}\`\`\`\n`);
      for (const given of [line, path]) {
        const good = await verify(env, '--checkpoint', given);
        expect(good).toMatchObject({ code: 0, said: expect.stringContaining('contained, signature good') });
      }
      const forged = await verify(env, '--checkpoint', line.replace('seq=6', 'seq=5'));
      expect(forged).toMatchObject({
        code: 1,
        said: expect.stringMatching(/FORGED or altered[^]*NOT whole/),
      });
      expect(await verify(env, '--checkpoint', line.slice(0, 200))).toMatchObject({ code: 2 });

      await inside((database) => runWithoutTriggers(database, 'delete from audit_records where seq > 4'));
      expect(await verify(env, '--tenant', acme)).toMatchObject({ code: 0 });
      const cut = await verify(env, '--checkpoint', line);
      expect(cut).toMatchObject({
        code: 1,
        said: expect.stringContaining('T0ACME000: BROKEN at record 5 (cut-off)'),
      });
    });

    test('who has the file, the line and the public key needs nothing of the bot', async () => {
      const { env, inside, checkpoint } = await make();
      await inside((database) => insertRecords(database, 5));
      const line = await checkpoint();
      const lines = await inside((database) => readExportedLines(database));
      const file = join(directory, `${Math.random()}.ndjson`);
      await writeFile(file, `${lines.join('\n')}\n`);
      const { said } = await verify(env, '--public-key');
      const raw = /Key [0-9a-f]{16}: (\S{44})/.exec(said)?.[1] ?? '';
      const pem = join(directory, `${Math.random()}.pem`);
      await writeFile(pem, said.slice(said.indexOf('-----BEGIN')));
      for (const key of [raw, pem]) {
        const good = await verify({}, '--file', file, '--checkpoint', line, '--key', key);
        expect(good).toMatchObject({ code: 0, said: expect.stringContaining('signature good') });
      }
      expect(await verify({}, '--file', file)).toMatchObject({
        code: 0,
        said: expect.stringContaining('T0ACME000: whole, 5 records'),
      });
      expect(await verify({}, '--file', file, '--checkpoint', line)).toMatchObject({
        code: 2,
        said: expect.stringContaining('without the public key'),
      });
      await writeFile(file, `${lines.slice(0, 4).join('\n')}\n`);
      expect(await verify({}, '--file', file, '--checkpoint', line, '--key', raw)).toMatchObject({
        code: 1,
        said: expect.stringContaining('BROKEN at record 5 (cut-off)'),
      });
      await writeFile(file, `${lines.with(2, '{}').join('\n')}\n`);
      expect(await verify({}, '--file', file)).toMatchObject({
        code: 1,
        said: expect.stringContaining('BROKEN at record 3 (line 3)'),
      });
      expect(await verify({}, '--file', file, '--tenant', beta)).toMatchObject({ code: 2 });
    });

    test('without the keyring the chain is checked all the same', async () => {
      const { env, inside, checkpoint } = await make();
      await inside((database) => insertRecords(database, 2));
      const line = await checkpoint();
      const { ENCRYPTION_KEYS: _, ...keyless } = env;
      expect(await verify(keyless)).toMatchObject({ code: 0 });
      expect(await verify(keyless, '--checkpoint', line)).toMatchObject({ code: 2 });
    });
  });
});

describe('what cannot be checked ends with 2 and says why', () => {
  test.each<[string, string[], RegExp]>([
    ['another word', ['now'], /Say what to do: verify/],
    ['an unknown option', ['--all'], /--all/],
    ['a file that is not there', ['--file', '/no/such/file'], /cannot be read \(ENOENT\)/],
    ['no key', ['--file', 'package.json', '--checkpoint', 'x'], /no whole checkpoint/],
    ['a wrong key', ['--file', 'package.json', '--key', 'x'], /no Ed25519 public key/],
    ['the key of a file', ['--file', 'package.json', '--public-key'], /not in a file/],
    ['no database', [], /There is no database in/],
  ])('%s', async (_name, words, says) => {
    const { said, code } = await verify({ DATA_DIR: join(directory, 'nothing-here') }, ...words);
    expect(said).toMatch(says);
    expect(code).toBe(2);
  });

  const opened: Database[] = [];
  afterEach(async () => {
    for (const database of opened.splice(0)) await database.close();
  });

  test('the embedded database of a bot that runs', async () => {
    const dataDir = await mkdtemp(join(directory, 'data-'));
    await copyEmbeddedDatabase(dataDir);
    opened.push(await openDatabase({ dataDir, log: createMemoryLog() }));
    const { said, code } = await verifyInProcess({ DATA_DIR: dataDir });
    expect(said).toContain('stop the bot, check, start it again');
    expect(code).toBe(2);
  });

  test('npm passes the code on', async () => {
    const run = promisify(execFile)('npm', ['run', '--silent', 'audit:verify', '--', '--file', '/no/such']);
    await expect(run).rejects.toMatchObject({ code: 2 });
  });
});
