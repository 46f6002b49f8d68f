import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { StoreConfig } from '../app/config.ts';
import { UserError } from '../errors.ts';
import { type Database, openDatabase } from '../store/database.ts';
import type { Log } from '../telemetry/log.ts';

/** Opens the database as it is. `taken`: what to do while the bot runs on it. @throws UserError where it cannot be opened. */
export async function openExisting(
  { store }: StoreConfig,
  log: Log,
  { taken }: { readonly taken: string },
): Promise<Database> {
  const { databaseUrl, dataDir } = store;
  if (!databaseUrl && !existsSync(join(dataDir, 'database'))) {
    throw new UserError(
      `There is no database in ${dataDir}.`,
      'Set DATA_DIR or DATABASE_URL as the bot has them.',
    );
  }
  return openDatabase({ ...store, log }).catch((error: unknown) => {
    if (databaseUrl || !(error instanceof UserError)) throw error;
    throw new UserError(error.message, `The embedded database serves one process: ${taken}.`);
  });
}
