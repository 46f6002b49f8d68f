import { z } from 'zod';
import { minuteMs, yieldToEventLoop } from '../../lib/time.ts';
import { defineJob } from '../../store/queue/define-job.ts';
import { collectRun } from './digests/collect-run.ts';
import type { ReportContext } from './model.ts';
import { announceReinstalled } from './pauses.ts';
import { digestRun, dueData, enqueueNext, enqueueRun, reportsDue, runData } from './queue.ts';
import { runDue } from './runner.ts';
import { readReport } from './table.ts';

export const reportsDueJob = defineJob({ ...reportsDue, data: dueData, run: runDue });

export const digestRunJob = defineJob({
  ...digestRun,
  data: runData,
  run: ({ digestId, due }, context: ReportContext) =>
    collectRun({ report_id: digestId, due: new Date(due) }, context),
});

/** Longer than the time between two of these jobs. */
const aheadMs = 65 * minuteMs;
/** Longer than the attempts of a run with their pauses. */
const strandedMs = 30 * minuteMs;

/**
 * At start and hourly: repairs lost jobs, since a broken chain would silence a report, and looks for workspaces in which the
 * app works again. With a tenant: the app was installed there.
 */
export const reconcileReportsJob = defineJob({
  name: 'reports-reconcile',
  cron: '11 * * * *',
  data: z.object({ tenant: z.string().optional() }),
  async run({ tenant }, context: ReportContext) {
    const { db, ports, now, signal } = context;
    await announceReinstalled(tenant, context);
    if (tenant !== undefined) return;
    const soon = await db
      .selectFrom('reports')
      .selectAll()
      .distinctOn(['tenant', 'owner'])
      .where('next_due', '<', new Date(now().getTime() + aheadMs))
      .where('paused', 'is', null)
      .where('deleted_at', 'is', null)
      .orderBy('tenant')
      .orderBy('owner')
      .execute();
    for (const row of soon) {
      if (signal.aborted) return;
      await db.transaction().execute((trx) => enqueueNext(ports.enqueue, readReport(row), trx));
      await yieldToEventLoop();
    }
    // Due for so long that their job must be lost.
    const stranded = await db
      .selectFrom('report_runs')
      .select(['report_id', 'due'])
      .where('state', 'in', ['due', 'collecting'])
      .where('run_at', '<', new Date(now().getTime() - strandedMs))
      .execute();
    for (const run of stranded) await enqueueRun(ports.enqueue, run);
  },
});

export const reportJobs = [reportsDueJob, digestRunJob, reconcileReportsJob] as const;
