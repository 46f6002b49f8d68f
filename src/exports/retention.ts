import { z } from 'zod';
import { dayMs } from '../lib/time.ts';
import { defineJob } from '../store/queue/define-job.ts';
import type { ExportContext } from './ports.ts';
import type { ExportRow } from './queries/exports.ts';
import {
  eraseRequests,
  findAnyExportOf,
  findExportsWithFiles,
  findTenantsWithFiles,
  markFilesDeleted,
  purgeExports,
} from './queries/retention.ts';
import { fileIdsOf, installationOf, requesterOf } from './rows.ts';

// What people searched for is kept as long as buttons that do the same again are of use.
const requestsKeptMs = 7 * dayMs;
const rowsKeptMs = 90 * dayMs;
// Slack takes about fifty deletions a minute; the rest has its turn an hour later.
const mostAtOnce = 100;

/** Deletes files of exports from Slack where policy says so, and forgets what was searched for. */
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
        // The other tenants are not to wait; this one is tried again in an hour.
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
