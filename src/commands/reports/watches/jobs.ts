import { z } from 'zod';
import { minuteMs, yieldToEventLoop } from '../../../lib/time.ts';
import { defineJob } from '../../../store/queue/define-job.ts';
import { lookForPerson } from './look.ts';
import type { AlertContext } from './model.ts';
import { alertLook, enqueueNextLook, lookData } from './queue.ts';
import { alertPauses, alertTable } from './table.ts';

export const alertLookJob = defineJob({ ...alertLook, data: lookData, run: lookForPerson });

/** Longer than the time between two of these jobs. */
const aheadMs = 65 * minuteMs;

/**
 * At start and hourly: repairs lost jobs, since a broken chain would blind an alert, and looks for workspaces in which the
 * app works again. With a tenant: the app was installed there.
 */
export const reconcileAlertsJob = defineJob({
  name: 'watches-reconcile',
  cron: '23 * * * *',
  data: z.object({ tenant: z.string().optional() }),
  async run({ tenant }, context: AlertContext) {
    const { db, ports, now, signal } = context;
    await alertPauses.announceReinstalled(tenant, context);
    if (tenant !== undefined) return;
    const soon = await db
      .selectFrom('watches')
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
      await db.transaction().execute((trx) => enqueueNextLook(ports.enqueue, alertTable.read(row), trx));
      await yieldToEventLoop();
    }
  },
});
