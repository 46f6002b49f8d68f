import { z } from 'zod';
import { minuteMs, yieldToEventLoop } from '../../../lib/time.ts';
import { defineJob } from '../../../store/queue/define-job.ts';
import { lookForPerson } from './look.ts';
import type { WatchContext } from './model.ts';
import { enqueueNextLook, lookData, watchLook } from './queue.ts';
import { watchPauses, watchTable } from './table.ts';

export const watchLookJob = defineJob({ ...watchLook, data: lookData, run: lookForPerson });

/** Longer than the time between two of these jobs. */
const aheadMs = 65 * minuteMs;

/**
 * At start and hourly: repairs lost jobs, since a broken chain would blind a watch, and looks for workspaces in which the
 * app works again. With a tenant: the app was installed there.
 */
export const reconcileWatchesJob = defineJob({
  name: 'watches-reconcile',
  cron: '23 * * * *',
  data: z.object({ tenant: z.string().optional() }),
  async run({ tenant }, context: WatchContext) {
    const { db, ports, now, signal } = context;
    await watchPauses.announceReinstalled(tenant, context);
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
      await db.transaction().execute((trx) => enqueueNextLook(ports.enqueue, watchTable.read(row), trx));
      await yieldToEventLoop();
    }
  },
});
