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
  '0003-policies': {
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
  },
  '0002-custody-and-audit': {
    async up(db: Kysely<unknown>) {
      // Rows that were sealed before rows had versions keep 0.
      for (const table of ['linked_keys', 'installations', 'installation_users']) {
        await db.schema
          .alterTable(table)
          .addColumn('version', 'bigint', (column) => column.notNull().defaultTo(0))
          .execute();
      }
      await db.schema
        .createTable('sealed_versions')
        .addColumn('tenant', 'text', (column) => column.notNull())
        .addColumn('user_id', 'text', (column) => column.notNull())
        .addColumn('kind', 'text', (column) => column.notNull())
        .addColumn('version', 'bigint', (column) => column.notNull())
        .addColumn('key_id', 'text', (column) => column.notNull())
        .addColumn('mac', 'text', (column) => column.notNull())
        .addPrimaryKeyConstraint('sealed_versions_slot', ['tenant', 'user_id', 'kind'])
        .execute();
      await db.schema
        .createTable('keyring_keys')
        .addColumn('key_id', 'text', (column) => column.primaryKey())
        .addColumn('check_value', 'text', (column) => column.notNull())
        .addColumn('first_seen', 'timestamptz', (column) => column.notNull().defaultTo(sql`now()`))
        .execute();
      await db.schema
        .createTable('keyring_members')
        .addColumn('id', 'text', (column) => column.primaryKey())
        .addColumn('label', 'text', (column) => column.notNull())
        .addColumn('key_ids', 'text', (column) => column.notNull())
        .addColumn('primary_id', 'text', (column) => column.notNull())
        .addColumn('seen_at', 'timestamptz', (column) => column.notNull().defaultTo(sql`now()`))
        .execute();
      await db.schema
        .createTable('audit_records')
        .addColumn('tenant', 'text', (column) => column.notNull())
        .addColumn('seq', 'bigint', (column) => column.notNull())
        .addColumn('at', 'timestamptz', (column) => column.notNull())
        .addColumn('actor', 'text', (column) => column.notNull())
        .addColumn('what', 'text', (column) => column.notNull())
        .addColumn('subject', 'text')
        .addColumn('detail', 'jsonb', (column) => column.notNull())
        .addColumn('request_id', 'text')
        .addColumn('prev_hash', 'text', (column) => column.notNull())
        .addColumn('hash', 'text', (column) => column.notNull())
        .addPrimaryKeyConstraint('audit_records_place', ['tenant', 'seq'])
        .execute();
      await sql`
        create function refuse_change() returns trigger language plpgsql as $$
        begin
          raise exception '% is append-only: % is refused', tg_table_name, lower(tg_op)
            using errcode = 'integrity_constraint_violation';
        end $$`.execute(db);
      await sql`
        create trigger audit_records_append_only before update or delete on audit_records
        for each row execute function refuse_change()`.execute(db);
      await sql`
        create trigger audit_records_no_truncate before truncate on audit_records
        for each statement execute function refuse_change()`.execute(db);
      // The newest version of a row outlives the row, so that an older copy that is put back is noticed.
      await sql`
        create trigger sealed_versions_stay before delete on sealed_versions
        for each row execute function refuse_change()`.execute(db);
      await sql`
        create trigger sealed_versions_only_grow before update on sealed_versions
        for each row when (new.version < old.version) execute function refuse_change()`.execute(db);
    },
  },
  '0004-key-links': {
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
  },
  '0005-operations': {
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
  },
  '0006-audit-checkpoints': {
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
  },
  '0007-exports': {
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
  },
  '0008-digests': {
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
  },
  '0009-export-endings': {
    async up(db: Kysely<unknown>) {
      await db.schema
        .alterTable('exports')
        .addColumn('ending', 'text')
        .addColumn('told_at', 'timestamptz')
        .execute();
      await sql`create index exports_untold on exports (ended_at) where ending is not null and told_at is null`.execute(
        db,
      );
    },
  },
  '0010-digest-books': {
    async up(db: Kysely<unknown>) {
      // Digests that ran before have none: their next run is a first one, and says so.
      await db.schema
        .createTable('digest_books')
        .addColumn('digest_id', 'text', (column) => column.primaryKey())
        .addColumn('revision', 'integer', (column) => column.notNull())
        .addColumn('body', 'text')
        .addColumn('next_body', 'text')
        .addColumn('next_due', 'timestamptz')
        .addColumn('next_base', 'integer')
        .addForeignKeyConstraint('digest_books_digest', ['digest_id'], 'digests', ['id'], (constraint) =>
          constraint.onDelete('cascade'),
        )
        .execute();
    },
  },
};

export const migrationProvider: MigrationProvider = {
  getMigrations: async () => migrations,
};
