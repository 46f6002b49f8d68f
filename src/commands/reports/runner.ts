import { z } from 'zod';
import { createErrorBudget } from '../../api/http/request.ts';
import { runConcurrently } from '../../lib/concurrency.ts';
import { findNextRun } from '../../lib/schedule.ts';
import { minuteMs, yieldToEventLoop } from '../../lib/time.ts';
import { defineJob } from '../../store/queue.ts';
import { type Alert, type Digest, isAlert, isDigest, type Report } from '../../views/reports/report.ts';
import type { AccountReads } from './accounts.ts';
import { skipCheck, writeObservation, writeUnreadable } from './alerts/write.ts';
import type { Observation } from './checks/check.ts';
import { evaluate } from './checks/list.ts';
import { runDigest } from './digests/run-digest.ts';
import { announceReinstalled, classifyCdnFailure, findRefusal, pauseReport } from './life.ts';
import {
  beginAttempt,
  digestRun,
  dueData,
  enqueueNext,
  enqueueRun,
  findReport,
  insertRun,
  isWithin,
  type ReportContext,
  readReport,
  reportsDue,
  runData,
} from './store.ts';

const clockSkewMs = 5_000;
const checkMs = 2 * minuteMs;
/** Failed requests of all checks of one job, after which they fail. */
const mostFailedRequests = 6;
const checksAtOnce = 3;
const aheadMs = 65 * minuteMs;
const strandedMs = 30 * minuteMs;

const reportsDueJob = defineJob({
  ...reportsDue,
  data: dueData,
  run: runDue,
  /** Any of the alerts that are due may be why. */
  async putAside({ tenant, owner }, context: ReportContext) {
    for (const alert of (await findDue({ tenant, owner }, context)).filter(isAlert))
      await pauseReport(alert, 'crashing', context);
    await planNext({ tenant, owner }, context);
  },
});

const digestRunJob = defineJob({
  ...digestRun,
  data: runData,
  run: ({ digestId, due }, context: ReportContext) =>
    runDigest({ report_id: digestId, due: new Date(due) }, context),
  async putAside({ digestId, due }, context: ReportContext) {
    // One that got as far as its post does no harm.
    const run = await beginAttempt(context.db, { report_id: digestId, due: new Date(due) });
    const digest = run && (await findReport(context.db, digestId, 'digest'));
    if (digest) await pauseReport(digest, 'crashing', { ...context, run });
  },
});

/** Repairs lost jobs (a broken chain would silence a report), and finds workspaces in which the app works again. */
export const reconcileReportsJob = defineJob({
  name: 'reports-reconcile',
  cron: '11 * * * *',
  data: z.object({}),
  async run(_data, context: ReportContext) {
    const { db, ports, now, signal } = context;
    await announceReinstalled(context);
    const soon = await selectDue(db, new Date(now().getTime() + aheadMs))
      .distinctOn(['tenant', 'owner'])
      .orderBy('tenant')
      .orderBy('owner')
      .execute();
    for (const row of soon) {
      if (signal.aborted) return;
      const options = { unlessUnderWay: true } as const;
      await db.transaction().execute((trx) => enqueueNext(ports.enqueue, readReport(row), trx, options));
      await yieldToEventLoop();
    }
    const stranded = await db
      .selectFrom('report_runs')
      .select(['report_id', 'due'])
      .where('state', 'in', ['due', 'collecting'])
      .where('run_at', '<', new Date(now().getTime() - strandedMs))
      .execute();
    for (const run of stranded) await enqueueRun(ports.enqueue, run);
  },
});

export const reportJobs = [reportsDueJob, digestRunJob, reconcileReportsJob] as const;

function selectDue(db: ReportContext['db'], until: Date) {
  return db
    .selectFrom('reports')
    .selectAll()
    .where('paused', 'is', null)
    .where('deleted_at', 'is', null)
    .where('next_due', '<=', until);
}

async function runDue(
  { tenant, owner, isFresh }: z.output<typeof dueData>,
  context: ReportContext,
): Promise<void> {
  const { ports, signal } = context;
  const due = await findDue({ tenant, owner }, context);
  for (const digest of due.filter(isDigest)) await claimRun(digest, context);
  const until = AbortSignal.any([signal, AbortSignal.timeout(checkMs)]);
  let account: Promise<AccountReads> | undefined;
  const open = ({ owner }: Alert) =>
    (account ??= ports.accounts.open(owner, until, createErrorBudget(mostFailedRequests), isFresh));
  const checks = due.filter(isAlert).map((alert) => () => checkAlert(alert, open, context));
  const failed = (await runConcurrently(checksAtOnce, checks)).find(({ status }) => status === 'rejected');
  // The bot stops, or the database fails: the job runs again.
  if (failed) throw (failed as PromiseRejectedResult).reason;
  // Even with nothing due: a process may have died between its checks and this.
  await planNext({ tenant, owner }, context);
}

async function findDue(
  person: { readonly tenant: string; readonly owner: string },
  { db, now }: ReportContext,
): Promise<Report[]> {
  const due = selectDue(db, new Date(now().getTime() + clockSkewMs)).where((is) => is.and({ ...person }));
  return (await due.orderBy('next_due').execute()).map(readReport);
}

async function planNext(
  { tenant, owner }: { readonly tenant: string; readonly owner: string },
  { db, ports }: ReportContext,
): Promise<void> {
  const person = { tenant, owner: { userId: owner } };
  await db.transaction().execute((trx) => enqueueNext(ports.enqueue, person, trx));
}

/** Stores the run that is due, with its job. Of several in the past the last one runs, and counts those before it. */
async function claimRun(digest: Digest, { db, ports, now, log }: ReportContext): Promise<void> {
  const { id, revision, nextDue } = digest;
  if (!nextDue) return;
  let [due, next, missed] = [nextDue, findNextRun(digest.schedule, nextDue), 0];
  for (; next <= now(); missed += 1) [due, next] = [next, findNextRun(digest.schedule, next)];
  await db.transaction().execute(async (trx) => {
    const moved = await trx
      .updateTable('reports')
      .set({ next_due: next })
      .where((row) => row.and({ id, revision, next_due: nextDue }))
      .executeTakeFirst();
    // Another process or a change came first.
    if (moved.numUpdatedRows !== 1n) return;
    const key = { report_id: id, due };
    await insertRun(trx, { ...key, missed });
    await enqueueRun(ports.enqueue, key, { in: trx });
  });
  if (missed > 0) log.warn({ digest: id, missed }, 'digest runs were missed');
}

async function checkAlert(
  alert: Alert,
  open: (alert: Alert) => Promise<AccountReads>,
  context: ReportContext,
): Promise<void> {
  const { ports, now, signal, log } = context;
  const at = now();
  if (isTooLate(alert, at)) return skipCheck(alert, at, context);
  let observation: Observation<unknown>;
  try {
    const refused = await findRefusal(alert, ports, signal);
    if (refused) return await pauseReport(alert, refused, context);
    observation = await evaluate(alert.subject, {
      account: await open(alert),
      now: at,
      lookedAt: alert.checkedAt,
      memory: alert.state.memory,
    });
    // The bot stops: what could not be read because of that is no finding.
    signal.throwIfAborted();
  } catch (error) {
    if (signal.aborted) throw error;
    const found = classifyCdnFailure(error);
    if (typeof found === 'string') return pauseReport(alert, found, context);
    log.warn({ alert: alert.id, error }, 'alert cannot check');
    const { message, reference } = ports.explain(error, 'alert');
    const failure = { message: message.slice(0, 500), reference };
    return writeUnreadable(alert, { at, failure }, context);
  }
  await writeObservation(alert, { at, observation }, context);
}

/** Due within its hours while no process ran. */
function isTooLate({ nextDue, subject: { hours, timeZone } }: Alert, at: Date): boolean {
  if (!hours || !nextDue || isWithin(hours, timeZone, at)) return false;
  return isWithin(hours, timeZone, nextDue);
}
