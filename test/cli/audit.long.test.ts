import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, describe, expect, test } from 'vitest';
import { findHeads } from '../../src/auth/audit/audit.ts';
import { auditCommand } from '../../src/cli/audit.ts';
import { UserError } from '../../src/errors.ts';
import { type Database, openDatabase } from '../../src/store/database.ts';
import { acme, beta, insertRecords, runWithoutTriggers } from '../auth/audit/tampering.ts';
import { generateKeys } from '../auth/keyring/keyrings.ts';
import { createMemoryLog, prepareEngines } from '../support/engines.ts';
import { startBotProcess } from '../support/process.ts';
import { createTerminal } from '../support/terminal.ts';

type Env = Readonly<Record<string, string>>;

interface Printed {
  /** Without what differs from run to run. */
  readonly said: string;
  /** 0: intact, 1: broken, 2: cannot be checked. */
  readonly code: number | null;
}

/** Without hashes and paths. */
const readStableOutput = (said: string): string =>
  said
    .replaceAll(/\b[0-9a-f]{64}\b/g, '<hash>')
    .replaceAll(directory, '<directory>')
    .replaceAll(/\/\S*\/data-\w+/g, '<directory>/data');

/** `npm run audit:verify -- …`, in this process: starting one each time takes a second. */
async function verify(env: Env, ...words: string[]): Promise<Printed> {
  const { terminal, lines } = createTerminal(env);
  try {
    const isIntact = await auditCommand(['verify', ...words], terminal);
    return { said: `${readStableOutput(lines.join('\n'))}\n`, code: isIntact ? 0 : 1 };
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

const { embedded } = await prepareEngines();
const directory = await mkdtemp(join(tmpdir(), 'chatops-verify-'));
afterAll(() => rm(directory, { recursive: true, force: true }));

/** Works in the database while no other process has it. */
async function inside<T>({ DATA_DIR: dataDir = '' }: Env, work: (database: Database) => Promise<T>) {
  const database = await openDatabase({ dataDir, log: createMemoryLog() });
  try {
    return await work(database);
  } finally {
    await database.close();
  }
}

async function make(): Promise<Env> {
  const { dataDir: DATA_DIR } = await embedded.createLocation();
  return { DATA_DIR, ENCRYPTION_KEYS: generateKeys('k1') };
}

test('says what is whole, names the first record that is not, and ends with 0 and 1', async () => {
  const env = await make();
  expect(await verify(env)).toMatchSnapshot('empty');
  await inside(env, async (database) => {
    await insertRecords(database, 700);
    await insertRecords(database, 3, beta);
  });
  expect(await verify(env)).toMatchSnapshot('intact');

  await inside(env, (database) =>
    runWithoutTriggers(
      database,
      `update audit_records set actor = 'U9' where seq in (600, 601) and tenant = '${acme}'`,
    ),
  );
  expect(await verify(env)).toMatchSnapshot('altered');
  expect(await verify(env, '--tenant', beta)).toMatchObject({ code: 0 });
});

test('a head from the log shows what was cut off or written anew, given as a file or as a line', async () => {
  const env = await make();
  const logHeads = () =>
    inside(env, async ({ db }) =>
      (await findHeads(db)).map(({ tenant, seq, hash }) => {
        const line = { level: 'info', tenant, seq, head: hash, msg: 'audit head' };
        return `bot-1  | ${JSON.stringify(line)}`;
      }),
    );
  await inside(env, async (database) => {
    await insertRecords(database, 6);
    await insertRecords(database, 3, beta);
  });
  const lines = await logHeads();
  const path = join(directory, `${Math.random()}.log`);
  await writeFile(path, `{"level":"info","msg":"ready"}\nno JSON\n${lines.join('\n')}\n`);
  for (const given of [path, lines.join('\n')])
    expect(await verify(env, '--heads', given)).toMatchSnapshot('whole');
  await inside(env, (database) =>
    runWithoutTriggers(database, `delete from audit_records where seq > 4 and tenant = '${acme}'`),
  );
  expect(await verify(env)).toMatchObject({ code: 0 });
  expect(await verify(env, '--heads', path)).toMatchSnapshot('cut off');
  await inside(env, (database) => insertRecords(database, 6));
  expect(await verify(env, '--heads', path, '--tenant', acme)).toMatchSnapshot('rewritten');
  expect(await verify(env, '--heads', path, '--tenant', beta)).toMatchObject({ code: 0 });
});

describe('what cannot be checked ends with 2 and says why', () => {
  test.each<[string, string[]]>([
    ['another word', ['now']],
    ['an unknown option', ['--all']],
    ['a log that is not there', ['--heads', '/no/such/file']],
    ['a file without a head', ['--heads', 'package.json']],
    ['no database', []],
  ])('%s', async (_name, words) => {
    const { said, code } = await verify({ DATA_DIR: join(directory, 'nothing-here') }, ...words);
    // Node's own words.
    expect(said.replace(/^Unknown option.*/, '<unknown option>')).toMatchSnapshot();
    expect(code).toBe(2);
  });

  test('the embedded database of a bot that runs', async () => {
    const { dataDir, open } = await embedded.createLocation();
    await open();
    const { said, code } = await verifyInProcess({ DATA_DIR: dataDir });
    expect(readStableOutput(said)).toMatchSnapshot();
    expect(code).toBe(2);
  });

  test('npm passes the code on', async () => {
    const run = promisify(execFile)('npm', ['run', '--silent', 'audit:verify', '--', '--heads', '/no/such']);
    await expect(run).rejects.toMatchObject({ code: 2 });
  });
});
