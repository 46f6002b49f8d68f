import type { Person } from '../../../auth/identity.ts';
import type { Trx } from '../../../store/schema.ts';
import { type CustodyOptions, createCustody } from '../schedules/custody.ts';
import { listScheduled } from '../schedules/rows.ts';
import { findNextRun } from '../schedules/schedule.ts';
import { cancelPosts } from './messages.ts';
import type { Digest, DigestOrder, DigestPast } from './model.ts';
import { deletePlannedRuns, loadPast, type RunKey, storeManualRun } from './runs.ts';
import { enqueueNextRun, enqueueRun } from './schedule-runs.ts';
import { digestPauses, digestTable } from './table.ts';

export type DigestService = ReturnType<typeof createDigestService>;

/** Digests as commands work with them. */
export function createDigestService(options: CustodyOptions) {
  const { db, enqueue, now } = options;
  /** Stores or reopens a run, with its job. */
  const begin = (key: RunKey, store: (trx: Trx) => Promise<boolean>): Promise<boolean> =>
    db.transaction().execute(async (trx) => {
      const isStored = await store(trx);
      if (isStored) await enqueueRun(enqueue, key, { in: trx });
      return isStored;
    });

  return {
    ...createCustody<Digest, DigestOrder>(digestTable, options, {
      pauses: digestPauses,
      toColumns: ({ channel, subject, schedule }) => ({
        channel,
        body: JSON.stringify({ subject, schedule }),
      }),
      findNextRun: ({ schedule }, after) => findNextRun(schedule, after),
      describe: ({ channel, subject }) => ({ channel, kinds: subject.kinds.join(' ') }),
      takeBackRuns: deletePlannedRuns,
      async changed(trx, digest) {
        await enqueueNextRun(enqueue, digest, trx);
        if (digest.deletedAt) await cancelPosts(trx, digest.id, options.outbox);
      },
    }),
    /** Every digest of a tenant that is not deleted, oldest first, with how its last run ended or goes. */
    async list(tenant: string) {
      const digests = await listScheduled(db, digestTable, tenant);
      const runs = await db
        .selectFrom('digest_runs')
        .innerJoin('digests', 'digests.id', 'digest_id')
        .distinctOn('digest_id')
        .select(['digest_id', 'due', 'state'])
        .where('tenant', '=', tenant)
        .where('state', 'not in', ['due', 'cancelled'])
        .orderBy('digest_id')
        .orderBy('due', 'desc')
        .execute();
      const last = new Map(runs.map((run) => [run.digest_id, run]));
      return digests.map((digest) => ({ digest, last: last.get(digest.id) }));
    },
    /** The earlier runs and baseline for a run at this moment. */
    loadPast: ({ id }: Digest): Promise<DigestPast> => loadPast(db, id, now()),
    /** Runs at once, whatever the schedule says. False where a run is on its way already. */
    runNow({ id }: Digest, by: Person): Promise<boolean> {
      const key = { digest_id: id, due: now() };
      return begin(key, (trx) => storeManualRun(trx, key, by.userId));
    },
    /** Runs once more: a person looked, and the post is not there. False where the run's fate is not unknown any more. */
    postAgain({ id }: Digest, due: Date): Promise<boolean> {
      const key = { digest_id: id, due };
      return begin(key, async (trx) => {
        const reopened = await trx
          .updateTable('digest_runs')
          .set({ state: 'due', run_at: now() })
          .where((row) => row.and({ ...key, state: 'unknown' }))
          .executeTakeFirst();
        return reopened.numUpdatedRows === 1n;
      });
    },
  };
}
