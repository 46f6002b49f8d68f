import { existsSync } from 'node:fs';
import { statfs } from 'node:fs/promises';
import { sql } from 'kysely';
import { readKeyring } from '../../auth/keyring/keyring.ts';
import { checkKeyring as checkOpens, countKeyUse, describeUse } from '../../auth/keyring/rewrap.ts';
import { UserError } from '../../errors.ts';
import { type Database, findSchemaState } from '../../store/database.ts';
import { checkRights } from '../../store/rights.ts';
import { formatBytes } from '../../views/blocks/format.ts';
import type { Finding } from '../../views/doctor.ts';
import { keyringSource, sealedTables } from '../keyring-service.ts';
import type { Subject } from './subject.ts';

/** Whether the database is open, takes writes and this user's, and has the tables of this version. */
export async function checkDatabase({ database, closed }: Subject): Promise<Finding[]> {
  const check = 'database';
  if (!database) return closed ? [closed] : [];
  try {
    await database.ping();
    if (database.engine === 'postgres') await checkRights(database.db);
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    return [describeRefusal(check, error)];
  }
  const [schema, { version, bytes }] = [await findSchemaState(database.db), await measure(database)];
  return [describeSchema(schema, `${version}, ${formatBytes(bytes)}`)];
}

export function describeRefusal(check: string, { message, hint }: UserError): Finding {
  return { check, state: 'failed', says: message, ...(hint ? { fix: hint } : {}) };
}

async function measure({ db, engine }: Database): Promise<{ version: string; bytes: number }> {
  const { rows } = await sql<{ version: string; bytes: number }>`
    select current_setting('server_version') as version,
      pg_database_size(current_database())::float8 as bytes`.execute(db);
  const { version = '', bytes = 0 } = rows[0] ?? {};
  return { version: `${engine === 'embedded' ? 'embedded ' : ''}PostgreSQL ${version}`, bytes };
}

// The embedded database keeps two backups of itself on the same disk.
const leastRoom = 1e9;

/** Room on the disk of the embedded database; a server does not tell by SQL what is free on its disk. */
export async function checkRoom({ config }: Subject): Promise<Finding[]> {
  const check = 'disk space';
  const { databaseUrl, dataDir } = config.store;
  if (databaseUrl)
    return [
      { check, state: 'skipped', says: 'PostgreSQL does not report its free disk space: monitor it there' },
    ];
  const disk = await statfs(existsSync(dataDir) ? dataDir : '.').catch(() => undefined);
  if (!disk) return [{ check, state: 'skipped', says: 'the system does not say' }];
  const free = disk.bavail * disk.bsize;
  const says = `${formatBytes(free)} free for DATA_DIR`;
  if (free >= leastRoom) return [{ check, state: 'ok', says }];
  return [{ check, state: 'limited', says, fix: 'Make room: 1 GB or more.' }];
}

function describeSchema(state: Awaited<ReturnType<typeof findSchemaState>>, about: string): Finding {
  const check = 'database';
  if (state === 'newer')
    return {
      check,
      state: 'failed',
      says: `${about}, written by a newer version of the bot`,
      fix: 'Run that version or a later one.',
    };
  if (state === 'current') return { check, state: 'ok', says: `${about}, up to date` };
  if (state === 'empty')
    return { check, state: 'limited', says: `${about}, not set up yet`, fix: 'npm run migrate' };
  const fix = 'The next start changes it; with several processes run npm run migrate first.';
  return { check, state: 'limited', says: `${about}, of an older version`, fix };
}

/** Whether the keyring opens what is stored. Tables of another version are not read. */
export async function checkKeyring({ database, config }: Subject): Promise<Finding[]> {
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
    if (!(error instanceof UserError)) throw error;
    return [describeRefusal(check, error)];
  }
}

const mostChannels = 20;

/** The channels, without people, that digests and watches post to, of one tenant or of all. */
export async function findChannels({ db }: Pick<Database, 'db'>, tenant?: string): Promise<string[]> {
  const { rows } = await sql<{ channel: string }>`
    select channel from reports
    where deleted_at is null and channel ~ '^[CG]' and (${tenant ?? null}::text is null or tenant = ${tenant ?? null})
    group by channel order by channel limit ${mostChannels}`.execute(db);
  return rows.map(({ channel }) => channel);
}
