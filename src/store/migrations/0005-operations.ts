import { type Kysely, sql } from 'kysely';
import type { Migration } from 'kysely/migration';

export const operations: Migration = {
  async up(db: Kysely<unknown>) {
    await db.schema
      .createTable('operations')
      .addColumn('id', 'text', (column) => column.primaryKey())
      .addColumn('tenant', 'text', (column) => column.notNull())
      .addColumn('kind', 'text', (column) => column.notNull())
      .addColumn('state', 'text', (column) => column.notNull())
      .addColumn('seq', 'integer', (column) => column.notNull())
      .addColumn('enterprise_id', 'text')
      .addColumn('team_id', 'text', (column) => column.notNull())
      .addColumn('user_id', 'text', (column) => column.notNull())
      .addColumn('channel_id', 'text')
      .addColumn('method', 'text', (column) => column.notNull())
      .addColumn('path', 'text', (column) => column.notNull())
      .addColumn('body', 'text')
      .addColumn('value_mac', 'text')
      .addColumn('reason', 'text')
      .addColumn('snapshot', 'text', (column) => column.notNull())
      .addColumn('policy_version', 'integer', (column) => column.notNull())
      .addColumn('approvals_needed', 'integer', (column) => column.notNull())
      .addColumn('attempt_of', 'text', (column) => column.unique())
      .addColumn('created_at', 'timestamptz', (column) => column.notNull())
      .addColumn('expires_at', 'timestamptz', (column) => column.notNull())
      .addColumn('seal', 'text', (column) => column.notNull())
      .addColumn('key_id', 'text', (column) => column.notNull())
      .addColumn('mac', 'text', (column) => column.notNull())
      .addColumn('moved_by', 'text', (column) => column.notNull())
      .addColumn('moved_at', 'timestamptz', (column) => column.notNull())
      .addColumn('outcome', 'text')
      .addColumn('messages', 'text', (column) => column.notNull().defaultTo('[]'))
      .addColumn('reminded_at', 'timestamptz')
      .execute();
    await sql`create index operations_person on operations (tenant, user_id, created_at)`.execute(db);
    await sql`create index operations_path on operations (tenant, path) where value_mac is not null`.execute(
      db,
    );
    await sql`
      create index operations_moving on operations (state)
       where state in ('proposed', 'approved', 'executing')`.execute(db);
    await sql`
      create trigger operations_stay before delete on operations
      for each row execute function refuse_change()`.execute(db);
    await db.schema
      .createTable('operation_events')
      .addColumn('operation_id', 'text', (column) => column.notNull().references('operations.id'))
      .addColumn('seq', 'integer', (column) => column.notNull())
      .addColumn('at', 'timestamptz', (column) => column.notNull())
      .addColumn('actor', 'text', (column) => column.notNull())
      .addColumn('what', 'text', (column) => column.notNull())
      .addColumn('outcome', 'text')
      .addColumn('key_id', 'text')
      .addColumn('mac', 'text')
      .addPrimaryKeyConstraint('operation_events_place', ['operation_id', 'seq'])
      .execute();
    // What compare-and-set already holds, once more where no mistake gets past it.
    await sql`
      create unique index operation_events_begun on operation_events (operation_id)
       where what = 'executing'`.execute(db);
    await sql`
      create unique index operation_events_approver on operation_events (operation_id, actor)
       where what in ('approval', 'approved')`.execute(db);
    await sql`
      create trigger operation_events_append_only before update or delete on operation_events
      for each row execute function refuse_change()`.execute(db);
    await sql`
      create trigger operation_events_no_truncate before truncate on operation_events
      for each statement execute function refuse_change()`.execute(db);
    await db.schema
      .createTable('operation_values')
      .addColumn('tenant', 'text', (column) => column.notNull())
      .addColumn('owner_id', 'text', (column) => column.notNull())
      .addColumn('operation_id', 'text', (column) => column.notNull().references('operations.id'))
      .addColumn('sealed', 'text', (column) => column.notNull())
      .addColumn('key_id', 'text', (column) => column.notNull())
      .addColumn('version', 'bigint', (column) => column.notNull())
      .addPrimaryKeyConstraint('operation_values_owner', ['tenant', 'owner_id'])
      .execute();
  },
};
