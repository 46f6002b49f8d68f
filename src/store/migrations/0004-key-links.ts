import { type Kysely, sql } from 'kysely';
import type { Migration } from 'kysely/migration';

export const keyLinks: Migration = {
  async up(db: Kysely<unknown>) {
    await db.schema
      .createTable('key_links')
      .addColumn('token_hash', 'text', (column) => column.primaryKey())
      .addColumn('tenant', 'text', (column) => column.notNull())
      .addColumn('user_id', 'text', (column) => column.notNull())
      .addColumn('enterprise_id', 'text')
      .addColumn('team_id', 'text', (column) => column.notNull())
      .addColumn('shown_for', 'text', (column) => column.notNull())
      .addColumn('made_at', 'timestamptz', (column) => column.notNull())
      .addColumn('expires_at', 'timestamptz', (column) => column.notNull())
      .addColumn('refusals', 'integer', (column) => column.notNull())
      .addColumn('claim', 'text')
      .addColumn('claimed_until', 'timestamptz')
      .addColumn('ended', 'text')
      .addColumn('renewals', 'integer', (column) => column.notNull())
      .addColumn('renewed_at', 'timestamptz')
      .execute();
    await sql`create index key_links_person on key_links (tenant, user_id)`.execute(db);
    await sql`create index key_links_expires_at on key_links (expires_at)`.execute(db);
  },
};
