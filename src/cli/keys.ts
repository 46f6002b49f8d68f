import type { StoreConfig } from '../app/config.ts';
import { controlPath, requestControl } from '../app/control-socket.ts';
import { keyringSource, runKeysOn } from '../app/keyring-service.ts';
import { removeGoneMembers } from '../auth/keyring/watch.ts';
import { openDatabase } from '../store/database.ts';
import type { Log } from '../telemetry/log.ts';

/**
 * `npm run keys -- …` beside running processes. With the embedded database the running process executes it.
 *
 * @throws UserError where it is refused.
 */
export async function keysCommand(
  words: readonly string[],
  config: StoreConfig,
  log: Log,
  print: (line: string) => void,
): Promise<void> {
  const path = controlPath(config.store);
  if (path !== undefined && (await requestControl(path, words, print))) return;
  const database = await openDatabase({ ...config.store, log });
  try {
    await database.migrate();
    // An embedded database that opens here is used by no other process: any listed one was killed.
    if (database.engine === 'embedded') await removeGoneMembers(database.db, 'all');
    await runKeysOn(database, keyringSource(config), words, print);
  } finally {
    await database.close();
  }
}
