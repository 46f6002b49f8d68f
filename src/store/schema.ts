import { type ColumnType, type Generated, type Kysely, sql, type Transaction } from 'kysely';
import type { Migration, MigrationProvider } from 'kysely/migration';
import { constraints, statements, tables } from './tables.ts';

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

type Rows<Tables> = {
  [Table in keyof Tables]: { [Name in keyof Tables[Table]]: Column<Tables[Table][Name]> };
};

interface Narrowed {
  audit_records: { detail: ColumnType<Record<string, string | number | boolean>, string, never> };
  outbox: { state: 'due' | 'sending' | 'sent' | 'unknown' | 'dead'; doubt: 'look' | 'once' | 'retry' };
}

export type Schema = Rows<typeof tables> & Narrowed;
export type Db = Kysely<Schema>;
export type Trx = Transaction<Schema>;

export const definedTables: ReadonlyMap<string, Readonly<Record<string, string>>> = new Map(
  Object.entries(tables),
);

/** Statements that create all tables; with `if not exists`, what a database lacks of them. */
function createTables(ifMissing: '' | 'if not exists'): string[] {
  const created = [...definedTables].flatMap(([table, columns]) => {
    const definitions = Object.entries(columns).map(([name, definition]) => `${name} ${definition}`);
    const lines = [...definitions, constraints[table as keyof typeof tables]].filter(Boolean);
    const create = `create table ${ifMissing} ${table} (${lines.join(', ')})`;
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
  return [refuseChange, ...created, ...rest];
}

const refuseChange = `create or replace function refuse_change() returns trigger language plpgsql as $$
    begin
      raise exception '% is append-only: % is refused', tg_table_name, lower(tg_op)
        using errcode = 'integrity_constraint_violation';
    end $$`;

function runTogether(statements: readonly string[]): Migration {
  const body = statements.map((statement) => `${statement};`).join('\n');
  return {
    up: async (db) => void (await sql.raw(`do $migration$ begin\n${body}\nend $migration$`).execute(db)),
  };
}

const movedColumns = `tenant, enterprise_id, team_id, owner, channel, body, revision, paused, paused_by,
  pause_notice, next_due, failures, created_at, deleted_at`;

/** Brings a database of a version before 0.2.0 to these tables: digests and watches become reports. */
const upgrade = {
  before: `if to_regclass('digests') is not null then
      alter table digests rename to reports;
      alter table reports add column kind text not null default 'digest';
      alter table reports alter column kind drop default;
      alter table digest_runs rename to report_runs;
      alter table report_runs rename column digest_id to report_id;
      alter table digest_baselines rename to report_baselines;
      alter table report_baselines rename column digest_id to report_id;
      alter index digests_tenant rename to reports_tenant;
      alter index digests_next_due rename to reports_next_due;
      alter index if exists digests_deleted_at rename to reports_deleted_at;
      alter index digest_runs_open rename to report_runs_open;
      alter index if exists digest_runs_due rename to report_runs_due;
    end if`,
  after: `if to_regclass('watches') is not null then
      alter table watch_incidents add column if not exists message text;
      create temporary table moved on commit drop as select id as old,
        case when exists (select from reports r where r.id = w.id) then substr(md5(w.id || w.tenant), 1, 6) else id end as new
        from watches w;
      insert into reports (id, ${movedColumns}, kind, state, checked_at, snoozed_until, snoozed_by, heartbeat_at)
        select new, ${movedColumns}, 'alert', state, looked_at, snoozed_until, snoozed_by, alive_at
        from watches join moved on old = id;
      insert into report_incidents (id, report_id, kind, opened_at, closed_at, figures, message, acknowledged_by,
          acknowledged_at)
        select i.id, new, case kind when 'wrong' then 'firing' else 'unreadable' end, opened_at, closed_at, figures,
          coalesce(message, case when told then 'watch:' || i.id end), acknowledged_by, acknowledged_at
        from watch_incidents i join moved on old = watch_id;
      drop table watch_incidents, watches, moved;
    end if;
    alter table operations add column if not exists via text;
    alter table exports drop column if exists deaths;
    alter table report_baselines drop column if exists revision, drop column if exists next_base;
    alter table report_incidents drop column if exists replies;
    alter table reports drop column if exists paused_at;
    alter table sealed_versions drop column if exists key_id, drop column if exists mac;
    drop table if exists access_rounds, audit_checkpoints, audit_signing_keys, error_counts, installation_users,
      keyring_keys, keyring_members, native_support`,
};

/** Migrations of versions before 0.2.0. */
const earlier = `0002-slack 0003-engines 0004-settings 0005-names 0006-accounts 0007-error-counts 0008-health
  0009-zone-settings 0010-steps 0011-native-support 0012-watches 0013-closed-steps 0014-scale 0015-access-rounds
  0016-incident-messages 0017-export-deaths 0018-error-days 0019-reports 0020-zone-baselines`.split(/\s+/u);

/** Every change of the tables. Never edited: the next change is a new migration. */
const migrations: Record<string, Migration> = {
  '0001-auth': runTogether(createTables('')),
  ...Object.fromEntries(earlier.map((name) => [name, { up: async () => {} }])),
  '0021-one-schema': runTogether([upgrade.before, ...createTables('if not exists'), upgrade.after]),
  '0022-baseline-revision': runTogether([
    `if exists (select from information_schema.columns where table_schema = current_schema()
        and table_name = 'report_baselines' and column_name = 'revision') then
      alter table report_baselines alter column revision set default 0;
    end if`,
  ]),
};

export const migrationProvider: MigrationProvider = { getMigrations: async () => migrations };
