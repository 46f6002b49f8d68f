import type { Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';

export const digestBooks: Migration = {
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
};
