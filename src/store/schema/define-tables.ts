import { type Generated, sql } from 'kysely';
import type { Migration } from 'kysely/migration';

/** Tables with their columns as SQL, of which both the table and its type are made. */
export type Columns = Readonly<Record<string, Readonly<Record<string, string>>>>;

interface Types {
  text: string;
  integer: number;
  bigint: number;
  boolean: boolean;
  timestamptz: Date;
  jsonb: unknown;
}

type Value<Sql> = Sql extends keyof Types
  ? Types[Sql]
  : Sql extends `${infer Type} ${string}`
    ? Value<Type>
    : never;

/** A column's type in queries: what is generated or has a default may be left out of an insert. */
type Column<Sql> = Sql extends `${string} ${'default' | 'generated'} ${string}`
  ? Generated<Value<Sql>>
  : Sql extends `${string} ${'not null' | 'primary key'}${string}`
    ? Value<Sql>
    : Value<Sql> | null;

export type Rows<Tables> = {
  [Table in keyof Tables]: { [Name in keyof Tables[Table]]: Column<Tables[Table][Name]> };
};

/** A migration that creates tables in their order and then runs the statements: keys, indexes, triggers. */
export function defineTables<const Tables extends Columns>(
  tables: Tables,
  statements: readonly string[],
): Migration & { readonly tables: Tables } {
  const created = Object.entries(tables).map(([table, columns]) => {
    const lines = Object.entries(columns).map(([name, definition]) => `${name} ${definition}`);
    return `create table ${table} (${lines.join(', ')})`;
  });
  return {
    tables,
    async up(db) {
      // At once, as one statement: the driver sends no others together.
      const body = [...created, ...statements].map((statement) => `${statement};`).join('\n');
      await sql.raw(`do $migration$ begin\n${body}\nend $migration$`).execute(db);
    },
  };
}
