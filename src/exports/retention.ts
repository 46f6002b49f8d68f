import { z } from 'zod';
import { dayMs } from '../lib/time.ts';
import { defineJob } from '../store/queue/define-job.ts';
import type { ExportContext } from './ports.ts';
import { type Db, type ExportRow, fileIdsOf, installationOf, requesterOf } from './queries/exports.ts';

// Search words are kept as long as the buttons that repeat an export are useful.
const requestsKeptMs = 7 * dayMs;
const rowsKeptMs = 90 * dayMs;
// Slack accepts about fifty deletions a minute; the rest waits for the next hour.
const mostAtOnce = 100;

/** Deletes exported files from Slack as the settings say, and erases requests. */
export const exportRetentionJob = defineJob({
  name: 'export-upkeep',
  cron: '41 * * * *',
  data: z.object({}),
  async run(_data, context: ExportContext) {
    const { db, now, log } = context;
    await eraseRequests(db, new Date(now().getTime() - requestsKeptMs));
    await purgeExports(db, new Date(now().getTime() - rowsKeptMs));
    for (const tenant of await findTenantsWithFiles(db)) {
      try {
        await deleteDue(tenant, context);
      } catch (error) {
        // One tenant's failure does not delay the others; the next hour tries again.
        log.warn({ error, tenant }, 'files of exports could not be deleted');
      }
    }
  },
});

async function deleteDue(tenant: string, context: ExportContext): Promise<void> {
  const { db, now, ports, signal } = context;
  const any = await findAnyExportOf(db, tenant);
  if (!any) return;
  const { exportKeepDays } = await ports.authorizer(requesterOf(any)).policy({ fresh: true });
  if (exportKeepDays === 0) return;
  const endedBefore = new Date(now().getTime() - exportKeepDays * dayMs);
  for (const row of await findExportsWithFiles(db, tenant, { endedBefore, most: mostAtOnce })) {
    if (signal.aborted) return;
    await deleteFiles(row, exportKeepDays, context);
  }
}

async function deleteFiles(row: ExportRow, days: number, context: ExportContext): Promise<void> {
  const { db, now, ports, signal } = context;
  const files = fileIdsOf(row);
  const slack = ports.slack(installationOf(row), signal);
  for (const file of files) await slack.deleteFile(file);
  await db.transaction().execute(async (trx) => {
    await markFilesDeleted(trx, row.id, now());
    await ports.audit.record(
      {
        tenant: row.tenant,
        actor: 'system',
        event: 'export-deleted',
        subject: row.user_id,
        detail: { export: row.id, files: files.length, afterDays: days },
      },
      { in: trx },
    );
  });
}

/** Tenants with files that may still be in Slack. */
async function findTenantsWithFiles(db: Db): Promise<string[]> {
  const rows = await remembered(db).select('tenant').distinct().execute();
  return rows.map(({ tenant }) => tenant);
}

/** A tenant's exports whose files may still be in Slack, the oldest first. */
async function findExportsWithFiles(
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

/** Any export of a tenant: its requester's policy is the tenant's. */
async function findAnyExportOf(db: Db, tenant: string): Promise<ExportRow | undefined> {
  return remembered(db).selectAll().where('tenant', '=', tenant).limit(1).executeTakeFirst();
}

async function markFilesDeleted(db: Db, id: string, now: Date): Promise<void> {
  await db.updateTable('exports').set({ files_deleted_at: now }).where('id', '=', id).execute();
}

/** Erases requests and outcomes, which hold search words, of exports that ended before. */
async function eraseRequests(db: Db, endedBefore: Date): Promise<void> {
  await db
    .updateTable('exports')
    .set({ request: null, ending: null })
    .where('ended_at', '<', endedBefore)
    .where('request', 'is not', null)
    .execute();
}

/** Deletes exports that ended before and have no files in Slack. */
async function purgeExports(db: Db, endedBefore: Date): Promise<void> {
  await db
    .deleteFrom('exports')
    .where('ended_at', '<', endedBefore)
    .where((row) => row.or([row('files', '=', '[]'), row('files_deleted_at', 'is not', null)]))
    .execute();
}
