import { type Kysely, sql } from 'kysely';
import type { Migration } from 'kysely/migration';

export const exports: Migration = {
  async up(db: Kysely<unknown>) {
    await db.schema
      .createTable('exports')
      .addColumn('id', 'text', (column) => column.primaryKey())
      .addColumn('tenant', 'text', (column) => column.notNull())
      .addColumn('enterprise_id', 'text')
      .addColumn('team_id', 'text', (column) => column.notNull())
      .addColumn('user_id', 'text', (column) => column.notNull())
      .addColumn('channel', 'text')
      .addColumn('request', 'text')
      .addColumn('state', 'text', (column) => column.notNull())
      .addColumn('run', 'text')
      .addColumn('lease_until', 'timestamptz')
      .addColumn('attempt', 'integer', (column) => column.notNull())
      .addColumn('cancelled_by', 'text')
      .addColumn('message_channel', 'text')
      .addColumn('message_ts', 'text')
      .addColumn('row_count', 'bigint', (column) => column.notNull())
      .addColumn('byte_count', 'bigint', (column) => column.notNull())
      .addColumn('files', 'text', (column) => column.notNull())
      .addColumn('asked_at', 'timestamptz', (column) => column.notNull())
      .addColumn('ended_at', 'timestamptz')
      .addColumn('files_deleted_at', 'timestamptz')
      .execute();
    await sql`create index exports_person on exports (tenant, user_id, asked_at)`.execute(db);
    await sql`create index exports_unfinished on exports (state) where ended_at is null`.execute(db);
  },
};
