import type { ColumnType, Generated, Kysely, Transaction } from 'kysely';
import type { Migration, MigrationProvider } from 'kysely/migration';
import { accessRoundTables, authTables, nameTables, settingsTables } from './schema/auth.ts';
import {
  accountTables,
  errorCountTables,
  errorDayTables,
  zoneBaselines,
  zoneSettingsTables,
} from './schema/cdn.ts';
import type { Columns, Rows } from './schema/define-tables.ts';
import {
  engineTables,
  exportDeaths,
  healthTables,
  incidentMessages,
  reportTables,
  scaleIndexes,
  watchTables,
} from './schema/engines.ts';
import { closedSteps, nativeSupportTables, slackTables, stepTables } from './schema/slack.ts';

type Tables = typeof authTables.tables &
  typeof accessRoundTables.tables &
  typeof slackTables.tables &
  Omit<typeof engineTables.tables, 'digests' | 'digest_runs' | 'digest_baselines'> &
  typeof reportTables.tables &
  typeof settingsTables.tables &
  typeof nameTables.tables &
  typeof accountTables.tables &
  typeof errorDayTables.tables &
  typeof zoneSettingsTables.tables &
  typeof stepTables.tables;

/** Column types that the SQL does not tell. */
interface Narrowed {
  audit_records: { detail: ColumnType<Record<string, string | number | boolean>, string, never> };
  audit_checkpoints: { state: 'sending' | 'posted' | 'failed' | 'unknown' | 'unchanged' | 'broken' };
  outbox: { state: 'due' | 'sending' | 'sent' | 'unknown' | 'dead'; doubt: 'look' | 'once' | 'retry' };
}

/** Columns that a later migration added. */
interface Added {
  keyring_keys: { canary: string | null };
  step_runs: { closed_at: Date | null };
  exports: { deaths: Generated<number> };
  zone_settings: { baseline_at: Generated<Date> };
}

/** The tables as queries see them. */
export type Schema = Rows<Tables> & Narrowed & Added;
export type Db = Kysely<Schema>;
export type Trx = Transaction<Schema>;

/**
 * Every change of the tables, in the order of their names. From the first release on a migration is never edited: the
 * next change is a new one. Going back is restoring a backup, so there is no `down`.
 */
const migrations: Record<
  string,
  Migration & { readonly tables: Columns; readonly replaces?: readonly string[] }
> = {
  '0001-auth': authTables,
  '0002-slack': slackTables,
  '0003-engines': engineTables,
  '0004-settings': settingsTables,
  '0005-names': nameTables,
  '0006-accounts': accountTables,
  '0007-error-counts': errorCountTables,
  '0008-health': healthTables,
  '0009-zone-settings': zoneSettingsTables,
  '0010-steps': stepTables,
  '0011-native-support': nativeSupportTables,
  '0012-watches': watchTables,
  '0013-closed-steps': closedSteps,
  '0014-scale': scaleIndexes,
  '0015-access-rounds': accessRoundTables,
  '0016-incident-messages': incidentMessages,
  '0017-export-deaths': exportDeaths,
  '0018-error-days': errorDayTables,
  '0019-reports': reportTables,
  '0020-zone-baselines': zoneBaselines,
};

export const migrationProvider: MigrationProvider = { getMigrations: async () => migrations };

const replaced = new Set(Object.values(migrations).flatMap(({ replaces = [] }) => replaces));

/** Every table with its columns as SQL, parents before children, without the queue's. A later migration may have dropped some. */
export const definedTables: ReadonlyMap<string, Readonly<Record<string, string>>> = new Map(
  Object.values(migrations)
    .flatMap(({ tables }) => Object.entries(tables))
    .filter(([name]) => !replaced.has(name)),
);
