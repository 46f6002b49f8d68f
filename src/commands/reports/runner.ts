import type { z } from 'zod';
import { createErrorBudget } from '../../api/http/retry.ts';
import { runConcurrently } from '../../lib/concurrency.ts';
import { minuteMs } from '../../lib/time.ts';
import type { Db } from '../../store/schema.ts';
import { describeBudgetSpent } from '../../views/reports/alerts/incident.ts';
import { BudgetSpent } from './accounts/budget.ts';
import type { AccountReads } from './accounts/reads.ts';
import type { Observation } from './alerts/conditions/condition.ts';
import { findCondition } from './alerts/conditions/list.ts';
import { isWithin } from './alerts/hours.ts';
import { editOpenIncidents, skipCheck, writeObservation, writeUnreadable } from './alerts/write.ts';
import { insertRuns } from './digests/runs.ts';
import { classifyCdnFailure, findRefusal } from './failures.ts';
import {
  type Alert,
  type Digest,
  isAlert,
  isDigest,
  type PauseReason,
  type Report,
  type ReportContext,
} from './model.ts';
import { pauseReports } from './pauses.ts';
import { type dueData, enqueueNext, enqueueRun, startOf } from './queue.ts';
import { findNextRun } from './schedule.ts';
import { readReport } from './table.ts';

/** The clocks of all processes have to agree to this. */
const clockSkewMs = 5_000;
/** A check that takes longer has failed. */
const checkMs = 2 * minuteMs;
/** Failed requests of all checks of one job, after which they fail. */
const mostFailedRequests = 6;
const checksAtOnce = 3;

/** Claims the runs of a person's digests that are due, checks their alerts, and plans what is next. */
export async function runDue(
  { tenant, owner, isFresh }: z.output<typeof dueData>,
  context: ReportContext,
): Promise<void> {
  const { db, ports, now, signal } = context;
  const due = await findDue(db, { tenant, owner }, new Date(now().getTime() + clockSkewMs));
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
  const person = { tenant, owner: { userId: owner } };
  await db.transaction().execute((trx) => enqueueNext(ports.enqueue, person, trx));
}

async function findDue(
  db: Db,
  { tenant, owner }: { readonly tenant: string; readonly owner: string },
  until: Date,
): Promise<Report[]> {
  const rows = await db
    .selectFrom('reports')
    .selectAll()
    .where((is) => is.and({ tenant, owner }))
    .where('paused', 'is', null)
    .where('deleted_at', 'is', null)
    .where('next_due', '<=', until)
    .orderBy('next_due')
    .execute();
  return rows.map(readReport);
}

/** Skipped runs that are stored one by one; more are only counted. */
const mostSkipped = 100;

/**
 * Stores the run that is due, with its job. Where several runs are in the past the last one runs (late, or skipped with a
 * message), and those before it are skipped with it.
 */
async function claimRun(digest: Digest, { db, ports, now, log }: ReportContext): Promise<void> {
  const { id, revision, nextDue } = digest;
  if (!nextDue) return;
  const missed: Date[] = [];
  let due = nextDue;
  let next = findNextRun(digest.schedule, due);
  while (next <= now()) {
    missed.push(due);
    due = next;
    next = findNextRun(digest.schedule, due);
  }
  await db.transaction().execute(async (trx) => {
    const moved = await trx
      .updateTable('reports')
      .set({ next_due: next })
      .where((row) => row.and({ id, revision, next_due: nextDue }))
      .where('paused', 'is', null)
      .where('deleted_at', 'is', null)
      .executeTakeFirst();
    // Another process or a change came first.
    if (moved.numUpdatedRows !== 1n) return;
    const key = { report_id: id, due };
    const at = startOf(digest, due);
    await insertRuns(trx, [
      ...missed.slice(-mostSkipped).map((at) => ({ report_id: id, due: at, state: 'skipped' })),
      { ...key, run_at: at, missed: missed.length },
    ]);
    await enqueueRun(ports.enqueue, key, { in: trx, at });
  });
  if (missed.length > 0) log.warn({ digest: id, missed: missed.length }, 'digest runs were missed');
}

/** Reads, judges, and has written and told what follows. */
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
    if (refused) return await pause(alert, refused, context);
    observation = await findCondition(alert.subject.condition).evaluate({
      account: await open(alert),
      subject: alert.subject,
      now: at,
      lookedAt: alert.checkedAt,
      memory: alert.state.memory,
    });
    // The bot stops: what could not be read because of that is no finding.
    signal.throwIfAborted();
  } catch (error) {
    if (signal.aborted) throw error;
    const found = classifyCdnFailure(error);
    if (typeof found === 'string') return pause(alert, found, context);
    log.warn({ alert: alert.id, error }, 'alert cannot check');
    const { message, reference } =
      error instanceof BudgetSpent
        ? { message: describeBudgetSpent(error.resetsAt), reference: undefined }
        : ports.explain(error, 'alert');
    const failure = { message: message.slice(0, 500), reference };
    return writeUnreadable(alert, { at, failure }, context);
  }
  await writeObservation(alert, { at, observation }, context);
}

/** Due within its hours, while no process ran. One that is asked for at another hour is due at that hour. */
function isTooLate({ nextDue, subject: { hours, timeZone } }: Alert, at: Date): boolean {
  if (!hours || !nextDue || isWithin(hours, timeZone, at)) return false;
  return isWithin(hours, timeZone, nextDue);
}

async function pause(
  { id, revision }: Alert,
  reason: PauseReason,
  { db, ports, now, log }: ReportContext,
): Promise<void> {
  await db.transaction().execute(async (trx) => {
    // One that was taken over or changed since is not the one that failed.
    const paused = await pauseReports(trx, { id, revision }, { reason, at: now() }, ports);
    if (paused.length === 0) return;
    await editOpenIncidents(trx, id, ports.outbox);
    log.warn({ alert: id, reason }, 'alert paused');
  });
}
