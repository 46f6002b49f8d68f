import { type Selectable, type SqlBool, sql } from 'kysely';
import type { Person } from '../../../auth/identity.ts';
import type { Db, Schema, Trx } from '../../../store/schema.ts';
import type { Failure } from '../../../views/blocks/failure.ts';
import type { Digest } from '../../../views/reports/report.ts';
import type { DigestKindName, FiguresByKind } from '../checks/list.ts';
import { enqueueRun, type ReportOptions } from '../store.ts';

/** The findings of one run: plain data, stored as JSON, comparisons included, so that rendering needs nothing else. */
export interface Collected extends FiguresByKind {
  /** ISO text. */
  readonly at: string;
  /** Parts that could not be read; the rest is reported all the same. */
  readonly unread: readonly UnreadPart[];
}

export interface UnreadPart extends Pick<Failure, 'message' | 'reference'> {
  readonly kind: DigestKindName;
  /** Which zone, shield zone or app; absent: all of the kind. */
  readonly what?: string | undefined;
  /** As many more that failed. */
  readonly more: number;
}

/** The last post's figures, by kind, to name what is new. Stored as JSON, one a digest. */
export interface DigestBaseline {
  readonly byKind: Readonly<Partial<Record<DigestKindName, unknown>>>;
}

/** The basis of comparison of a run: what earlier runs found, newest first, and the baseline. */
export interface DigestPast {
  readonly history: readonly Collected[];
  readonly baseline: DigestBaseline | undefined;
}

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
      return db.transaction().execute(async (trx) => {
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
        if (underWay) return false;
        await insertRun(trx, { report_id: id, due, by_hand: userId });
        await enqueueRun(enqueue, { report_id: id, due }, { in: trx });
        return true;
      });
    },
  };
}

/** Stores a run; one that is stored already has run, or will. */
export async function insertRun(
  trx: Trx,
  run: RunKey & Partial<Pick<RunRow, 'missed' | 'by_hand'>>,
): Promise<void> {
  await trx
    .insertInto('report_runs')
    .values({ run_at: run.due, state: 'due', missed: 0, attempts: 0, ...run })
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
export async function moveRun(
  db: Db,
  { report_id, due, attempts }: Pick<RunRow, 'report_id' | 'due' | 'attempts'>,
  state: RunState,
  to: RunState,
  changes: Partial<Pick<RunRow, 'run_at' | 'figures'>> = {},
): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('report_runs')
    .set({ ...changes, state: to })
    .where((row) => row.and({ report_id, due, attempts, state }))
    .executeTakeFirstOrThrow();
  return numUpdatedRows === 1n;
}

const mostHistory = 60;

/** The basis of comparison of a run that is due then: the runs that posted or stayed silent, and the baseline. */
export async function loadPast(db: Db, digestId: string, before: Date): Promise<DigestPast> {
  const runs = await db
    .selectFrom('report_runs')
    .select('figures')
    .where('report_id', '=', digestId)
    .where('due', '<', before)
    .where('state', 'in', ['sent', 'quiet'])
    .where('figures', 'is not', null)
    .orderBy('due', 'desc')
    .limit(mostHistory)
    .execute();
  const history = runs.map(({ figures }) => JSON.parse(figures ?? '') as Collected);
  const current = db.selectFrom('report_baselines').select('body').where('report_id', '=', digestId);
  const { body = null } = (await current.executeTakeFirst()) ?? {};
  return { history, baseline: body === null ? undefined : (JSON.parse(body) as DigestBaseline) };
}

/** Stores the pending baseline, which becomes current when its run is posted. The run that was collected last wins. */
export async function storePendingBaseline(
  db: Db,
  { report_id, due }: RunKey,
  baseline: DigestBaseline,
): Promise<void> {
  const next = { next_body: JSON.stringify(baseline), next_due: due };
  await db
    .insertInto('report_baselines')
    .values({ report_id, ...next })
    .onConflict((conflict) => conflict.column('report_id').doUpdateSet(next))
    .execute();
}

/**
 * Makes the pending baseline of a posted run the current one. Nothing changes where another run was collected since: its
 * findings may be reported again, and nothing is lost.
 */
export async function acceptBaseline(db: Db, { report_id, due }: RunKey): Promise<void> {
  await db
    .updateTable('report_baselines')
    .set({ body: sql<string>`next_body`, next_body: null, next_due: null })
    .where((row) => row.and({ report_id, next_due: due }))
    .execute();
}
