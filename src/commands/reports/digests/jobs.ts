import { z } from 'zod';
import { minuteMs, yieldToEventLoop } from '../../../lib/time.ts';
import { defineJob } from '../../../store/queue/define-job.ts';
import { startOf } from '../schedules/jitter.ts';
import { findScheduled } from '../schedules/rows.ts';
import { findNextRun } from '../schedules/schedule.ts';
import { collectRun } from './collect-run.ts';
import type { DigestContext } from './model.ts';
import { insertRuns } from './runs.ts';
import { digestDue, digestRun, dueData, enqueueNextRun, enqueueRun, runData } from './schedule-runs.ts';
import { digestPauses, digestTable } from './table.ts';

/** The clocks of all processes have to agree to this. */
const clockSkewMs = 5_000;

export const digestDueJob = defineJob({ ...digestDue, data: dueData, run: scheduleDueRun });

export const digestRunJob = defineJob({
  ...digestRun,
  data: runData,
  run: ({ digestId, due }, context: DigestContext) =>
    collectRun({ digest_id: digestId, due: new Date(due) }, context),
});

/** Skipped runs that are stored one by one; more are only counted. */
const mostSkipped = 100;

/**
 * Stores the run that is due, its job and the job of the next one, in one transaction. Where several runs are in the past
 * the last one runs (late, or skipped with a message), and those before it are skipped with it.
 */
async function scheduleDueRun(
  { digestId: id }: { digestId: string },
  { db, ports, now, log }: DigestContext,
): Promise<void> {
  await db.transaction().execute(async (trx) => {
    const digest = await findScheduled(trx, digestTable, id);
    if (!digest?.nextDue || digest.paused || digest.deletedAt) return;
    if (startOf(digest, digest.nextDue).getTime() > now().getTime() + clockSkewMs)
      return enqueueNextRun(ports.enqueue, digest, trx);
    const missed: Date[] = [];
    const { revision, nextDue } = digest;
    let due = nextDue;
    let next = findNextRun(digest.schedule, due);
    while (next <= now()) {
      missed.push(due);
      due = next;
      next = findNextRun(digest.schedule, due);
    }
    const moved = await trx
      .updateTable('digests')
      .set({ next_due: next })
      .where((row) => row.and({ id, revision, next_due: nextDue }))
      .executeTakeFirst();
    // Another process or a change came first, and its transaction has the next job.
    if (moved.numUpdatedRows !== 1n) return;
    const key = { digest_id: id, due };
    await insertRuns(trx, [
      ...missed.slice(-mostSkipped).map((at) => ({ digest_id: id, due: at, state: 'skipped' })),
      { ...key, run_at: startOf(digest, due), missed: missed.length },
    ]);
    await enqueueRun(ports.enqueue, key, { in: trx });
    await enqueueNextRun(ports.enqueue, { ...digest, nextDue: next }, trx);
    if (missed.length > 0) log.warn({ digest: id, missed: missed.length }, 'digest runs were missed');
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
    await digestPauses.announceReinstalled(tenant, context);
    if (tenant !== undefined) return;
    const soon = await db
      .selectFrom('digests')
      .selectAll()
      .where('next_due', '<', new Date(now().getTime() + aheadMs))
      .where('paused', 'is', null)
      .where('deleted_at', 'is', null)
      .execute();
    for (const row of soon) {
      if (signal.aborted) return;
      await enqueueNextRun(ports.enqueue, digestTable.read(row));
      await yieldToEventLoop();
    }
    // Due for so long that their job must be lost.
    const stranded = await db
      .selectFrom('digest_runs')
      .select(['digest_id', 'due'])
      .where('state', 'in', ['due', 'collecting'])
      .where('run_at', '<', new Date(now().getTime() - strandedMs))
      .execute();
    for (const run of stranded) await enqueueRun(ports.enqueue, run);
  },
});
