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
  /** Without what differs from run to run. */
  readonly said: string;
  /** 0: whole, 1: broken, 2: cannot be checked. */
  readonly code: number | null;
}

/** Without hashes, key ids and paths. */
const readStableOutput = (said: string): string =>
  said
    .replaceAll(/\b[0-9a-f]{64}\b/g, '<hash>')
    .replaceAll(/\bkey [0-9a-f]{16}\b/g, 'key <key id>')
    .replaceAll(directory, '<directory>')
    .replaceAll(/data-\w+/g, 'data');

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
    return { said: `${readStableOutput(lines.join('\n'))}\n`, code: verdict === 'whole' ? 0 : 1 };
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    return { said: readStableOutput([error.message, error.hint].filter(Boolean).join('\n')), code: 2 };
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
      expect(await verify(env)).toMatchInlineSnapshot(`
        {
          "code": 0,
          "said": "There are no records yet.
        ",
        }
      `);
      await inside(async (database) => {
        await insertRecords(database, 700);
        await insertRecords(database, 3, beta);
      });
      expect(await verify(env)).toMatchInlineSnapshot(`
        {
          "code": 0,
          "said": "T0ACME000: whole, 700 records, head <hash>
        T0BETA000: whole, 3 records, head <hash>
        The record is whole.
        ",
        }
      `);

      await inside((database) =>
        runWithoutTriggers(
          database,
          `update audit_records set actor = 'U9' where seq in (600, 601) and tenant = '${acme}'`,
        ),
      );
      expect(await verify(env)).toMatchInlineSnapshot(`
        {
          "code": 1,
          "said": "T0ACME000: BROKEN at record 600 (altered): Record 600 was changed: its hash does not fit its content.
        T0BETA000: whole, 3 records, head <hash>
        The record is NOT whole: 1 chain of 2.
        ",
        }
      `);
      expect(await verify(env, '--tenant', beta)).toMatchObject({ code: 0 });
    });

    test('a checkpoint shows what was cut off; a forged one is refused', async () => {
      const { env, inside, checkpoint } = await make();
      expect(await verify(env, '--public-key')).toMatchInlineSnapshot(`
        {
          "code": 2,
          "said": "No checkpoint was ever signed, so there is no key yet.
        Name a channel for checkpoints in /cdn settings; the key is made with the first one.",
        }
      `);
      await inside((database) => insertRecords(database, 6));
      const line = await checkpoint();
      const path = join(directory, `${Math.random()}.txt`);
      await writeFile(path, `Audit checkpoint\n\`\`\`${line}\`\`\`\n`);
      for (const given of [line, path]) {
        expect(await verify(env, '--checkpoint', given)).toMatchInlineSnapshot(`
          {
            "code": 0,
            "said": "T0ACME000: whole, 6 records, head <hash>
            checkpoint of 2026-11-21T00:07:00.000Z, record 6, key <key id>: contained, signature good
          deployment: whole, 1 record, head <hash>
          The record is whole.
          ",
          }
        `);
      }
      expect(await verify(env, '--checkpoint', line.replace('seq=6', 'seq=5'))).toMatchInlineSnapshot(`
        {
          "code": 1,
          "said": "T0ACME000: whole, 6 records, head <hash>
          checkpoint of 2026-11-21T00:07:00.000Z, record 5, key <key id>: FORGED or altered: its signature is not of the key given
        deployment: whole, 1 record, head <hash>
        The record is NOT whole: 1 chain of 2.
        ",
        }
      `);
      expect(await verify(env, '--checkpoint', line.slice(0, 200))).toMatchObject({ code: 2 });

      await inside((database) => runWithoutTriggers(database, 'delete from audit_records where seq > 4'));
      expect(await verify(env, '--tenant', acme)).toMatchObject({ code: 0 });
      expect(await verify(env, '--checkpoint', line)).toMatchInlineSnapshot(`
        {
          "code": 1,
          "said": "T0ACME000: BROKEN at record 5 (cut-off): Record 5 and what follows is gone: the checkpoint of record 6 says that there were more.
          the checkpoint says record 6 has hash <hash>
        deployment: whole, 1 record, head <hash>
        The record is NOT whole: 1 chain of 2.
        ",
        }
      `);
    });

    test('who has the file, the line and the public key needs nothing of the bot', async () => {
      const { env, inside, checkpoint } = await make();
      await inside((database) => insertRecords(database, 5));
      const line = await checkpoint();
      const lines = await inside((database) => readExportedLines(database));
      const file = join(directory, `${Math.random()}.ndjson`);
      await writeFile(file, `${lines.join('\n')}\n`);
      const { said } = await verify(env, '--public-key');
      const raw = /^Key [^:]*: (\S{44})/.exec(said)?.[1] ?? '';
      const pem = join(directory, `${Math.random()}.pem`);
      await writeFile(pem, said.slice(said.indexOf('-----BEGIN')));
      for (const key of [raw, pem]) {
        expect(await verify({}, '--file', file, '--checkpoint', line, '--key', key)).toMatchInlineSnapshot(`
          {
            "code": 0,
            "said": "T0ACME000: whole, 5 records, head <hash>
            checkpoint of 2026-11-21T00:07:00.000Z, record 5, key <key id>: contained, signature good
          The record is whole.
          ",
          }
        `);
      }
      expect(await verify({}, '--file', file)).toMatchInlineSnapshot(`
        {
          "code": 0,
          "said": "T0ACME000: whole, 5 records, head <hash>
        The record is whole.
        ",
        }
      `);
      expect(await verify({}, '--file', file, '--checkpoint', line)).toMatchInlineSnapshot(`
        {
          "code": 2,
          "said": "Whether a checkpoint is genuine cannot be told without the public key.
        Add --key: each checkpoint in Slack names it, and npm run audit:verify -- --public-key prints it.",
        }
      `);
      await writeFile(file, `${lines.slice(0, 4).join('\n')}\n`);
      const cut = await verify({}, '--file', file, '--checkpoint', line, '--key', raw);
      expect(cut).toMatchObject({ code: 1, said: expect.stringContaining('record 5 (cut-off)') });
      await writeFile(file, `${lines.with(2, '{}').join('\n')}\n`);
      expect(await verify({}, '--file', file)).toMatchInlineSnapshot(`
        {
          "code": 1,
          "said": "T0ACME000: BROKEN at record 3 (line 3): the line is not in the form that the bot writes: a member was added, taken away or respelled.
        The record is NOT whole: 1 chain of 1.
        ",
        }
      `);
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
  test.each<[string, string[]]>([
    ['another word', ['now']],
    ['an unknown option', ['--all']],
    ['a file that is not there', ['--file', '/no/such/file']],
    ['no key', ['--file', 'package.json', '--checkpoint', 'x']],
    ['a wrong key', ['--file', 'package.json', '--key', 'x']],
    ['the key of a file', ['--file', 'package.json', '--public-key']],
    ['no database', []],
  ])('%s', async (_name, words) => {
    const { said, code } = await verify({ DATA_DIR: join(directory, 'nothing-here') }, ...words);
    // Node's own words.
    expect(said.replace(/^Unknown option.*/, '<unknown option>')).toMatchSnapshot();
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
    expect(readStableOutput(said)).toMatchInlineSnapshot(`
      "Another process already uses the data directory <directory>/data.
      The embedded database serves one process: stop the bot, check, start it again. Or check a file that /cdn audit exports.
      "
    `);
    expect(code).toBe(2);
  });

  test('npm passes the code on', async () => {
    const run = promisify(execFile)('npm', ['run', '--silent', 'audit:verify', '--', '--file', '/no/such']);
    await expect(run).rejects.toMatchObject({ code: 2 });
  });
});
