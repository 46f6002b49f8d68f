import { type Kysely, sql } from 'kysely';
import type { Migration } from 'kysely/migration';

export const custodyAndAudit: Migration = {
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
};
