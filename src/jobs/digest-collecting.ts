import { type Allowance, createAllowance } from '../api/allowance.ts';
import { decideDestination } from '../auth/policy.ts';
import { acceptBook, findBook, proposeBook } from '../store/digest-books.ts';
import { type HeldRun, moveRun, pastRuns } from '../store/digest-runs.ts';
import { countFailure, findDigestById, forgetFailures } from '../store/digests.ts';
import * as views from '../views/digest-notices.ts';
import type { Digest } from '../views/digest-words.ts';
import type { JobContext } from './define.ts';
import { digestOf } from './digest.ts';
import { afterSilence, bookOf, pastRun, prepare, storedFigures } from './digest-content.ts';
import { halt } from './digest-halt.ts';
import { partsOf, storedParts } from './digest-parts.ts';
import { lateness } from './digest-plan.ts';
import { haltOf, troubleAsking } from './digest-trouble.ts';

/** As many requests of one run may bring nothing: of all its parts and attempts together. */
const mostFailedRequests = 4;
/** As many failed runs one after the other, and the digest stops. */
const mostFailures = 3;
/** As many earlier runs as a run is compared with. */
const mostHistory = 60;
/** Longer, and an attempt has failed. Another process takes a run over after `collectingLostMs`. */
const collectingMs = 3 * 60_000;

/** Makes what a run will say, or finds that it says nothing. What it says is stored before any of it is sent. */
export async function collectRun(run: HeldRun, context: JobContext): Promise<void> {
  const { db, now } = context;
  const row = await findDigestById(db, run.digest_id);
  const digest = row && digestOf(row);
  if (!digest || digest.deletedAt || (digest.paused && run.by_hand === null)) {
    await moveRun(db, run, 'collecting', 'cancelled');
    return;
  }
  const late = lateness(run.by_hand === null ? digest.schedule : undefined, run.due, now());
  if (late === 'too old') {
    const said = views.skipped({ digest, due: run.due, missed: run.missed });
    await ready(run, context, 'skipped', storedParts([{ message: said }]));
    return;
  }
  // An attempt counts as one although its process may have died in it.
  const before = run.attempts - 1;
  const allowance = createAllowance(Math.max(1, mostFailedRequests - before));
  try {
    const refused = await refusal(digest, context);
    if (refused) return await halt(digest, refused, run, context);
    await collectInTime({ digest, run, isLate: late === 'late', allowance }, context);
  } catch (error) {
    await failed(error, { digest, run, failures: before + Math.max(1, allowance.spent()) }, context);
  }
}

interface Attempt {
  readonly digest: Digest;
  readonly run: HeldRun;
  readonly isLate: boolean;
  readonly allowance: Allowance;
}

async function collectInTime(
  { digest, run, isLate, allowance }: Attempt,
  context: JobContext,
): Promise<void> {
  const { db, ports, now } = context;
  const signal = AbortSignal.any([context.signal, AbortSignal.timeout(collectingMs)]);
  const cdn = await ports.cdn(digest.owner, signal, { allowance });
  const history = (await pastRuns(db, digest.id, run.due, mostHistory)).flatMap(
    (past) => pastRun(past) ?? [],
  );
  const known = await findBook(db, digest.id);
  const before = bookOf(known?.body);
  const { collected, book, top, thread, quiet } = await prepare(digest.subject, {
    cdn,
    now: now(),
    history,
    book: before,
    signal,
    explain: (error) => ports.explain(error, 'digest'),
  });
  await forgetFailures(db, digest.id);
  const figures = storedFigures(collected);
  // Somebody who presses "Run now" wants to see it.
  const silent = quiet && run.by_hand === null && run.missed === 0;
  const base = known?.revision ?? 0;
  if (silent) {
    await db.transaction().execute(async (trx) => {
      if (!(await moveRun(trx, run, 'collecting', 'quiet', { figures }))) return;
      await proposeBook(trx, run, base, JSON.stringify(afterSilence(before, book)));
      await acceptBook(trx, run);
    });
    return;
  }
  const framed = views.framed(top, {
    digest,
    due: run.due,
    late: isLate ? now() : undefined,
    missed: run.missed,
    byHand: run.by_hand ?? undefined,
    next: digest.nextDue,
  });
  const parts = storedParts(partsOf(framed, thread));
  await db.transaction().execute(async (trx) => {
    if (!(await ready(run, { ...context, db: trx }, 'digest', parts, figures))) return;
    await proposeBook(trx, run, base, JSON.stringify(book));
  });
}

async function ready(
  run: HeldRun,
  { db, now }: Pick<JobContext, 'db' | 'now'>,
  outcome: string,
  parts: string,
  figures?: string,
): Promise<boolean> {
  const said = { outcome, parts, parts_sent: 0, run_at: now(), ...(figures ? { figures } : {}) };
  return moveRun(db, run, 'collecting', 'ready', said);
}

/** Decided again at each run: what was allowed when it was ordered may not be any more. */
async function refusal(digest: Digest, { ports }: JobContext) {
  const standing = ports.standing(digest.owner);
  const { channel } = digest;
  const decision = await standing.decide({ needs: 'read', name: 'digest' }, channel, { fresh: true });
  if (!decision.allowed) return haltOf(decision.reason);
  const destination = decideDestination(await standing.policy({ fresh: true }), 'digest', channel);
  return destination.allowed ? undefined : haltOf(destination.reason);
}

interface Failed {
  readonly digest: Digest;
  readonly run: HeldRun;
  /** Requests that brought nothing, of all attempts of this run. */
  readonly failures: number;
}

async function failed(error: unknown, { digest, run, failures }: Failed, context: JobContext): Promise<void> {
  const { db, now, log, ports, signal } = context;
  // The bot stops: another process, or this one later, begins again.
  if (signal.aborted) {
    await moveRun(db, run, 'collecting', 'due', { run_at: now() });
    return;
  }
  const trouble = troubleAsking(error, failures, mostFailedRequests);
  if (trouble.kind === 'halt') return halt(digest, trouble.reason, run, context);
  if (trouble.kind === 'later') {
    log.warn({ digest: digest.id, failures, error }, 'a digest tries the CDN again later');
    const at = new Date(now().getTime() + trouble.afterMs);
    await moveRun(db, run, 'collecting', 'due', { run_at: at, attempts: failures });
    return;
  }
  const explained = ports.explain(error, 'digest');
  if (run.by_hand === null && (await countFailure(db, digest.id)) >= mostFailures) {
    return halt(digest, 'failing', run, context);
  }
  const said = views.runFailed({ digest, due: run.due, failure: explained });
  await ready(run, context, 'failed', storedParts([{ message: said }]));
}
