import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { decideExport } from '../auth/policy/authorizer.ts';
import { UserError } from '../errors.ts';
import { SlackFailure } from '../outbox/slack-port.ts';
import { defineJob, type Job } from '../store/queue/define-job.ts';
import { renderRefusal } from '../views/blocks/refusal.ts';
import { renderWaiting } from '../views/exports/exports.ts';
import { createAttachments } from './attachments.ts';
import { classifyFailure, ExportOverdue } from './failures.ts';
import { finishAsUnknown, finishExport } from './finish.ts';
import { attemptSeconds, type Heartbeat, leaseMs, startHeartbeat } from './heartbeat.ts';
import type { ExportSummary } from './model.ts';
import { type ExportOutcome, stateOfOutcome, toStoredFailure } from './outcome.ts';
import type { ExportContext, ExportPorts } from './ports.ts';
import { type ExportRow, findExport } from './queries/exports.ts';
import { claimExport, type ExportMove, moveExport } from './queries/transitions.ts';
import { firstMessageOf, installationOf, requesterOf, toExportSummary } from './rows.ts';
import { SecretFound } from './worker/gather.ts';
import type { ExportThread } from './worker/thread.ts';

const data = z.object({ id: z.string() });
export type ExportData = z.input<typeof data>;

// Counted by attempts that failed or died: what takes the process down with it must not do so for ever.
const mostAttempts = 5;

/** Makes an export. One export has one row, whatever the number of jobs and attempts. */
export const runExportJob: Job<ExportData, ExportPorts> = defineJob({
  name: 'export',
  data,
  // It is tried again by its row; this is for processes that die.
  retries: 3,
  timeLimitSeconds: attemptSeconds,
  async run({ id }, context: ExportContext) {
    const { db, now, ports } = context;
    const run = randomUUID();
    // One moment for all of it: what is not to be had yet must be looked at again, or nobody would.
    const at = now();
    const leaseUntil = new Date(at.getTime() + leaseMs);
    const row = await claimExport(db, { id, run, now: at, leaseUntil });
    if (row) return attempt({ row, run, context });
    const current = await findExport(db, id);
    if (current?.state === 'sharing' && (await finishAsUnknown(context, id))) return;
    // Somebody works on it, and should they die, this looks after it; or its pause is not over by this clock.
    if (current?.lease_until && current.lease_until >= at)
      await ports.enqueue(runExportJob, { id }, { at: new Date(current.lease_until.getTime() + 1_000) });
  },
});

interface Attempt {
  readonly row: ExportRow;
  readonly run: string;
  readonly context: ExportContext;
}

async function attempt(about: Attempt): Promise<void> {
  const { row, run, context } = about;
  const { db, ports, log, now } = context;
  const one = toExportSummary(row);
  const at = firstMessageOf(row);
  if (!at) throw new Error('an export runs without a message');
  // The attempt that was told to end has died before it did.
  if (row.cancelled_by !== null) return end(about, { kind: 'cancelled', by: row.cancelled_by }, ['running']);
  // It starts while the permission is checked.
  const thread = ports.exportThread();
  const quiet = ports.slack(installationOf(row), context.signal);
  const watch = startHeartbeat({
    one,
    run,
    attempt: row.attempt,
    at,
    slack: quiet,
    progress: thread.progress,
    context,
  });
  let isSharing = false;
  try {
    if (row.attempt > mostAttempts) {
      throw new UserError(
        `This export was begun ${mostAttempts} times and never came to its end.`,
        'Narrow the window, or tell whoever runs this bot the reference below.',
      );
    }
    await admitted(row, context);
    const gathered = await thread.gather(await ports.cdnKey(requesterOf(row)), one.request, watch.signal);
    const sharing = (): void => {
      isSharing = true;
    };
    const sent = await send(about, one, gathered, watch, sharing);
    await watch.stop();
    const { stats, files, sha256 } = gathered;
    const done: ExportOutcome = { kind: 'done', files: stats.empty ? 0 : files.length };
    const { rows, bytes } = stats;
    await end(about, done, ['running', 'sharing'], { rows, bytes, files: sent }, sha256);
  } catch (error) {
    await watch.stop();
    const from = isSharing ? 'sharing' : 'running';
    const { rows, bytes } = thread.progress();
    const far = { rows, bytes };
    if (isSharing && !(error instanceof SlackFailure && error.outcome === 'refused')) {
      log.error({ error, id: one.id }, 'nobody knows whether an export was posted');
      return end(about, { kind: 'unknown' }, ['sharing'], far);
    }
    if (watch.ending() === 'lost') return;
    const endCancelled = async (): Promise<void> =>
      end(about, { kind: 'cancelled', by: await cancelledBy(about, watch) }, [from], far);
    if (watch.ending() === 'cancelled' || error instanceof Withdrawn) return endCancelled();
    if (context.signal.aborted) {
      // Given back: this process stops.
      if (await moveExport(db, { id: one.id, run }, [from], 'waiting', { uncounted: true }))
        await tellPause(about, one, 'The bot restarts; this goes on by itself.');
      else await endCancelled();
      throw error;
    }
    const reason =
      watch.ending() === 'overdue'
        ? new ExportOverdue()
        : error instanceof SecretFound
          ? ports.blockFile(error.kinds)
          : error;
    const verdict = classifyFailure(reason, one.request, row.attempt, now());
    if ('retryAfterMs' in verdict) {
      log.warn({ error, id: one.id, attempt: row.attempt }, 'an export is tried again');
      const due = new Date(now().getTime() + verdict.retryAfterMs);
      const moved = await db.transaction().execute(async (trx) => {
        if (!(await moveExport(trx, { id: one.id, run }, [from], 'waiting', { leaseUntil: due })))
          return false;
        await ports.enqueue(runExportJob, { id: one.id }, { in: trx, at: due });
        return true;
      });
      const why = `${verdict.why} Trying again in ${Math.round(verdict.retryAfterMs / 1000)} s.`;
      if (moved) await tellPause(about, one, why);
      else await endCancelled();
      return;
    }
    const failure = toStoredFailure(ports.explain(verdict.tell, 'event-logs'));
    await end(about, { kind: 'failed', failure, offers: verdict.offers }, [from], far);
  } finally {
    await thread.close();
  }
}

/** Ends what this attempt works on. Nothing happens where it is another attempt's by now. */
async function end(
  { row: { id }, run, context }: Attempt,
  ending: ExportOutcome,
  from: readonly ('running' | 'sharing')[],
  move: Pick<ExportMove, 'rows' | 'bytes' | 'files'> = {},
  sha256?: string,
): Promise<void> {
  const about = { id, ending, ...(sha256 === undefined ? {} : { sha256 }) };
  await finishExport(context, about, (trx, end) =>
    moveExport(trx, { id, run }, from, stateOfOutcome[ending.kind], { ...move, end }),
  );
}

/** Best effort: the next attempt says where it is by itself. */
async function tellPause({ row, context }: Attempt, one: ExportSummary, why: string): Promise<void> {
  const at = firstMessageOf(row);
  const slack = context.ports.slack(installationOf(row), context.signal);
  await (at && slack.update(at, renderWaiting(one, why)))?.catch((error: unknown) =>
    context.log.warn({ error, id: row.id }, 'the pause of an export could not be told'),
  );
}

/** The export was cancelled, or taken over, at the last moment. */
class Withdrawn extends Error {
  override readonly name = 'Withdrawn';
}

/** What was decided when it was asked for is decided again: settings, groups and keys change. */
async function admitted(row: ExportRow, { ports }: ExportContext): Promise<void> {
  const person = requesterOf(row);
  const decision = await decideExport(ports.authorizer(person), row.channel ?? undefined);
  if (decision.allowed) return;
  const { message, hint } = renderRefusal(decision, ports.people(installationOf(row)).missingScopes());
  throw new UserError(`<@${row.user_id}>: ${message}`, hint);
}

/** Returns the ids of the files in Slack; none for an empty log. */
async function send(
  { row, run, context }: Attempt,
  one: ExportSummary,
  gathered: Awaited<ReturnType<ExportThread['gather']>>,
  watch: Heartbeat,
  sharing: () => void,
): Promise<readonly string[]> {
  const { db, ports, now } = context;
  const { rows, bytes, empty } = gathered.stats;
  if (empty) return [];
  const attachments = createAttachments(one, gathered);
  watch.now('sending', attachments.bytes);
  const slack = ports.slack(installationOf(row), watch.signal);
  const { fileIds } = await slack.share(attachments.files, {
    channel: firstMessageOf(row)?.channel ?? row.user_id,
    comment: attachments.comment,
    async beforeShare(ids) {
      await admitted(row, context);
      watch.now('sharing');
      const leaseUntil = new Date(now().getTime() + leaseMs);
      const move = { files: ids, rows, bytes, leaseUntil };
      if (!(await moveExport(db, { id: one.id, run }, ['running'], 'sharing', move))) throw new Withdrawn();
      sharing();
    },
  });
  return fileIds;
}

async function cancelledBy({ row, context }: Attempt, watch: Heartbeat): Promise<string> {
  if (watch.ending() === 'cancelled') return watch.by();
  return (await findExport(context.db, row.id))?.cancelled_by ?? 'system';
}
