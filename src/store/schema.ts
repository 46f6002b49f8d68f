import { type ColumnType, type Kysely, sql, type Transaction } from 'kysely';
import type { Migration, MigrationProvider } from 'kysely/migration';
import { authTables } from './schema/auth.ts';
import { cdnTables } from './schema/cdn.ts';
import type { Rows } from './schema/define-tables.ts';
import { engineTables } from './schema/engines.ts';
import { slackTables } from './schema/slack.ts';
import { upgrade } from './schema/upgrade.ts';

type Tables = typeof authTables.tables &
  typeof slackTables.tables &
  typeof engineTables.tables &
  typeof cdnTables.tables;

/** Column types that the SQL does not tell. */
interface Narrowed {
  audit_records: { detail: ColumnType<Record<string, string | number | boolean>, string, never> };
  outbox: { state: 'due' | 'sending' | 'sent' | 'unknown' | 'dead'; doubt: 'look' | 'once' | 'retry' };
}

export type Schema = Rows<Tables> & Narrowed;
export type Db = Kysely<Schema>;
export type Trx = Transaction<Schema>;

const groups = [authTables, slackTables, engineTables, cdnTables];

const refuseChange = `create or replace function refuse_change() returns trigger language plpgsql as $$
    begin
      raise exception '% is append-only: % is refused', tg_table_name, lower(tg_op)
        using errcode = 'integrity_constraint_violation';
    end $$`;

/** Runs all statements as one: the driver sends no others together. */
function runTogether(statements: readonly string[]): Migration {
  const body = statements.map((statement) => `${statement};`).join('\n');
  return {
    up: async (db) => void (await sql.raw(`do $migration$ begin\n${body}\nend $migration$`).execute(db)),
  };
}

/** Made the tables of versions before 0.2.0. New databases have them from the first, older ones are brought along by the last. */
const earlier = `0002-slack 0003-engines 0004-settings 0005-names 0006-accounts 0007-error-counts 0008-health
  0009-zone-settings 0010-steps 0011-native-support 0012-watches 0013-closed-steps 0014-scale 0015-access-rounds
  0016-incident-messages 0017-export-deaths 0018-error-days 0019-reports 0020-zone-baselines`.split(/\s+/u);

/**
 * Every change of the tables, in the order of their names. From the release of 0.2.0 on the definitions of tables are never
 * edited: the next change is a new migration. Going back is restoring a backup, so there is no `down`.
 */
const migrations: Record<string, Migration> = {
  '0001-auth': runTogether([refuseChange, ...groups.flatMap((group) => group.create(''))]),
  ...Object.fromEntries(earlier.map((name) => [name, { up: async () => {} }])),
  '0021-one-schema': runTogether([
    upgrade.before,
    refuseChange,
    ...groups.flatMap((group) => group.create('if not exists')),
    upgrade.after,
  ]),
};

export const migrationProvider: MigrationProvider = { getMigrations: async () => migrations };

/** Every table with its columns as SQL, parents before children, without the queue's. */
export const definedTables: ReadonlyMap<string, Readonly<Record<string, string>>> = new Map(
  groups.flatMap(({ tables }) => Object.entries<Readonly<Record<string, string>>>(tables)),
);
