import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { z } from 'zod';
import { minuteMs } from '../lib/time.ts';
import { defineJob } from '../store/queue/define-job.ts';
import { collectRun } from './collect-run.ts';
import { announceReinstalled } from './pause.ts';
import type { DigestContext } from './ports.ts';
import { findDigest, findDueBefore } from './queries/digests.ts';
import { findStrandedRuns, storePlannedRun } from './queries/runs.ts';
import {
  digestDue,
  digestRun,
  dueData,
  enqueueNextRun,
  enqueueRun,
  planRun,
  runData,
  startOf,
} from './schedule-runs.ts';

/** The clocks of all processes have to agree to this. */
const clockSkewMs = 5_000;

export const digestDueJob = defineJob({
  ...digestDue,
  data: dueData,
  run: async ({ digestId }, context: DigestContext) => scheduleDueRun(digestId, context),
});

export const digestRunJob = defineJob({
  ...digestRun,
  data: runData,
  run: async ({ digestId, due }, context: DigestContext) =>
    collectRun({ digest_id: digestId, due: new Date(due) }, context),
});

/** Stores the run that is due, its job and the job of the next one, in one transaction. */
async function scheduleDueRun(id: string, { db, ports, now, log }: DigestContext): Promise<void> {
  await db.transaction().execute(async (trx) => {
    const digest = await findDigest(trx, id);
    if (!digest?.nextDue || digest.paused || digest.deletedAt) return;
    if (startOf(id, digest.nextDue).getTime() > now().getTime() + clockSkewMs)
      return enqueueNextRun(ports.enqueue, digest, trx);
    const { planned, next } = planRun(digest, digest.nextDue, now());
    // Another process or a change came first, and its transaction has the next job.
    if (!(await storePlannedRun(trx, digest, planned, next))) return;
    await enqueueRun(ports.enqueue, { digest_id: id, due: planned.due }, { in: trx });
    await enqueueNextRun(ports.enqueue, { id, nextDue: next }, trx);
    if (planned.missed > 0) log.warn({ digest: id, missed: planned.missed }, 'digest runs were missed');
  });
}

/** Longer than the time between two of these jobs. */
const aheadMs = 65 * minuteMs;
/** Longer than the attempts of a run with their pauses. */
const strandedMs = 30 * minuteMs;

/**
 * At start and hourly: repairs lost jobs, since a broken chain would silence a digest, and looks for workspaces in which
 * the app works again. With a tenant: the app was installed there.
 */
export const reconcileDigestsJob = defineJob({
  name: 'digests-reconcile',
  cron: '11 * * * *',
  data: z.object({ tenant: z.string().optional() }),
  async run({ tenant }, context: DigestContext) {
    const { db, ports, now, signal } = context;
    await announceReinstalled(tenant, context);
    if (tenant !== undefined) return;
    for (const { id, next_due } of await findDueBefore(db, new Date(now().getTime() + aheadMs))) {
      if (signal.aborted) return;
      await enqueueNextRun(ports.enqueue, { id, nextDue: next_due ?? undefined });
      await yieldToEventLoop();
    }
    for (const run of await findStrandedRuns(db, new Date(now().getTime() - strandedMs)))
      await enqueueRun(ports.enqueue, run);
  },
});
