import type { StoreConfig } from '../app/config.ts';
import { keyringSource, runKeysOn } from '../app/keyring-service.ts';
import { removeGoneMembers } from '../auth/keyring/watch.ts';
import type { Log } from '../telemetry/log.ts';
import { openExisting } from './open-existing.ts';

/**
 * `npm run keys -- …` beside running processes.
 *
 * @throws UserError where it is refused.
 */
export async function keysCommand(
  words: readonly string[],
  config: StoreConfig,
  log: Log,
  print: (line: string) => void,
): Promise<void> {
  const database = await openExisting(config, log, { taken: 'stop the bot, and type it again' });
  try {
    await database.migrate();
    // An embedded database that opens here is used by no other process: any listed one was killed.
    if (database.engine === 'embedded') await removeGoneMembers(database.db, 'all');
    await runKeysOn(database, keyringSource(config), words, print);
  } finally {
    await database.close();
  }
}
