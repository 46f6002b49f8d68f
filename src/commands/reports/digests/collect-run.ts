import { createErrorBudget, type ErrorBudget } from '../../../api/http/retry.ts';
import { hourMs, minuteMs } from '../../../lib/time.ts';
import type { Message } from '../../../views/blocks/blocks.ts';
import { renderPost, renderRunFailed, renderSkipped } from '../../../views/reports/digests/notices.ts';
import { BudgetSpent } from '../accounts/budget.ts';
import { classifyCdnFailure, findRefusal } from '../failures.ts';
import type { Digest, PauseReason, ReportContext } from '../model.ts';
import { pauseReports } from '../pauses.ts';
import { enqueueRun } from '../queue.ts';
import { findNextRun, type Schedule } from '../schedule.ts';
import { countFailure, findDigest } from '../table.ts';
import { putPost } from './messages.ts';
import { baselineAfterSilence, prepareDigest, writeFigures } from './prepare.ts';
import {
  acceptBaseline,
  beginAttempt,
  loadPast,
  moveRun,
  type RunKey,
  type RunRow,
  storePendingBaseline,
} from './runs.ts';

/** Failed requests of one run, of all its parts and attempts together, after which it fails. */
const mostFailedRequests = 4;
/** Consecutive failed runs after which a digest is paused. */
const mostFailures = 3;
/** An attempt that takes longer has failed. */
const collectingMs = 3 * minuteMs;
/** The pause between two attempts at a CDN that is down doubles from the first to the longest that it may ask for. */
const firstPauseMs = 20_000;
const longestPauseMs = 10 * minuteMs;

/** A run that starts later than this is marked late. */
const lateMs = 10 * minuteMs;
/** A run that starts later than this, or than half the way to the next one, is skipped: it would be about another day. */
const tooOldMs = 6 * hourMs;

type Attempt = ReportContext & { readonly digest: Digest; readonly run: RunRow };

/** Collects a run and puts its post into the outbox, or finds that it stays silent. */
export async function collectRun(key: RunKey, context: ReportContext): Promise<void> {
  const { db, now } = context;
  const run = await beginAttempt(db, key);
  if (!run) return;
  const digest = await findDigest(db, run.report_id);
  if (!digest || digest.deletedAt || (digest.paused && run.by_hand === null)) {
    await moveRun(db, run, 'collecting', 'cancelled');
    return;
  }
  const attempt = { ...context, digest, run };
  const lateness = classifyLateness(run.by_hand === null ? digest.schedule : undefined, run.due, now());
  if (lateness === 'too old')
    return postInstead(attempt, 'skipped', renderSkipped(digest, run.due, run.missed));
  // An attempt counts as a failed request although its process may have died in it.
  const before = run.attempts - 1;
  const budget = createErrorBudget(Math.max(1, mostFailedRequests - before));
  try {
    const refused = await findRefusal(digest, attempt.ports, context.signal);
    if (refused) return await pauseRun(attempt, refused);
    await collectInTime(attempt, budget, lateness === 'late');
  } catch (error) {
    // The bot stops: the job runs again.
    if (context.signal.aborted) throw error;
    await handleFailure(attempt, error, before + Math.max(1, budget.spent()));
  }
}

async function collectInTime(attempt: Attempt, budget: ErrorBudget, isLate: boolean): Promise<void> {
  const { digest, run, db, ports, now } = attempt;
  const signal = AbortSignal.any([attempt.signal, AbortSignal.timeout(collectingMs)]);
  const cdn = await ports.accounts.open(digest.owner, signal, budget, run.by_hand !== null);
  const { revision, ...past } = await loadPast(db, digest.id, run.due);
  const explain = (error: unknown) => ports.explain(error, 'digest');
  const prepared = await prepareDigest(digest.subject, { cdn, now: now(), explain, ...past });
  const { collected, baseline, thread, quiet } = prepared;
  const failed = db.updateTable('reports').where('id', '=', digest.id).where('failures', '>', 0);
  await failed.set({ failures: 0 }).execute();
  const figures = writeFigures(collected);
  // A person who presses "Run now" wants to see it.
  const isSilent = quiet && run.by_hand === null && run.missed === 0;
  const remembered = isSilent ? baselineAfterSilence(past.baseline, baseline) : baseline;
  const top = renderPost(prepared, digest, run, isLate ? now() : undefined);
  await db.transaction().execute(async (trx) => {
    if (!(await moveRun(trx, run, 'collecting', isSilent ? 'quiet' : 'sending', { figures }))) return;
    await storePendingBaseline(trx, run, revision, JSON.stringify(remembered));
    if (isSilent) return void (await acceptBaseline(trx, run));
    await putPost(trx, { digest, run, arrives: 'sent', top, thread, now: now() }, ports);
  });
}

/** `failures`: failed requests of all attempts of this run, at least 1. */
async function handleFailure(attempt: Attempt, error: unknown, failures: number): Promise<void> {
  const { digest, run, db, now, log, ports } = attempt;
  const found = classifyCdnFailure(error);
  if (typeof found === 'string') return pauseRun(attempt, found);
  const pauseMs = found && findPause(found.retryAfterMs, failures);
  const at = error instanceof BudgetSpent ? error.resetsAt : pauseMs && new Date(now().getTime() + pauseMs);
  if (at && failures < mostFailedRequests) {
    log.warn({ digest: digest.id, failures, error }, 'digest run is retried later');
    return db.transaction().execute(async (trx) => {
      if (await moveRun(trx, run, 'collecting', 'due', { run_at: at, attempts: failures }))
        await enqueueRun(ports.enqueue, run, { in: trx, at });
    });
  }
  const failure = ports.explain(error, 'digest');
  if (run.by_hand === null && (await countFailure(db, digest.id)) >= mostFailures)
    return pauseRun(attempt, 'failing');
  await postInstead(attempt, 'failed', renderRunFailed(digest, run.due, failure));
}

/** The pause before the next attempt: at least what the CDN asks for, and doubled with each failure. */
function findPause(askedMs: number, failures: number): number {
  return Math.min(longestPauseMs, Math.max(askedMs, firstPauseMs * 2 ** (failures - 1)));
}

/** Posts why there is no report. */
async function postInstead(
  { digest, run, db, now, ports }: Attempt,
  arrives: 'skipped' | 'failed',
  top: Message,
): Promise<void> {
  await db.transaction().execute(async (trx) => {
    if (await moveRun(trx, run, 'collecting', 'sending'))
      await putPost(trx, { digest, run, arrives, top, now: now() }, ports);
  });
}

async function pauseRun({ digest, run, db, now, log, ports }: Attempt, reason: PauseReason): Promise<void> {
  const { id } = digest;
  await db.transaction().execute(async (trx) => {
    if (await moveRun(trx, run, 'collecting', 'failed'))
      await pauseReports(trx, { id }, { reason, at: now() }, ports);
  });
  log.warn({ digest: id, reason }, 'digest paused');
}

/** Without a schedule a person asked for the run. */
function classifyLateness(
  schedule: Schedule | undefined,
  due: Date,
  now: Date,
): 'in time' | 'late' | 'too old' {
  const behind = now.getTime() - due.getTime();
  if (behind <= lateMs) return 'in time';
  const period = schedule ? findNextRun(schedule, due).getTime() - due.getTime() : Number.POSITIVE_INFINITY;
  return behind > Math.min(tooOldMs, period / 2) ? 'too old' : 'late';
}
