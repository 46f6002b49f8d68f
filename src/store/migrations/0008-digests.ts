import { type Kysely, sql } from 'kysely';
import type { Migration } from 'kysely/migration';

export const digests: Migration = {
  async up(db: Kysely<unknown>) {
    await db.schema
      .createTable('digests')
      .addColumn('id', 'text', (column) => column.primaryKey())
      .addColumn('tenant', 'text', (column) => column.notNull())
      .addColumn('enterprise_id', 'text')
      .addColumn('team_id', 'text', (column) => column.notNull())
      .addColumn('owner', 'text', (column) => column.notNull())
      .addColumn('channel', 'text', (column) => column.notNull())
      .addColumn('body', 'text', (column) => column.notNull())
      .addColumn('revision', 'integer', (column) => column.notNull())
      .addColumn('paused', 'text')
      .addColumn('paused_by', 'text')
      .addColumn('paused_at', 'timestamptz')
      .addColumn('paused_told', 'text')
      .addColumn('next_due', 'timestamptz')
      .addColumn('failures', 'integer', (column) => column.notNull())
      .addColumn('made_at', 'timestamptz', (column) => column.notNull())
      .addColumn('deleted_at', 'timestamptz')
      .execute();
    await sql`create index digests_tenant on digests (tenant)`.execute(db);
    await sql`create index digests_next_due on digests (next_due)
      where paused is null and deleted_at is null`.execute(db);
    await db.schema
      .createTable('digest_runs')
      .addColumn('digest_id', 'text', (column) => column.notNull())
      .addColumn('due', 'timestamptz', (column) => column.notNull())
      .addColumn('state', 'text', (column) => column.notNull())
      .addColumn('run_at', 'timestamptz', (column) => column.notNull())
      .addColumn('by_hand', 'text')
      .addColumn('missed', 'integer', (column) => column.notNull())
      .addColumn('claim', 'text')
      .addColumn('claimed_at', 'timestamptz')
      .addColumn('attempts', 'integer', (column) => column.notNull())
      .addColumn('lookups', 'integer', (column) => column.notNull())
      .addColumn('outcome', 'text')
      .addColumn('parts', 'text')
      .addColumn('parts_sent', 'integer', (column) => column.notNull())
      .addColumn('sent_to', 'text')
      .addColumn('ts', 'text')
      .addColumn('figures', 'text')
      .addColumn('reason', 'text')
      .addPrimaryKeyConstraint('digest_runs_due', ['digest_id', 'due'])
      .addForeignKeyConstraint('digest_runs_digest', ['digest_id'], 'digests', ['id'], (constraint) =>
        constraint.onDelete('cascade'),
      )
      .execute();
    await sql`create index digest_runs_open on digest_runs (run_at)
      where state in ('due', 'collecting', 'ready', 'sending')`.execute(db);
    await db.schema
      .createTable('slack_pace')
      .addColumn('tenant', 'text', (column) => column.notNull())
      .addColumn('lane', 'text', (column) => column.notNull())
      .addColumn('free_at', 'timestamptz', (column) => column.notNull())
      .addPrimaryKeyConstraint('slack_pace_lane', ['tenant', 'lane'])
      .execute();
  },
};
