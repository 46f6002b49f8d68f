import { readStoreConfig } from '../app/config.ts';
import { jobs } from '../app/jobs.ts';
import { openDatabase } from '../store/database.ts';
import { createQueue } from '../store/queue/queue.ts';
import type { Command } from './words.ts';

/**
 * `npm run migrate`: makes all that a start needs, so that the bot itself may run as a user who may not. @throws UserError
 * with the GRANT to run where rights are missing.
 */
export const migrateCommand: Command = async (_words, { env, log }) => {
  const { store } = readStoreConfig(env);
  const database = await openDatabase({ ...store, log });
  try {
    await database.migrate();
    const queue = createQueue({ database, log, now: () => new Date() });
    // Nothing runs here, so no job reaches for its ports.
    await queue.start({ jobs, ports: {} as never, work: false });
    await queue.stop();
    log.info({ store: database.engine }, 'database is up to date');
    return true;
  } finally {
    await database.close();
  }
};
