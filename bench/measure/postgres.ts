import { randomBytes } from 'node:crypto';
import { findOwnPostgres } from '../../test/support/postgres.ts';

/** An empty PostgreSQL database for the bot, where this machine has a server. */
export interface Postgres {
  readonly environment: Readonly<Record<string, string>>;
  readonly stop: () => Promise<void>;
}

/** Starts one; where there is none, says why in words. */
export async function startPostgres(): Promise<Postgres | string> {
  const found = await findOwnPostgres();
  if (typeof found === 'string') return found;
  const server = await found.start();
  const url = await server.createDatabase({ empty: true });
  return {
    environment: {
      DATABASE_URL: url.reveal(),
      ENCRYPTION_KEYS: `k1:${randomBytes(32).toString('base64')}`,
    },
    stop: () => server.stop(),
  };
}
