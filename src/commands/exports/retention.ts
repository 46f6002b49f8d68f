import { sql } from 'kysely';
import { z } from 'zod';
import { dayMs } from '../../lib/time.ts';
import { SlackFailure } from '../../outbox/slack-port.ts';
import { defineJob } from '../../store/queue/define-job.ts';
import {
  type ExportContext,
  type ExportRow,
  installationOf,
  readFiles,
  requesterOf,
  selectWithFiles,
} from './exports.ts';

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
    for (const { tenant } of await selectWithFiles(db).select('tenant').distinct().execute()) {
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
  const { db, now, ports, signal, log } = context;
  const rows = selectWithFiles(db).selectAll().where('tenant', '=', tenant);
  const any = await rows.limit(1).executeTakeFirst();
  if (!any) return;
  // The policy of any requester is the tenant's.
  const { exportKeepDays } = await ports.authorizer(requesterOf(any)).policy({ fresh: true });
  if (exportKeepDays === 0) return;
  const endedBefore = new Date(now().getTime() - exportKeepDays * dayMs);
  // In any order, so that a hundred that cannot be deleted do not keep the others.
  const due = rows.where('ended_at', '<=', endedBefore).orderBy(sql`random()`).limit(mostAtOnce);
  for (const row of await due.execute()) {
    if (signal.aborted) return;
    try {
      await deleteFiles(row, exportKeepDays, context);
    } catch (error) {
      if (error instanceof SlackFailure && error.code === 'ratelimited') throw error;
      log.warn({ error, tenant, id: row.id }, 'files of an export could not be deleted');
    }
  }
}

async function deleteFiles(row: ExportRow, afterDays: number, context: ExportContext): Promise<void> {
  const { db, now, ports, signal } = context;
  const files = readFiles(row);
  const slack = ports.slack(installationOf(row), signal);
  for (const file of files) await slack.deleteFile(file);
  await db.transaction().execute(async (trx) => {
    await trx.updateTable('exports').set({ files_deleted_at: now() }).where('id', '=', row.id).execute();
    await ports.audit.record(
      {
        tenant: row.tenant,
        actor: 'system',
        event: 'export-deleted',
        subject: row.user_id,
        detail: { export: row.id, files: files.length, afterDays },
      },
      trx,
    );
  });
}
