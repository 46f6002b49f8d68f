import { z } from 'zod';
import { dayMs } from '../lib/time.ts';
import { defineJob } from '../store/queue/define-job.ts';
import type { ExportContext } from './ports.ts';
import { type ExportRow, installationOf, requesterOf } from './rows.ts';

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
    const before = (keptMs: number): Date => new Date(now().getTime() - keptMs);
    // Requests and outcomes hold search words.
    await db
      .updateTable('exports')
      .set({ request: null, ending: null })
      .where('ended_at', '<', before(requestsKeptMs))
      .where('request', 'is not', null)
      .execute();
    await db
      .deleteFrom('exports')
      .where('ended_at', '<', before(rowsKeptMs))
      .where((row) => row.or([row('files', '=', '[]'), row('files_deleted_at', 'is not', null)]))
      .execute();
    const tenants = await withFiles(context).select('tenant').distinct().execute();
    for (const { tenant } of tenants) {
      try {
        await deleteDue(tenant, context);
      } catch (error) {
        // One tenant's failure does not delay the others; the next hour tries again.
        log.warn({ error, tenant }, 'files of exports could not be deleted');
      }
    }
  },
});

/** Exports whose files may still be in Slack. */
function withFiles({ db }: ExportContext) {
  return db
    .selectFrom('exports')
    .where('state', 'in', ['done', 'unknown'])
    .where('files', '!=', '[]')
    .where('files_deleted_at', 'is', null);
}

async function deleteDue(tenant: string, context: ExportContext): Promise<void> {
  const { now, ports, signal } = context;
  const oldest = withFiles(context).selectAll().where('tenant', '=', tenant).orderBy('ended_at');
  const any = await oldest.limit(1).executeTakeFirst();
  if (!any) return;
  // The policy of any requester is the tenant's.
  const { exportKeepDays } = await ports.authorizer(requesterOf(any)).policy({ fresh: true });
  if (exportKeepDays === 0) return;
  const endedBefore = new Date(now().getTime() - exportKeepDays * dayMs);
  for (const row of await oldest.where('ended_at', '<=', endedBefore).limit(mostAtOnce).execute()) {
    if (signal.aborted) return;
    await deleteFiles(row, exportKeepDays, context);
  }
}

async function deleteFiles(row: ExportRow, days: number, context: ExportContext): Promise<void> {
  const { db, now, ports, signal } = context;
  const files = z.array(z.string()).parse(JSON.parse(row.files));
  const slack = ports.slack(installationOf(row), signal);
  for (const file of files) await slack.deleteFile(file);
  await db.transaction().execute(async (trx) => {
    await trx.updateTable('exports').set({ files_deleted_at: now() }).where('id', '=', row.id).execute();
    const detail = { export: row.id, files: files.length, afterDays: days };
    const record = { tenant: row.tenant, event: 'export-deleted', subject: row.user_id, detail } as const;
    await ports.audit.record({ ...record, actor: 'system' }, { in: trx });
  });
}
