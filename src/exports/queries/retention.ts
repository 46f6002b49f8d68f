import type { Db, ExportRow } from './exports.ts';

/** Tenants with files that may still be in Slack. */
export async function findTenantsWithFiles(db: Db): Promise<string[]> {
  const rows = await remembered(db).select('tenant').distinct().execute();
  return rows.map(({ tenant }) => tenant);
}

/** A tenant's exports whose files may still be in Slack, the oldest first. */
export async function findExportsWithFiles(
  db: Db,
  tenant: string,
  { endedBefore, most }: { readonly endedBefore: Date; readonly most: number },
): Promise<ExportRow[]> {
  return remembered(db)
    .selectAll()
    .where('tenant', '=', tenant)
    .where('ended_at', '<=', endedBefore)
    .orderBy('ended_at')
    .limit(most)
    .execute();
}

function remembered(db: Db) {
  return db
    .selectFrom('exports')
    .where('state', 'in', ['done', 'unknown'])
    .where('files', '!=', '[]')
    .where('files_deleted_at', 'is', null);
}

/** One export of a tenant, for whoever it belongs to. */
export async function findAnyExportOf(db: Db, tenant: string): Promise<ExportRow | undefined> {
  return remembered(db).selectAll().where('tenant', '=', tenant).limit(1).executeTakeFirst();
}

export async function markFilesDeleted(db: Db, id: string, now: Date): Promise<void> {
  await db.updateTable('exports').set({ files_deleted_at: now }).where('id', '=', id).execute();
}

/** Forgets what was asked for in exports that ended before, and how they ended: words that people searched for. */
export async function eraseRequests(db: Db, endedBefore: Date): Promise<void> {
  await db
    .updateTable('exports')
    .set({ request: null, ending: null })
    .where('ended_at', '<', endedBefore)
    .where('request', 'is not', null)
    .execute();
}

/** Forgets exports that ended before and left no files. */
export async function purgeExports(db: Db, endedBefore: Date): Promise<void> {
  await db
    .deleteFrom('exports')
    .where('ended_at', '<', endedBefore)
    .where((row) => row.or([row('files', '=', '[]'), row('files_deleted_at', 'is not', null)]))
    .execute();
}
