import type { Migration, MigrationProvider } from 'kysely/migration';
import { type AuditTables, createAuditTables } from './schema/audit.ts';
import { createDigestTables, type DigestTables } from './schema/digests.ts';
import { createExportTables, type ExportTables } from './schema/exports.ts';
import { createKeyTables, type KeyTables } from './schema/keys.ts';
import { createOperationTables, type OperationTables } from './schema/operations.ts';
import { createSlackTables, type SlackTables } from './schema/slack.ts';

/** The tables as queries see them. Each subject's file holds its types and its creation. */
export interface Schema
  extends AuditTables,
    KeyTables,
    SlackTables,
    OperationTables,
    ExportTables,
    DigestTables {}

/**
 * Every change of the tables, in the order of their names. From the first release on a migration is never edited: the
 * next change is a new file and a new line. Going back is restoring a backup, so there is no `down`.
 */
const migrations: Record<string, Migration> = {
  '0001-audit': createAuditTables,
  '0002-keys': createKeyTables,
  '0003-slack': createSlackTables,
  '0004-operations': createOperationTables,
  '0005-exports': createExportTables,
  '0006-digests': createDigestTables,
};

export const migrationProvider: MigrationProvider = {
  getMigrations: async () => migrations,
};
