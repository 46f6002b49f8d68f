import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { decideExport } from '../auth/policy/authorizer.ts';
import { UserError } from '../errors.ts';
import { type Posted, SlackFailure } from '../outbox/slack-port.ts';
import { defineJob, type Job } from '../store/queue/define-job.ts';
import { renderRefusal } from '../views/blocks/refusal.ts';
import { renderWaiting } from '../views/exports/exports.ts';
import { createAttachments } from './attachments.ts';
import { classifyFailure, ExportOverdue } from './failures.ts';
import { finishExport } from './finish.ts';
import type { ExportSummary } from './model.ts';
import { showOutcome } from './notify-outcome.ts';
import { type ExportOutcome, readOutcome, stateOfOutcome, toStoredFailure } from './outcome.ts';
import type { ExportContext, ExportPorts } from './ports.ts';
import { attemptSeconds, type ProgressReporter, startProgressReporter } from './progress.ts';
import {
  type ExportRow,
  findExport,
  firstMessageOf,
  installationOf,
  requesterOf,
  toExportSummary,
} from './queries/exports.ts';
import { claimExport, type ExportMove, moveExport, settleUnknown } from './queries/transitions.ts';
import { SecretFound } from './worker/gather.ts';
import type { ExportThread } from './worker/thread.ts';

const data = z.object({ id: z.string() });
export type ExportData = z.input<typeof data>;

// Attempts that failed or whose process died: an export that kills its process must not do so for ever.
const mostAttempts = 5;

/** Makes an export. Enqueue it with the export's id as key: the queue runs one attempt of an export at a time. */
export const runExportJob: Job<ExportData, ExportPorts> = defineJob({
  name: 'export',
  data,
  onePerKey: 'running',
  // For killed processes; the row counts attempts.
  retries: 10,
  timeLimitSeconds: attemptSeconds,
  async run({ id }, context: ExportContext) {
    const run = randomUUID();
    const row = await claimExport(context.db, { id, run });
    if (row) return attempt({ row, run, context });
    // The attempt before this one died while Slack was asked to show the files.
    await finishExport(context, { id, ending: { kind: 'unknown' } }, (trx, end) =>
      settleUnknown(trx, id, end),
    );
  },
});

interface Attempt {
  readonly row: ExportRow;
  /** Fencing token: a process that was frozen while another attempt began can change nothing. */
  readonly run: string;
  readonly context: ExportContext;
}

async function attempt(about: Attempt): Promise<void> {
  const { row, run, context } = about;
  const { ports, log } = context;
  const one = toExportSummary(row);
  const at = firstMessageOf(row);
  if (!at) throw new Error('an export runs without a message');
  // It starts while the permission is checked.
  const thread = ports.exportThread();
  const slack = ports.slack(installationOf(row), context.signal);
  const { progress } = thread;
  const reporter = startProgressReporter({ one, run, attempt: row.attempt, at, slack, progress, context });
  let isSharing = false;
  try {
    if (row.attempt > mostAttempts) {
      throw new UserError(
        `This export was started ${mostAttempts} times and never finished.`,
        'Narrow the window, or tell whoever runs this bot the reference below.',
      );
    }
    await authorize(row, context);
    const gathered = await thread.gather(await ports.cdnKey(requesterOf(row)), one.request, reporter.signal);
    const files = await send(about, gathered, reporter, () => {
      isSharing = true;
    });
    await reporter.stop();
    const { stats, sha256 } = gathered;
    const ending: ExportOutcome = { kind: 'done', files: stats.empty ? 0 : gathered.files.length };
    await finish(about, ending, { rows: stats.rows, bytes: stats.bytes, files }, sha256);
  } catch (error) {
    await reporter.stop();
    const { rows, bytes } = thread.progress();
    if (isSharing && !(error instanceof SlackFailure && error.outcome === 'refused')) {
      log.error({ error, id: one.id }, 'unknown whether export was posted');
      return finish(about, { kind: 'unknown' }, { rows, bytes });
    }
    await handleFailure(about, { error, at, one, reporter, done: { rows, bytes } });
  } finally {
    await thread.close();
  }
}

/** Nothing was posted: retries later, gives the export back, or ends it. */
async function handleFailure(
  about: Attempt,
  {
    error,
    at,
    one,
    reporter,
    done,
  }: {
    readonly error: unknown;
    readonly at: Posted;
    readonly one: ExportSummary;
    readonly reporter: ProgressReporter;
    readonly done: { readonly rows: number; readonly bytes: number };
  },
): Promise<void> {
  const { row, run, context } = about;
  const { db, ports, log, now, signal } = context;
  if (reporter.abortReason() === 'lost' || error instanceof ExportTaken) return showEnd(about, at, reporter);
  const wait = async (why: string, move: ExportMove, due?: Date): Promise<void> => {
    const isMoved = await db.transaction().execute(async (trx) => {
      if (!(await moveExport(trx, { id: one.id, run }, 'waiting', move))) return false;
      if (due) await ports.enqueue(runExportJob, { id: one.id }, { in: trx, at: due, key: one.id });
      return true;
    });
    if (!isMoved) return showEnd(about, at, reporter);
    // Best effort: the next attempt shows where it is.
    await ports
      .slack(installationOf(row), signal)
      .update(at, renderWaiting(one, why))
      .catch((error: unknown) => log.warn({ error, id: one.id }, 'export pause could not be shown'));
  };
  if (signal.aborted) {
    // This process stops: the queue gives the job to another.
    await wait('The bot restarts; this goes on by itself.', { uncounted: true });
    throw error;
  }
  const cause =
    reporter.abortReason() === 'overdue'
      ? new ExportOverdue()
      : error instanceof SecretFound
        ? ports.blockFile(error.kinds)
        : error;
  const verdict = classifyFailure(cause, one.request, row.attempt, now());
  if ('retryAfterMs' in verdict) {
    log.warn({ error, id: one.id, attempt: row.attempt }, 'export attempt failed, trying again');
    const why = `${verdict.why} Trying again in ${Math.round(verdict.retryAfterMs / 1000)} s.`;
    return wait(why, {}, new Date(now().getTime() + verdict.retryAfterMs));
  }
  const failure = toStoredFailure(ports.explain(verdict.tell, 'event-logs'));
  await finish(about, { kind: 'failed', failure, offers: verdict.offers }, done);
}

/** Ends the export. Does nothing if another attempt has it, or it was cancelled. */
async function finish(
  { row: { id }, run, context }: Attempt,
  ending: ExportOutcome,
  move: ExportMove,
  sha256?: string,
): Promise<void> {
  const about = { id, ending, ...(sha256 === undefined ? {} : { sha256 }) };
  await finishExport(context, about, (trx, end) =>
    moveExport(trx, { id, run }, stateOfOutcome[ending.kind], { ...move, end }),
  );
}

// Between the clocks of two processes.
const skewMs = 5_000;

/** The export was cancelled: progress that was on its way to Slack may have replaced the words that say so. */
async function showEnd(
  { row: { id }, context }: Attempt,
  at: Posted,
  reporter: ProgressReporter,
): Promise<void> {
  const { db, ports, log, signal } = context;
  const row = await findExport(db, id);
  const ending = row && readOutcome(row);
  if (!ending || reporter.shownAt() < (row.ended_at?.getTime() ?? 0) - skewMs) return;
  await showOutcome(ports.slack(installationOf(row), signal), at, row, ending).catch((error: unknown) =>
    log.warn({ error, id }, 'export outcome could not be shown'),
  );
}

/** The export was cancelled, or taken by another attempt, at the last moment. */
class ExportTaken extends Error {
  override readonly name = 'ExportTaken';
}

/** Decides again what was decided at the form: settings, groups and keys change. */
async function authorize(row: ExportRow, { ports }: ExportContext): Promise<void> {
  const decision = await decideExport(ports.authorizer(requesterOf(row)), row.channel ?? undefined);
  if (decision.allowed) return;
  const { message, hint } = renderRefusal(decision, ports.people(installationOf(row)).missingScopes());
  throw new UserError(`<@${row.user_id}>: ${message}`, hint);
}

/** Returns the ids of the files in Slack; none for an empty log. */
async function send(
  { row, run, context }: Attempt,
  gathered: Awaited<ReturnType<ExportThread['gather']>>,
  reporter: ProgressReporter,
  onSharing: () => void,
): Promise<readonly string[]> {
  const { db, ports } = context;
  const { rows, bytes, empty } = gathered.stats;
  if (empty) return [];
  const attachments = createAttachments(toExportSummary(row), gathered);
  reporter.setPhase('sending', attachments.bytes);
  const slack = ports.slack(installationOf(row), reporter.signal);
  const { fileIds } = await slack.share(attachments.files, {
    channel: firstMessageOf(row)?.channel ?? row.user_id,
    comment: attachments.comment,
    async beforeShare(ids) {
      await authorize(row, context);
      reporter.setPhase('sharing');
      const move = { files: ids, rows, bytes };
      if (!(await moveExport(db, { id: row.id, run }, 'sharing', move))) throw new ExportTaken();
      onSharing();
    },
  });
  return fileIds;
}
