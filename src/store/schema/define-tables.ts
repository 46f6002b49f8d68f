import type { Generated } from 'kysely';

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

/** Tables in the order in which they are created; their primary keys of several columns; indexes and triggers; other constraints. */
export function defineTables<const Tables extends Columns>(
  tables: Tables,
  keys: { readonly [Table in keyof Tables]?: string },
  statements: readonly string[],
  constraints: Readonly<Record<string, string>> = {},
) {
  return {
    tables,
    /** Statements that create all of this; with `if not exists`, what a database lacks of it. */
    create(ifMissing: '' | 'if not exists'): string[] {
      const created = Object.entries(tables).flatMap(([table, columns]) => {
        const definitions = Object.entries(columns).map(([name, definition]) => `${name} ${definition}`);
        const lines = [...definitions, keys[table] && `primary key (${keys[table]})`, constraints[table]];
        const create = `create table ${ifMissing} ${table} (${lines.filter(Boolean).join(', ')})`;
        if (!ifMissing) return [create];
        return [
          create,
          ...definitions.map((column) => `alter table ${table} add column if not exists ${column}`),
        ];
      });
      const rest = statements.map((text) =>
        text
          .replace(/^create ((?:unique )?index)/u, 'create $1 if not exists')
          .replace(/^create trigger/u, 'create or replace trigger'),
      );
      return [...created, ...rest];
    },
  };
}
