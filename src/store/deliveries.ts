import { type Kysely, sql } from 'kysely';
import type { Schema } from './schema.ts';

/** Claims a delivery of Slack: true for exactly one caller with this id, false where it was claimed already. */
export type Claim = (id: string) => Promise<boolean>;

interface Waiting {
  readonly resolve: (first: boolean) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Claims for any number of processes on one database. Claims that come together share one statement, which is most of
 * the cost of an insert. Slack repeats deliveries for up to an hour; ids are kept for a day.
 */
export function createClaims(db: Kysely<Schema>, now: () => Date): Claim {
  let waiting = new Map<string, Waiting>();
  let flushing = false;

  const insert = async (ids: string[]): Promise<Set<string>> => {
    const { rows } = await sql<{ id: string }>`
      insert into deliveries (id, seen_at) select unnest(${ids}::text[]), ${now()}::timestamptz
      on conflict (id) do nothing returning id`.execute(db);
    return new Set(rows.map(({ id }) => id));
  };

  const flush = async (): Promise<void> => {
    while (waiting.size > 0) {
      const batch = waiting;
      waiting = new Map();
      try {
        const first = await insert([...batch.keys()]);
        for (const [id, { resolve }] of batch) resolve(first.has(id));
      } catch (error) {
        for (const { reject } of batch.values()) reject(error);
      }
    }
    flushing = false;
  };

  return (id) => {
    if (waiting.has(id)) return Promise.resolve(false);
    const { promise, resolve, reject } = Promise.withResolvers<boolean>();
    waiting.set(id, { resolve, reject });
    if (!flushing) {
      flushing = true;
      setImmediate(() => void flush());
    }
    return promise;
  };
}
