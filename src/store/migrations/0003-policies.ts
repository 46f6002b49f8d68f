import type { Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';

export const policies: Migration = {
  async up(db: Kysely<unknown>) {
    await db.schema
      .createTable('policies')
      .addColumn('tenant', 'text', (column) => column.notNull())
      .addColumn('version', 'integer', (column) => column.notNull())
      .addColumn('body', 'text', (column) => column.notNull())
      .addColumn('changed_by', 'text', (column) => column.notNull())
      .addColumn('changed_at', 'timestamptz', (column) => column.notNull())
      .addPrimaryKeyConstraint('policies_version', ['tenant', 'version'])
      .execute();
  },
};
