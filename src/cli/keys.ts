import type { StoreConfig } from '../app/config.ts';
import { controlPath, requestControl } from '../app/control-socket.ts';
import { createAudit } from '../auth/audit/audit.ts';
import type { KeyringSource } from '../auth/keyring/keyring.ts';
import { removeGoneMembers } from '../auth/keyring/queries.ts';
import { runKeys } from '../auth/keyring/rotation.ts';
import { type Database, openDatabase } from '../store/database.ts';
import type { Log } from '../telemetry/log.ts';

/** Where this configuration's keyring is. */
export function keyringSource({ keyring, store }: StoreConfig): KeyringSource {
  return { ...keyring, createIn: store.databaseUrl ? undefined : store.dataDir };
}

/**
 * `npm run keys -- …` beside running processes. With the embedded database the process that runs does it.
 *
 * @throws UserError where it is refused.
 */
export async function keysCommand(
  words: readonly string[],
  config: StoreConfig,
  log: Log,
  print: (line: string) => void,
): Promise<void> {
  const path = config.store.databaseUrl ? undefined : controlPath(config.store.dataDir);
  if (path !== undefined && (await requestControl(path, words, print))) return;
  const database = await openDatabase({ ...config.store, log });
  try {
    await database.migrate();
    // Only this process has an embedded database that it could open: whatever else was noted there was killed.
    if (database.engine === 'embedded') await removeGoneMembers(database.db, 'all');
    await runKeysOn(database, keyringSource(config), words, print);
  } finally {
    await database.close();
  }
}

const now = (): Date => new Date();

/** The same on a database that is open already. */
export function runKeysOn(
  { db, withLock }: Database,
  source: KeyringSource,
  words: readonly string[],
  print: (line: string) => void,
): Promise<void> {
  return runKeys(words, { db, withLock, source, audit: createAudit({ db, now }), now, print });
}
