import { existsSync } from 'node:fs';
import { statfs } from 'node:fs/promises';
import { sql } from 'kysely';
import { checkKeyring } from '../../auth/keyring/check.ts';
import { readKeyring } from '../../auth/keyring/keyring.ts';
import { UserError } from '../../errors.ts';
import { type Database, findSchemaState } from '../../store/database.ts';
import { formatBytes } from '../../views/blocks/format.ts';
import type { Finding } from '../../views/doctor.ts';
import type { Config } from '../config.ts';
import { keyringSource, sealedTables } from '../keyring-service.ts';

/** Database, keyring and room. */
export async function checkStores(database: Database, config: Config): Promise<Finding[]> {
  const room = config.store.databaseUrl ? [] : [await checkRoom(config.store.dataDir)];
  const schema = await checkSchema(database);
  return schema.state === 'failed' ? [...room, schema] : [...room, schema, await checkKeys(database, config)];
}

// The embedded database keeps two copies of itself beside it.
const leastRoom = 1e9;

/** Room on the disk of the embedded database. */
export async function checkRoom(dataDir: string): Promise<Finding> {
  const check = 'room';
  const disk = await statfs(existsSync(dataDir) ? dataDir : '.').catch(() => undefined);
  if (!disk) return { check, state: 'skipped', says: 'the system does not say' };
  const free = disk.bavail * disk.bsize;
  const says = `${formatBytes(free)} free for DATA_DIR`;
  return free >= leastRoom
    ? { check, state: 'ok', says }
    : { check, state: 'limited', says, fix: 'Make room: 1 GB or more.' };
}

async function checkSchema({ db, engine }: Database): Promise<Finding> {
  const check = 'database';
  const state = await findSchemaState(db);
  if (state === 'newer')
    return {
      check,
      state: 'failed',
      says: 'written by a newer version of the bot',
      fix: 'Run that version or a later one.',
    };
  const { rows } = await sql<{
    bytes: number;
  }>`select pg_database_size(current_database())::float8 as bytes`.execute(db);
  const says = `${engine}, ${formatBytes(rows[0]?.bytes ?? 0)}, ${state === 'current' ? 'up to date' : 'of an older version'}`;
  if (state === 'current') return { check, state: 'ok', says };
  const fix = 'The next start changes it; with several processes run npm run migrate first.';
  return { check, state: 'limited', says, fix };
}

async function checkKeys({ db }: Database, config: Config): Promise<Finding> {
  const check = 'keyring';
  try {
    const { keyring, warning } = await readKeyring({ ...keyringSource(config), inUse: true });
    await checkKeyring(db, keyring, sealedTables);
    const says = `opens every row, with ${[...keyring.ids].join(', ')}`;
    return warning ? { check, state: 'limited', says, fix: warning } : { check, state: 'ok', says };
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    return { check, state: 'failed', says: error.message, ...(error.hint ? { fix: error.hint } : {}) };
  }
}

const mostChannels = 20;

/** The channels, without people, that digests and watches post to, of one tenant or of all. */
export async function findChannels({ db }: Pick<Database, 'db'>, tenant?: string): Promise<string[]> {
  const { rows } = await sql<{ channel: string }>`
    select channel from (
      select tenant, channel from digests where deleted_at is null
      union select tenant, channel from watches where deleted_at is null
    ) used
    where channel ~ '^[CG]' and (${tenant ?? null}::text is null or tenant = ${tenant ?? null})
    group by channel order by channel limit ${mostChannels}`.execute(db);
  return rows.map(({ channel }) => channel);
}
