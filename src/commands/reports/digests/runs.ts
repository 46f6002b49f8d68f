import { type Insertable, type Selectable, type SqlBool, sql } from 'kysely';
import type { Person } from '../../../auth/identity.ts';
import type { Db, Schema, Trx } from '../../../store/schema.ts';
import type { Digest } from '../../../views/reports/report.ts';
import {
  type Collected,
  type DigestBaseline,
  type DigestPast,
  type ReportOptions,
  storedVersion,
} from '../model.ts';
import { enqueueRun } from '../queue.ts';

export type RunRow = Selectable<Schema['report_runs']>;
export type RunKey = Pick<RunRow, 'report_id' | 'due'>;

/**
 * `due` → `collecting` → `sending` (its post is in the outbox) → `sent`; or, in the end, `quiet` (its threshold asks for
 * silence), `skipped`, `failed`, `unknown` (Slack gave no answer to the post) or `cancelled`.
 */
export type RunState = 'due' | 'collecting' | 'sending' | 'quiet' | 'unknown' | 'cancelled' | FinalPost;
export type FinalPost = 'sent' | 'skipped' | 'failed';

/** Presses within this time are one request. */
const doublePressMs = 5_000;

/** What commands do with digests and their runs, apart from creating and deleting them. */
export function createDigestWork({ db, enqueue, now }: ReportOptions) {
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
    loadPast: ({ id }: Digest): Promise<DigestPast> => loadPast(db, id, now()),
    /**
     * Runs at once, whatever the schedule says. False where a run is on its way into the channel already, or the same person
     * asked a moment ago. The lock makes simultaneous requests wait for each other.
     */
    runNow({ id }: Digest, { userId }: Person): Promise<boolean> {
      const due = now();
      const since = new Date(due.getTime() - doublePressMs);
      return begin({ report_id: id, due }, async (trx) => {
        await trx.selectFrom('reports').select('id').where('id', '=', id).forUpdate().execute();
        const underWay = await trx
          .selectFrom('report_runs')
          .select('due')
          .where('report_id', '=', id)
          .where(
            sql<SqlBool>`(state = 'due' and (by_hand is not null or run_at <= ${due}::timestamptz)
              or state in ('collecting', 'sending')
              or (by_hand = ${userId} and state = 'sent' and due > ${since}::timestamptz))`,
          )
          .executeTakeFirst();
        if (!underWay) await insertRuns(trx, [{ report_id: id, due, by_hand: userId }]);
        return !underWay;
      });
    },
    /** Runs once more: a person looked, and the post is not there. False where the run's fate is not unknown any more. */
    postAgain({ id }: Digest, due: Date): Promise<boolean> {
      const key = { report_id: id, due };
      return begin(key, (trx) =>
        updateRun(trx, { ...key, state: 'unknown' }, { state: 'due', run_at: now() }),
      );
    },
  };
}

/** Stores runs; one that is stored already has run, or will. */
export async function insertRuns(
  trx: Trx,
  runs: readonly (RunKey & Partial<Insertable<Schema['report_runs']>>)[],
): Promise<void> {
  await trx
    .insertInto('report_runs')
    .values(runs.map((run) => ({ run_at: run.due, state: 'due', missed: 0, attempts: 0, ...run })))
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

/** Takes back runs that the schedule planned and that have not begun; returns the moments they were due. */
export async function deletePlannedRuns(trx: Trx, digests: readonly string[]): Promise<Date[]> {
  if (digests.length === 0) return [];
  const taken = await trx
    .deleteFrom('report_runs')
    .where('report_id', 'in', digests)
    .where('state', '=', 'due')
    .where('by_hand', 'is', null)
    .returning('due')
    .execute();
  return taken.map(({ due }) => due);
}

export function findRun(db: Db, { report_id, due }: RunKey): Promise<RunRow | undefined> {
  const run = db.selectFrom('report_runs').selectAll();
  return run.where((row) => row.and({ report_id, due })).executeTakeFirst();
}

/** Begins an attempt at collecting. Undefined where the run is further already, or was taken back. */
export function beginAttempt(db: Db, { report_id, due }: RunKey): Promise<RunRow | undefined> {
  return db
    .updateTable('report_runs')
    .set({ state: 'collecting', attempts: sql<number>`attempts + 1` })
    .where((row) => row.and({ report_id, due }))
    .where('state', 'in', ['due', 'collecting'])
    .returningAll()
    .executeTakeFirst();
}

/** Moves a run on. False where it is not in that state, or another attempt has overtaken this one. */
export function moveRun(
  db: Db,
  { report_id, due, attempts }: Pick<RunRow, 'report_id' | 'due' | 'attempts'>,
  from: RunState,
  to: RunState,
  changes: Partial<Pick<RunRow, 'run_at' | 'attempts' | 'figures'>> = {},
): Promise<boolean> {
  return updateRun(db, { report_id, due, attempts, state: from }, { ...changes, state: to });
}

async function updateRun(
  db: Db,
  which: RunKey & Partial<RunRow>,
  changes: Partial<RunRow>,
): Promise<boolean> {
  const update = db.updateTable('report_runs').set(changes);
  const { numUpdatedRows } = await update.where((row) => row.and(which)).executeTakeFirstOrThrow();
  return numUpdatedRows === 1n;
}

const mostHistory = 60;

/** The basis of comparison of a run that is due then: the runs that posted or stayed silent, and the baseline. */
export async function loadPast(
  db: Db,
  digestId: string,
  before: Date,
): Promise<DigestPast & { readonly revision: number }> {
  const runs = await db
    .selectFrom('report_runs')
    .select(['due', 'figures'])
    .where('report_id', '=', digestId)
    .where('due', '<', before)
    .where('state', 'in', ['sent', 'quiet'])
    .orderBy('due', 'desc')
    .limit(mostHistory)
    .execute();
  const history = runs.flatMap(({ due, figures }) => {
    const stored = parseStored(figures) as Collected | undefined;
    return stored ? [{ due, figures: stored }] : [];
  });
  const stored = await findBaseline(db, digestId);
  const baseline = parseStored(stored?.body) as DigestBaseline | undefined;
  return { history, baseline, revision: stored?.revision ?? 0 };
}

/** Figures or a baseline; undefined where there is nothing of this version. */
export function parseStored(text: string | null | undefined): { readonly version: number } | undefined {
  const parsed = JSON.parse(text ?? 'null') as { readonly version: number } | null;
  return parsed?.version === storedVersion ? parsed : undefined;
}

/** The baseline of a digest; `revision` is one higher each time it is replaced. Undefined if it never ran. */
export function findBaseline(db: Db, digestId: string) {
  return db
    .selectFrom('report_baselines')
    .select(['revision', 'body'])
    .where('report_id', '=', digestId)
    .executeTakeFirst();
}

/**
 * Stores the pending baseline, which becomes current when the run is posted. `base` is the revision it was compared with,
 * 0 for none. Of two concurrent runs the one that was collected last wins.
 */
export async function storePendingBaseline(
  db: Db,
  { report_id, due }: RunKey,
  base: number,
  body: string,
): Promise<void> {
  const next = { next_body: body, next_due: due, next_base: base };
  await db
    .insertInto('report_baselines')
    .values({ report_id, revision: 0, ...next })
    .onConflict((conflict) => conflict.column('report_id').doUpdateSet(next))
    .execute();
}

/**
 * Makes the pending baseline of a posted run the current one. False, and nothing changes, where another run did so since
 * this one was collected: its findings may be reported again, and nothing is lost.
 */
export async function acceptBaseline(db: Db, { report_id, due }: RunKey): Promise<boolean> {
  const none = { next_body: null, next_due: null, next_base: null };
  const result = await db
    .updateTable('report_baselines')
    .set({ revision: sql<number>`revision + 1`, body: sql<string>`next_body`, ...none })
    .where((row) => row.and({ report_id, next_due: due }))
    .whereRef('next_base', '=', 'revision')
    .executeTakeFirst();
  return result.numUpdatedRows === 1n;
}
