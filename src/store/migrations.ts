import { type Kysely, sql } from 'kysely';
import type { Migration, MigrationProvider } from 'kysely/migration';

/**
 * Every change of the tables, in the order of their names. A migration that has been released is never edited:
 * the next change is a new entry below. Going back is restoring a backup, so there is no `down`.
 */
const migrations: Record<string, Migration> = {
  '0001-keys-installations-deliveries': {
    async up(db: Kysely<unknown>) {
      await db.schema
        .createTable('linked_keys')
        .addColumn('tenant', 'text', (column) => column.notNull())
        .addColumn('user_id', 'text', (column) => column.notNull())
        .addColumn('team_id', 'text', (column) => column.notNull())
        .addColumn('sealed', 'text', (column) => column.notNull())
        .addColumn('key_id', 'text', (column) => column.notNull())
        .addColumn('fingerprint', 'text', (column) => column.notNull())
        .addColumn('linked_at', 'timestamptz', (column) => column.notNull())
        .addPrimaryKeyConstraint('linked_keys_person', ['tenant', 'user_id'])
        .execute();
      await db.schema
        .createTable('installations')
        .addColumn('tenant', 'text', (column) => column.primaryKey())
        .addColumn('sealed', 'text', (column) => column.notNull())
        .addColumn('key_id', 'text', (column) => column.notNull())
        .addColumn('installed_at', 'timestamptz', (column) => column.notNull())
        .execute();
      await db.schema
        .createTable('installation_users')
        .addColumn('tenant', 'text', (column) => column.notNull())
        .addColumn('user_id', 'text', (column) => column.notNull())
        .addColumn('sealed', 'text', (column) => column.notNull())
        .addColumn('key_id', 'text', (column) => column.notNull())
        .addColumn('installed_at', 'timestamptz', (column) => column.notNull())
        .addPrimaryKeyConstraint('installation_users_person', ['tenant', 'user_id'])
        .addForeignKeyConstraint(
          'installation_users_installation',
          ['tenant'],
          'installations',
          ['tenant'],
          (constraint) => constraint.onDelete('cascade'),
        )
        .execute();
      await db.schema
        .createTable('deliveries')
        .addColumn('id', 'text', (column) => column.primaryKey())
        .addColumn('seen_at', 'timestamptz', (column) => column.notNull())
        .execute();
      await sql`create index deliveries_seen_at on deliveries (seen_at)`.execute(db);
    },
  },
};

export const migrationProvider: MigrationProvider = {
  getMigrations: async () => migrations,
};
