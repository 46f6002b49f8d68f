import type { Person } from '../../../auth/identity.ts';
import type { Trx } from '../../../store/schema.ts';
import type { Digest, DigestPast, ReportOptions } from '../model.ts';
import { enqueueRun } from '../queue.ts';
import { loadPast, type RunKey, storeManualRun } from './runs.ts';

/** What commands do with digests and their runs, beside their life. */
export function createDigestWork({ db, enqueue, now }: ReportOptions) {
  /** Stores or reopens a run, with its job. */
  const begin = (key: RunKey, store: (trx: Trx) => Promise<boolean>): Promise<boolean> =>
    db.transaction().execute(async (trx) => {
      const isStored = await store(trx);
      if (isStored) await enqueueRun(enqueue, key, { in: trx });
      return isStored;
    });

  return {
    /** How the last run of each digest of a tenant ended or goes. */
    async listLastRuns(tenant: string) {
      const runs = await db
        .selectFrom('report_runs')
        .innerJoin('reports', 'reports.id', 'report_id')
        .distinctOn('report_id')
        .select(['report_id', 'due', 'report_runs.state'])
        .where('tenant', '=', tenant)
        .where('report_runs.state', 'not in', ['due', 'cancelled'])
        .orderBy('report_id')
        .orderBy('due', 'desc')
        .execute();
      return new Map(runs.map((run) => [run.report_id, run]));
    },
    /** The earlier runs and baseline for a run at this moment. */
    loadPast: ({ id }: Digest): Promise<DigestPast> => loadPast(db, id, now()),
    /** Runs at once, whatever the schedule says. False where a run is on its way already. */
    runNow({ id }: Digest, by: Person): Promise<boolean> {
      const key = { report_id: id, due: now() };
      return begin(key, (trx) => storeManualRun(trx, key, by.userId));
    },
    /** Runs once more: a person looked, and the post is not there. False where the run's fate is not unknown any more. */
    postAgain({ id }: Digest, due: Date): Promise<boolean> {
      const key = { report_id: id, due };
      return begin(key, async (trx) => {
        const reopened = await trx
          .updateTable('report_runs')
          .set({ state: 'due', run_at: now() })
          .where((row) => row.and({ ...key, state: 'unknown' }))
          .executeTakeFirst();
        return reopened.numUpdatedRows === 1n;
      });
    },
  };
}
