import { z } from 'zod';
import { minuteMs, yieldToEventLoop } from '../../lib/time.ts';
import { defineJob } from '../../store/queue/define-job.ts';
import { digestDueJob, digestRunJob } from './digests/jobs.ts';
import { enqueueNextRun, enqueueRun } from './digests/schedule-runs.ts';
import type { ReportContext } from './model.ts';
import { announceReinstalled } from './pauses.ts';
import { isDigest, readReport } from './table.ts';
import { lookForPerson } from './watches/look.ts';
import { alertLook, enqueueNextLook, lookData } from './watches/queue.ts';

const alertLookJob = defineJob({ ...alertLook, data: lookData, run: lookForPerson });

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
      .where('next_due', '<', new Date(now().getTime() + aheadMs))
      .where('paused', 'is', null)
      .where('deleted_at', 'is', null)
      .execute();
    const planned = new Set<string>();
    for (const report of soon.map(readReport)) {
      if (signal.aborted) return;
      const person = `${report.tenant}:${report.owner.userId}`;
      if (isDigest(report)) await enqueueNextRun(ports.enqueue, report);
      // One job checks all alerts of a person.
      else if (!planned.has(person))
        await db.transaction().execute((trx) => enqueueNextLook(ports.enqueue, report, trx));
      if (!isDigest(report)) planned.add(person);
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

export const reportJobs = [digestDueJob, digestRunJob, alertLookJob, reconcileReportsJob] as const;
