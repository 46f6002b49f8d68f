import { type Kysely, sql } from 'kysely';
import type { Migration } from 'kysely/migration';

export const auditCheckpoints: Migration = {
  async up(db: Kysely<unknown>) {
    await db.schema
      .createTable('audit_checkpoints')
      .addColumn('tenant', 'text', (column) => column.notNull())
      .addColumn('day', 'text', (column) => column.notNull())
      .addColumn('state', 'text', (column) => column.notNull())
      .addColumn('code', 'text')
      .addColumn('channel', 'text', (column) => column.notNull())
      .addColumn('at', 'timestamptz', (column) => column.notNull())
      .addColumn('seq', 'bigint')
      .addColumn('head', 'text')
      .addColumn('kid', 'text')
      .addColumn('signature', 'text')
      .addPrimaryKeyConstraint('audit_checkpoints_day', ['tenant', 'day'])
      .execute();
    await sql`
      create trigger audit_checkpoints_stay before delete on audit_checkpoints
      for each row execute function refuse_change()`.execute(db);
    await db.schema
      .createTable('audit_signing_keys')
      .addColumn('tenant', 'text', (column) => column.primaryKey())
      .addColumn('sealed', 'text', (column) => column.notNull())
      .addColumn('key_id', 'text', (column) => column.notNull())
      .addColumn('made_at', 'timestamptz', (column) => column.notNull())
      .addColumn('version', 'bigint', (column) => column.notNull())
      .execute();
  },
};
