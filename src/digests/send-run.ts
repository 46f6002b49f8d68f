import { minuteMs } from '../lib/time.ts';
import { blockBucket } from '../outbox/rate-limit.ts';
import { type Marker, type Posted, SlackFailure } from '../outbox/slack-port.ts';
import * as views from '../views/digests/notices.ts';
import { classifySlackFailure } from './classify-failure.ts';
import type { Digest } from './model.ts';
import { notifyUnknownJob } from './notify-owner.ts';
import { type OutboundMessage, readOutboundMessages, writeOutboundMessages } from './outbound-messages.ts';
import { postMethod } from './pace.ts';
import { pauseDigest } from './pause.ts';
import type { DigestContext } from './ports.ts';
import { readPastRun } from './prepare.ts';
import { acceptBaseline } from './queries/baselines.ts';
import { findDigestById } from './queries/digests.ts';
import { type ClaimedRun, moveRun } from './queries/runs.ts';
import { readDigest } from './row.ts';

/** A run that was claimed longer ago than this is not posted by this process any more: another one may look for it. */
const freshMs = 5_000;
/** What was collected longer ago than this is collected again. */
const staleMs = 10 * minuteMs;
/** After a call without an answer: Slack may still be at it. */
const settleMs = 15_000;
/** As often as one message is sent again because it certainly had not arrived. */
const mostReturns = 12;
/** As often as Slack is asked when it does not say whether it had. */
const mostLookups = 4;

/**
 * Sends the next message of a run that this process has just claimed. `claimed` is when, by the clock that never jumps:
 * a process that slept since must not post, since another one may have taken the run for lost.
 */
export async function sendNextMessage(
  run: ClaimedRun,
  claimed: number,
  context: DigestContext,
): Promise<void> {
  const { db, now, ports, signal } = context;
  const digest = await digestFor(run, context);
  const parts = readOutboundMessages(run.parts);
  const part = parts[run.parts_sent];
  if (!digest || !part) {
    await moveRun(db, run, 'sending', digest ? endOf(run) : 'cancelled', { parts: null });
    return;
  }
  if (run.parts_sent === 0 && run.outcome === 'digest' && isStale(run, now())) {
    await moveRun(db, run, 'sending', 'due', { run_at: now(), parts: null });
    return;
  }
  if (performance.now() - claimed > freshMs) {
    await moveRun(db, run, 'sending', 'ready');
    return;
  }
  const slack = ports.slack(digest.owner, signal);
  try {
    const posted = await sent(part);
    await arrived(run, parts, posted, context);
  } catch (error) {
    await notSent(error, digest, run, context);
  }

  async function sent(wanted: OutboundMessage): Promise<Posted | undefined> {
    const thread = run.ts ?? undefined;
    if (wanted.message) {
      return slack.post(run.sent_to ?? digest?.channel ?? '', wanted.message, {
        marker: markerOf(run),
        thread,
      });
    }
    await slack.share(wanted.files, { channel: run.sent_to ?? '', thread });
    return undefined;
  }
}

/** By what it found, since `run_at` moves on while Slack is asked where a message is. */
function isStale(run: ClaimedRun, now: Date): boolean {
  const at = readPastRun(run)?.figures.at;
  return at === undefined || now.getTime() - Date.parse(at) > staleMs;
}

/** Looks for a message whose process died, or whose answer got lost, before anything is sent again. */
export async function lookUpMessage(run: ClaimedRun, context: DigestContext): Promise<void> {
  const { db, now, ports, signal } = context;
  const digest = await digestFor(run, context);
  if (!digest) {
    await moveRun(db, run, 'sending', 'cancelled', { parts: null });
    return;
  }
  const parts = readOutboundMessages(run.parts);
  // Files carry no marker. The text is there already; a chart twice is worse than none.
  if (parts[run.parts_sent]?.files) return arrived(run, parts, undefined, context);
  if (run.lookups >= mostReturns) return unknown(run, 'too_often', context);
  try {
    const found = await ports.slack(digest.owner, signal).find(markerOf(run), {
      channel: run.sent_to ?? digest.channel,
      since: run.claimed_at ?? now(),
      thread: run.ts ?? undefined,
    });
    if (found) return await arrived(run, parts, found, context);
    // Counted, so that a Slack which never says what it did is not asked for ever.
    await moveRun(db, run, 'sending', 'ready', { run_at: now(), lookups: run.lookups + 1 });
  } catch (error) {
    if (signal.aborted) return;
    const trouble = classifySlackFailure(error);
    if (trouble.kind === 'halt') return pauseDigest(digest, trouble.reason, run, context);
    const again = trouble.kind === 'later' || (error instanceof SlackFailure && error.outcome === 'unknown');
    if (again && run.lookups + 1 < mostLookups) {
      const afterMs = trouble.kind === 'later' ? trouble.afterMs : settleMs;
      const at = new Date(now().getTime() + afterMs);
      await moveRun(db, run, 'sending', 'sending', { run_at: at, lookups: run.lookups + 1 });
      return;
    }
    await unknown(run, error instanceof SlackFailure ? error.code : 'failed', context);
  }
}

async function arrived(
  run: ClaimedRun,
  parts: readonly OutboundMessage[],
  posted: Posted | undefined,
  { db, now }: DigestContext,
): Promise<void> {
  const first = run.parts_sent === 0 && posted ? { sent_to: posted.channel, ts: posted.ts } : {};
  const sent = run.parts_sent + 1;
  const more = sent < parts.length;
  await db.transaction().execute(async (trx) => {
    const moved = await moveRun(trx, run, 'sending', more ? 'ready' : endOf(run), {
      ...first,
      parts_sent: sent,
      lookups: 0,
      ...(more ? { run_at: now() } : { parts: null }),
    });
    // People were told: from now on that is what the next run compares with.
    if (moved && run.parts_sent === 0 && run.outcome === 'digest') await acceptBaseline(trx, run);
  });
}

async function notSent(
  error: unknown,
  digest: Digest,
  run: ClaimedRun,
  context: DigestContext,
): Promise<void> {
  const { db, now, log } = context;
  if (error instanceof SlackFailure && error.outcome === 'unknown') {
    log.warn({ digest: digest.id, due: run.due, code: error.code }, 'a digest may have been posted or not');
    await moveRun(db, run, 'sending', 'sending', { run_at: new Date(now().getTime() + settleMs) });
    return;
  }
  const trouble = classifySlackFailure(error);
  if (trouble.kind === 'later') {
    // Slack does not say whether the channel or the workspace is meant: nobody posts there for as long.
    await blockBucket(db, { tenant: digest.tenant, lane: postMethod }, now(), trouble.afterMs);
    await moveRun(db, run, 'sending', 'ready');
    return;
  }
  if (trouble.kind === 'halt') return pauseDigest(digest, trouble.reason, run, context);
  const explained = context.ports.explain(error, 'digest');
  // Detail that Slack does not take is left out with a word in its place; so is a digest, unless that is this very word.
  if (run.outcome === 'failed') {
    await moveRun(db, run, 'sending', 'failed', { parts: null, reason: 'refused' });
    return;
  }
  const said = views.renderRunFailed({ digest, due: run.due, failure: explained });
  const before = readOutboundMessages(run.parts).slice(0, run.parts_sent);
  await moveRun(db, run, 'sending', 'ready', {
    outcome: 'failed',
    parts: writeOutboundMessages([...before, { message: said }]),
    run_at: now(),
  });
}

async function unknown(run: ClaimedRun, reason: string, { db, ports, log }: DigestContext): Promise<void> {
  await db.transaction().execute(async (trx) => {
    if (!(await moveRun(trx, run, 'sending', 'unknown', { reason }))) return;
    const about = { digestId: run.digest_id, due: run.due.toISOString() };
    await ports.enqueue(notifyUnknownJob, about, { in: trx });
  });
  log.warn({ digest: run.digest_id, due: run.due, reason }, 'nobody knows whether a digest was posted');
}

function endOf({ outcome }: ClaimedRun): string {
  return outcome === 'skipped' || outcome === 'failed' ? outcome : 'sent';
}

function markerOf({ digest_id: digest, due, parts_sent: part }: ClaimedRun): Marker {
  return { type: 'digest_run', payload: { digest, due: due.toISOString(), part } };
}

/** The digest of a run, unless it was deleted. One that was paused meanwhile still says what was made. */
async function digestFor(run: ClaimedRun, { db }: DigestContext): Promise<Digest | undefined> {
  const row = await findDigestById(db, run.digest_id);
  return row && row.deleted_at === null ? readDigest(row) : undefined;
}
