import { type Kysely, sql } from 'kysely';
import type { Migration } from 'kysely/migration';

export const exportEndings: Migration = {
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
};
