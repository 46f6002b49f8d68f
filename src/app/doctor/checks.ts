import { existsSync } from 'node:fs';
import { statfs } from 'node:fs/promises';
import { setTimeout } from 'node:timers/promises';
import { sql } from 'kysely';
import { createCdn } from '../../api/cdn.ts';
import { readKeyring } from '../../auth/keyring/keyring.ts';
import { checkKeyring as checkOpens, countKeyUse, describeUse } from '../../auth/keyring/rewrap.ts';
import { UserError } from '../../errors.ts';
import {
  checkCreateRights,
  checkRights,
  type Database,
  findSchemaState,
  otherSchemas,
} from '../../store/database.ts';
import { formatBytes } from '../../views/blocks/format.ts';
import type { Finding } from '../../views/doctor.ts';
import { keyringSource, sealedTables } from '../keyring-service.ts';
import {
  checkAddresses,
  checkAppToken,
  checkClock,
  checkConnections,
  checkHosts,
  checkKey,
  checkWorkspace,
  type Subject,
} from './network.ts';

type Asker = 'start' | 'ready' | 'terminal' | 'command';

interface Check {
  readonly askers: readonly Asker[];
  /** Where the bot serves many workspaces, not for those who ask in one of them. */
  readonly isOperators?: boolean;
  readonly run: (subject: Subject) => Promise<readonly Finding[]> | readonly Finding[];
}

const checks: readonly Check[] = [
  { askers: ['terminal', 'command'], isOperators: true, run: checkRoom },
  { askers: ['start', 'ready'], run: checkStores },
  { askers: ['terminal', 'command'], isOperators: true, run: checkDatabase },
  { askers: ['terminal', 'command'], isOperators: true, run: checkKeyring },
  { askers: ['ready', 'terminal', 'command'], run: checkClock },
  { askers: ['ready', 'command'], run: checkConnections },
  { askers: ['terminal', 'command'], run: checkAppToken },
  { askers: ['start'], run: async ({ running }) => (await running?.verifyToken(), []) },
  { askers: ['terminal', 'command'], run: checkWorkspace },
  { askers: ['terminal', 'command'], isOperators: true, run: checkAddresses },
  { askers: ['terminal', 'command'], run: checkHosts },
  { askers: ['terminal', 'command'], run: checkAnswers },
];

export async function runChecks(asker: Asker, subject: Subject): Promise<Finding[]> {
  const isShared = asker === 'command' && subject.config.slack.installing.kind === 'oauth';
  const chosen = checks.filter(
    ({ askers, isOperators }) => askers.includes(asker) && !(isShared && isOperators),
  );
  return (await Promise.all(chosen.map(async ({ run }) => run(subject)))).flat();
}

async function checkDatabase({ database, closed }: Subject): Promise<Finding[]> {
  const check = 'database';
  if (!database) return closed ? [closed] : [];
  try {
    await database.ping();
    if (database.engine === 'postgres') await checkRights(database.db);
    const state = await findSchemaState(database.db);
    if (database.engine === 'postgres' && state === 'empty') await checkCreateRights(database.db);
    const size = await describeSize(database);
    if (state === 'current') return [{ check, state: 'ok', says: `${size}, up to date` }];
    const [is, fix] = otherSchemas[state];
    return [{ check, state: state === 'newer' ? 'failed' : 'limited', says: `${size}, ${is}`, fix }];
  } catch (error) {
    return [describeRefusal(check, error)];
  }
}

/** @throws what is not for people. */
export function describeRefusal(check: string, error: unknown): Finding {
  if (!(error instanceof UserError)) throw error;
  const { message, hint } = error;
  return { check, state: 'failed', says: message, ...(hint ? { fix: hint } : {}) };
}

async function describeSize({ db, engine }: Database): Promise<string> {
  const { rows } = await sql<{ version: string; bytes: number }>`
    select current_setting('server_version') as version,
      pg_database_size(current_database())::float8 as bytes`.execute(db);
  const { version = '', bytes = 0 } = rows[0] ?? {};
  return `${engine === 'embedded' ? 'embedded ' : ''}PostgreSQL ${version}, ${formatBytes(bytes)}`;
}

// The embedded database keeps two backups of itself on the same disk.
const leastRoom = 1e9;

async function checkRoom({ config }: Subject): Promise<Finding[]> {
  const check = 'disk space';
  const { databaseUrl, dataDir } = config.store;
  if (databaseUrl)
    return [
      { check, state: 'skipped', says: 'PostgreSQL does not report its free disk space: monitor it there' },
    ];
  const disk = await statfs(existsSync(dataDir) ? dataDir : '.').catch(() => undefined);
  if (!disk) return [{ check, state: 'skipped', says: 'the system does not report it' }];
  const free = disk.bavail * disk.bsize;
  const says = `${formatBytes(free)} free for DATA_DIR`;
  if (free >= leastRoom) return [{ check, state: 'ok', says }];
  return [{ check, state: 'limited', says, fix: 'Make room: 1 GB or more.' }];
}

/** Whether the keyring opens what is stored. Tables of another version are not read. */
async function checkKeyring({ database, config }: Subject): Promise<Finding[]> {
  const check = 'keyring';
  if (!database || (await findSchemaState(database.db).catch(() => 'newer')) !== 'current') return [];
  const { db } = database;
  try {
    const { keyring, warning } = await readKeyring({ ...keyringSource(config), inUse: true });
    await checkOpens(db, keyring, sealedTables);
    const use = await countKeyUse(db, sealedTables);
    const unused = keyring.ids.slice(1).filter((id) => !describeUse(use, id));
    const spare = unused.length > 0 ? `; ${unused.join(', ')} can be removed` : '';
    const says = `opens every row, with ${keyring.ids.join(', ')}${spare}`;
    return [warning ? { check, state: 'limited', says, fix: warning } : { check, state: 'ok', says }];
  } catch (error) {
    return [describeRefusal(check, error)];
  }
}

async function checkAnswers({ config, fetch, key, drift }: Subject): Promise<Finding[]> {
  if (!drift) {
    const says = 'without a key only the running bot can check this: type /cdn doctor, or add --key-file';
    return [{ check: 'cdn answers', state: 'skipped', says }];
  }
  const cdn = createCdn({ ...config.cdn, fetch, onDrift: drift.report });
  const found = key ? [await checkKey(cdn, key)] : [];
  return [...found, drift.examine()];
}

const lateMs = 2_000;

async function checkStores({ running }: Subject): Promise<Finding[]> {
  const late = setTimeout(lateMs, `the database has not answered for ${lateMs / 1000} s`, { ref: false });
  const problem = await Promise.race([running?.findStoreProblem(), late]);
  return problem === undefined ? [] : [{ check: 'database', state: 'failed', says: problem }];
}

/** Probes, and strangers on a public port, cost one look a second. */
const keptMs = 1_000;

/** Looks whether the running bot can serve. The returned function resolves with the reasons why not, in words. */
export function createReadiness(subject: Subject): () => Promise<string[]> {
  let latest: { readonly reasons: Promise<string[]>; readonly askedAt: number } | undefined;
  const look = async (): Promise<string[]> =>
    (await runChecks('ready', subject)).flatMap(({ state, says }) => (state === 'failed' ? [says] : []));
  return () => {
    if (!latest || performance.now() - latest.askedAt > keptMs)
      latest = { reasons: look(), askedAt: performance.now() };
    return latest.reasons;
  };
}
