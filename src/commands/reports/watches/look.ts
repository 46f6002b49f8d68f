import type { z } from 'zod';
import { createErrorBudget } from '../../../api/http/retry.ts';
import { runConcurrently } from '../../../lib/concurrency.ts';
import { minuteMs } from '../../../lib/time.ts';
import type { Db } from '../../../store/schema.ts';
import { describeBudgetSpent } from '../../../views/reports/watches/incident.ts';
import { BudgetSpent } from '../accounts/budget.ts';
import type { AccountReads } from '../accounts/reads.ts';
import { classifyCdnFailure, findRefusal } from '../failures.ts';
import type { Alert, PauseReason, ReportContext } from '../model.ts';
import { pauseReports } from '../pauses.ts';
import { isAlert, readReport } from '../table.ts';
import { commitBlindLook, commitLook, type Failed, skipLook } from './commit-look.ts';
import type { Observation } from './conditions/condition.ts';
import { findCondition } from './conditions/list.ts';
import { isWithin } from './hours.ts';
import { editOpenIncidents } from './messages.ts';
import { enqueueNextLook, type lookData } from './queue.ts';

/** The clocks of all processes have to agree to this. */
const clockSkewMs = 5_000;
/** A look that takes longer has failed. */
const lookMs = 2 * minuteMs;
/** Failed requests of all looks of one job, after which they fail. */
const mostFailedRequests = 6;
const looksAtOnce = 3;

/** Looks for all alerts of a person that are due, and plans the next look. */
export async function lookForPerson(
  { tenant, owner, isFresh }: z.output<typeof lookData>,
  context: ReportContext,
): Promise<void> {
  const { db, ports, now, signal } = context;
  const due = await findDueAlerts(db, { tenant, owner }, new Date(now().getTime() + clockSkewMs));
  const until = AbortSignal.any([signal, AbortSignal.timeout(lookMs)]);
  let account: Promise<AccountReads> | undefined;
  const open = ({ owner }: Alert) =>
    (account ??= ports.accounts.open(owner, until, createErrorBudget(mostFailedRequests), isFresh));
  const looks = due.map((alert) => () => lookOnce(alert, open, context));
  const failed = (await runConcurrently(looksAtOnce, looks)).find(({ status }) => status === 'rejected');
  // The bot stops, or the database fails: the job runs again.
  if (failed) throw (failed as PromiseRejectedResult).reason;
  // Even with nothing due: a process may have died between its looks and this.
  const person = { tenant, owner: { userId: owner } };
  await db.transaction().execute((trx) => enqueueNextLook(ports.enqueue, person, trx));
}

async function findDueAlerts(
  db: Db,
  { tenant, owner }: { tenant: string; owner: string },
  until: Date,
): Promise<Alert[]> {
  const rows = await db
    .selectFrom('reports')
    .selectAll()
    .where((is) => is.and({ tenant, owner, kind: 'alert' }))
    .where('paused', 'is', null)
    .where('deleted_at', 'is', null)
    .where('next_due', '<=', until)
    .orderBy('next_due')
    .execute();
  return rows.map(readReport).filter(isAlert);
}

async function lookOnce(
  alert: Alert,
  open: (alert: Alert) => Promise<AccountReads>,
  context: ReportContext,
): Promise<void> {
  const { ports, now, signal, log } = context;
  const at = now();
  if (isTooLate(alert, at)) return skipLook(alert, at, context);
  let observation: Observation<unknown>;
  try {
    const refused = await findRefusal(alert, ports);
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
    log.warn({ alert: alert.id, error }, 'alert cannot look');
    return commitBlindLook(alert, { at, failure: toFailed(error, context) }, context);
  }
  await commitLook(alert, { at, observation }, context);
}

/** Due within its hours, while no process ran. One that is asked for at another hour is due at that hour. */
function isTooLate({ nextDue, subject: { hours, timeZone } }: Alert, at: Date): boolean {
  if (!hours || !nextDue || isWithin(hours, timeZone, at)) return false;
  return isWithin(hours, timeZone, nextDue);
}

function toFailed(error: unknown, { ports }: ReportContext): Failed {
  if (error instanceof BudgetSpent) return { message: describeBudgetSpent(error.resetsAt) };
  const { message, reference } = ports.explain(error, 'alert');
  return { message: message.slice(0, 500), reference };
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
