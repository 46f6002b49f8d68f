import { sql } from 'kysely';
import { yieldToEventLoop } from '../../lib/time.ts';
import type { Db } from '../../store/schema.ts';
import {
  newestVersion,
  openRow,
  ownerColumn,
  type SealedTable,
  type VersionedRow,
} from '../keys/sealed-rows.ts';
import { SealError, type Sealer } from '../keys/sealing.ts';

const batchSize = 100;

/** Tries every sealed row: how many there are in a table, and how many do not open. Changes nothing. */
export async function countUnopened(
  db: Db,
  sealer: Sealer,
  table: SealedTable,
): Promise<{ readonly rows: number; readonly unopened: number }> {
  const owner = ownerColumn(table);
  let rows = 0;
  let unopened = 0;
  let last = { tenant: '', userId: '' };
  for (;;) {
    const found = await sql<VersionedRow & typeof last>`
      select tenant, ${owner} as "userId", sealed, version, ${newestVersion(table)} from ${sql.table(table.name)}
       where (tenant, ${owner}) > (${last.tenant}, ${last.userId}) order by 1, 2 limit ${batchSize}`.execute(
      db,
    );
    for (const row of found.rows) {
      const slot = { tenant: row.tenant, userId: row.userId, kind: table.kind };
      unopened += await openRow(sealer, row, slot).then(
        () => 0,
        (error: unknown) => {
          if (error instanceof SealError) return 1;
          throw error;
        },
      );
    }
    rows += found.rows.length;
    const next = found.rows.at(-1);
    if (!next) return { rows, unopened };
    last = next;
    // In the embedded database nothing else runs between queries otherwise.
    await yieldToEventLoop();
  }
}
