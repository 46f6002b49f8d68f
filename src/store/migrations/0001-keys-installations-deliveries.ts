import { type Kysely, sql } from 'kysely';
import type { Migration } from 'kysely/migration';

export const keysInstallationsDeliveries: Migration = {
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
};
