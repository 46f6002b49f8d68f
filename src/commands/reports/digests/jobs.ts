import { defineJob } from '../../../store/queue/define-job.ts';
import { startOf } from '../jitter.ts';
import type { ReportContext } from '../model.ts';
import { findNextRun } from '../schedules/schedule.ts';
import { findDigest } from '../table.ts';
import { collectRun } from './collect-run.ts';
import { insertRuns } from './runs.ts';
import { digestDue, digestRun, dueData, enqueueNextRun, enqueueRun, runData } from './schedule-runs.ts';

/** The clocks of all processes have to agree to this. */
const clockSkewMs = 5_000;

export const digestDueJob = defineJob({ ...digestDue, data: dueData, run: scheduleDueRun });

export const digestRunJob = defineJob({
  ...digestRun,
  data: runData,
  run: ({ digestId, due }, context: ReportContext) =>
    collectRun({ report_id: digestId, due: new Date(due) }, context),
});

/** Skipped runs that are stored one by one; more are only counted. */
const mostSkipped = 100;

/**
 * Stores the run that is due, its job and the job of the next one, in one transaction. Where several runs are in the past
 * the last one runs (late, or skipped with a message), and those before it are skipped with it.
 */
async function scheduleDueRun(
  { digestId: id }: { digestId: string },
  { db, ports, now, log }: ReportContext,
): Promise<void> {
  await db.transaction().execute(async (trx) => {
    const digest = await findDigest(trx, id);
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
      .updateTable('reports')
      .set({ next_due: next })
      .where((row) => row.and({ id, revision, next_due: nextDue }))
      .executeTakeFirst();
    // Another process or a change came first, and its transaction has the next job.
    if (moved.numUpdatedRows !== 1n) return;
    const key = { report_id: id, due };
    await insertRuns(trx, [
      ...missed.slice(-mostSkipped).map((at) => ({ report_id: id, due: at, state: 'skipped' })),
      { ...key, run_at: startOf(digest, due), missed: missed.length },
    ]);
    await enqueueRun(ports.enqueue, key, { in: trx });
    await enqueueNextRun(ports.enqueue, { ...digest, nextDue: next }, trx);
    if (missed.length > 0) log.warn({ digest: id, missed: missed.length }, 'digest runs were missed');
  });
}
