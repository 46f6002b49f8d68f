import { createErrorBudget, type ErrorBudget } from '../api/http/retry.ts';
import { decideDestination } from '../auth/policy/policy.ts';
import { minuteMs } from '../lib/time.ts';
import * as views from '../views/digests/notices.ts';
import { classifyCdnFailure, pauseFor } from './classify-failure.ts';
import type { Digest } from './model.ts';
import { toOutboundMessages, writeOutboundMessages } from './outbound-messages.ts';
import { pauseDigest } from './pause.ts';
import { classifyLateness } from './plan.ts';
import type { DigestContext } from './ports.ts';
import { baselineAfterSilence, prepareDigest, readBaseline, readPastRun, writeFigures } from './prepare.ts';
import { acceptBaseline, findBaseline, storePendingBaseline } from './queries/baselines.ts';
import { countFailure, findDigestById, resetFailures } from './queries/digests.ts';
import { type ClaimedRun, findPastRuns, moveRun } from './queries/runs.ts';
import { readDigest } from './row.ts';

/** As many requests of one run may bring nothing: of all its parts and attempts together. */
const mostFailedRequests = 4;
/** As many failed runs one after the other, and the digest stops. */
const mostFailures = 3;
/** As many earlier runs as a run is compared with. */
const mostHistory = 60;
/** Longer, and an attempt has failed. Another process takes a run over after `collectingLostMs`. */
const collectingMs = 3 * minuteMs;

/** Makes what a run will say, or finds that it says nothing. What it says is stored before any of it is sent. */
export async function collectRun(run: ClaimedRun, context: DigestContext): Promise<void> {
  const { db, now } = context;
  const row = await findDigestById(db, run.digest_id);
  const digest = row && readDigest(row);
  if (!digest || digest.deletedAt || (digest.paused && run.by_hand === null)) {
    await moveRun(db, run, 'collecting', 'cancelled');
    return;
  }
  const late = classifyLateness(run.by_hand === null ? digest.schedule : undefined, run.due, now());
  if (late === 'too old') {
    const said = views.renderSkipped({ digest, due: run.due, missed: run.missed });
    await ready(run, context, 'skipped', writeOutboundMessages([{ message: said }]));
    return;
  }
  // An attempt counts as one although its process may have died in it.
  const before = run.attempts - 1;
  const allowance = createErrorBudget(Math.max(1, mostFailedRequests - before));
  try {
    const refused = await refusal(digest, context);
    if (refused) return await pauseDigest(digest, refused, run, context);
    await collectInTime({ digest, run, isLate: late === 'late', allowance }, context);
  } catch (error) {
    await failed(error, { digest, run, failures: before + Math.max(1, allowance.spent()) }, context);
  }
}

interface Attempt {
  readonly digest: Digest;
  readonly run: ClaimedRun;
  readonly isLate: boolean;
  readonly allowance: ErrorBudget;
}

async function collectInTime(
  { digest, run, isLate, allowance }: Attempt,
  context: DigestContext,
): Promise<void> {
  const { db, ports, now } = context;
  const signal = AbortSignal.any([context.signal, AbortSignal.timeout(collectingMs)]);
  const cdn = await ports.cdn(digest.owner, signal, { allowance });
  const history = (await findPastRuns(db, digest.id, run.due, mostHistory)).flatMap(
    (past) => readPastRun(past) ?? [],
  );
  const known = await findBaseline(db, digest.id);
  const before = readBaseline(known?.body);
  const { collected, baseline, top, thread, quiet } = await prepareDigest(digest.subject, {
    cdn,
    now: now(),
    history,
    baseline: before,
    signal,
    explain: (error) => ports.explain(error, 'digest'),
  });
  await resetFailures(db, digest.id);
  const figures = writeFigures(collected);
  // Somebody who presses "Run now" wants to see it.
  const silent = quiet && run.by_hand === null && run.missed === 0;
  const base = known?.revision ?? 0;
  if (silent) {
    await db.transaction().execute(async (trx) => {
      if (!(await moveRun(trx, run, 'collecting', 'quiet', { figures }))) return;
      await storePendingBaseline(trx, run, base, JSON.stringify(baselineAfterSilence(before, baseline)));
      await acceptBaseline(trx, run);
    });
    return;
  }
  const framed = views.renderPost(top, {
    digest,
    due: run.due,
    late: isLate ? now() : undefined,
    missed: run.missed,
    byHand: run.by_hand ?? undefined,
    next: digest.nextDue,
  });
  const parts = writeOutboundMessages(toOutboundMessages(framed, thread));
  await db.transaction().execute(async (trx) => {
    if (!(await ready(run, { ...context, db: trx }, 'digest', parts, figures))) return;
    await storePendingBaseline(trx, run, base, JSON.stringify(baseline));
  });
}

async function ready(
  run: ClaimedRun,
  { db, now }: Pick<DigestContext, 'db' | 'now'>,
  outcome: string,
  parts: string,
  figures?: string,
): Promise<boolean> {
  const said = { outcome, parts, parts_sent: 0, run_at: now(), ...(figures ? { figures } : {}) };
  return moveRun(db, run, 'collecting', 'ready', said);
}

/** Decided again at each run: what was allowed when it was ordered may not be any more. */
async function refusal(digest: Digest, { ports }: DigestContext) {
  const authorizer = ports.authorizer(digest.owner);
  const { channel } = digest;
  const decision = await authorizer.decide({ needs: 'read', name: 'digest' }, channel, { fresh: true });
  if (!decision.allowed) return pauseFor(decision.reason);
  const destination = decideDestination(await authorizer.policy({ fresh: true }), 'digest', channel);
  return destination.allowed ? undefined : pauseFor(destination.reason);
}

interface Failed {
  readonly digest: Digest;
  readonly run: ClaimedRun;
  /** Requests that brought nothing, of all attempts of this run. */
  readonly failures: number;
}

async function failed(
  error: unknown,
  { digest, run, failures }: Failed,
  context: DigestContext,
): Promise<void> {
  const { db, now, log, ports, signal } = context;
  // The bot stops: another process, or this one later, begins again.
  if (signal.aborted) {
    await moveRun(db, run, 'collecting', 'due', { run_at: now() });
    return;
  }
  const trouble = classifyCdnFailure(error, failures, mostFailedRequests);
  if (trouble.kind === 'halt') return pauseDigest(digest, trouble.reason, run, context);
  if (trouble.kind === 'later') {
    log.warn({ digest: digest.id, failures, error }, 'a digest tries the CDN again later');
    const at = new Date(now().getTime() + trouble.afterMs);
    await moveRun(db, run, 'collecting', 'due', { run_at: at, attempts: failures });
    return;
  }
  const explained = ports.explain(error, 'digest');
  if (run.by_hand === null && (await countFailure(db, digest.id)) >= mostFailures) {
    return pauseDigest(digest, 'failing', run, context);
  }
  const said = views.renderRunFailed({ digest, due: run.due, failure: explained });
  await ready(run, context, 'failed', writeOutboundMessages([{ message: said }]));
}
