import { type Kysely, sql } from 'kysely';
import type { Schema } from './schema.ts';

export type WithLock = <T>(name: string, run: () => Promise<T>) => Promise<T>;

// Each holder on PostgreSQL keeps one connection of the pool while its work needs others: never all of them.
const mostHolders = 3;

/**
 * Locks by name that end with their process. On PostgreSQL they hold among all processes, in the embedded database
 * within the one that has it. What runs inside may use `db` freely.
 */
export function createLocks(engine: 'embedded' | 'postgres', db: Kysely<Schema>): WithLock {
  const last = new Map<string, Promise<unknown>>();
  const inTurn = async <T>(name: string, run: () => Promise<T>): Promise<T> => {
    const before = last.get(name);
    const { promise: mine, resolve: done } = Promise.withResolvers<void>();
    last.set(name, mine);
    try {
      await before;
      return await run();
    } finally {
      if (last.get(name) === mine) last.delete(name);
      done();
    }
  };
  if (engine === 'embedded') return inTurn;

  let holders = 0;
  const waiting: (() => void)[] = [];
  return (name, run) =>
    inTurn(name, async () => {
      if (holders >= mostHolders) await new Promise<void>((resolve) => waiting.push(resolve));
      else holders += 1;
      try {
        return await db.transaction().execute(async (trx) => {
          // Another process may hold it for as long as its own work takes, longer than a statement may.
          await sql`set local statement_timeout = '60s'`.execute(trx);
          await sql`select pg_advisory_xact_lock(hashtextextended(${`cdn-chatops/${name}`}, 0))`.execute(trx);
          return run();
        });
      } finally {
        const next = waiting.shift();
        if (next) next();
        else holders -= 1;
      }
    });
}
