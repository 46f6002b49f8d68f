import { type ColumnType, type Kysely, sql } from 'kysely';
import type { Migration } from 'kysely/migration';

/** A `timestamptz`. */
export type Moment = ColumnType<Date, Date, Date>;
/** One that may be missing. */
export type Maybe = ColumnType<Date | null, Date | null | undefined, Date | null>;
/** Part of what a row is sealed to: a copy of an earlier version does not open. */
export type Version = ColumnType<number, number | undefined, number>;

/** Creates the tables of one subject. One statement each: the embedded engine takes no more at once. */
export function createTables(...statements: readonly string[]): Migration {
  return {
    async up(db: Kysely<unknown>) {
      for (const statement of statements) await sql.raw(statement).execute(db);
    },
  };
}
