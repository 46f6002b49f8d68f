import { randomUUID } from 'node:crypto';
import { setInterval } from 'node:timers/promises';
import { sql } from 'kysely';
import { decidePosting } from '../../auth/policy/authorizer.ts';
import { UserError } from '../../errors.ts';
import { type Posted, SlackFailure } from '../../outbox/slack-port.ts';
import type { Job } from '../../store/queue/define-job.ts';
import type { Attachment } from '../../views/blocks/blocks.ts';
import { renderRefusal } from '../../views/blocks/failure.ts';
import { formatDuration } from '../../views/blocks/format.ts';
import {
  type ExportRequest,
  type Phase,
  renderFileComment,
  renderProgress,
  renderUnderWay,
} from '../../views/exports/exports.ts';
import {
  attemptSeconds,
  cancellable,
  type ExportContext,
  type ExportMove,
  type ExportOutcome,
  type ExportPorts,
  type ExportRow,
  exportJob,
  exportMessageId,
  type FinishFacts,
  findExport,
  finishExport,
  installationOf,
  moveExport,
  requesterOf,
  toExportSummary,
} from './exports.ts';
import { assertExportAudience, classifyFailure } from './failures.ts';
import { SecretInFile } from './worker/gather.ts';
import type { ExportThread } from './worker/thread.ts';

/** The export was cancelled, or another attempt has it. */
const taken = new Error('this attempt no longer has its export');
const overdue = new UserError(
  'This export was stopped after two hours.',
  'Choose a shorter window, or filter.',
);
const abandoned = new UserError(
  'The bot stopped twice while it made this export, so it was put aside.',
  'Choose a shorter window, or send the reference below to the team that runs this bot.',
);
// Leaves time to store and show the end.
const overdueMs = (attemptSeconds - 5 * 60) * 1000;

/** Makes an export: the queue runs one attempt of it at a time. */
export const runExportJob: Job<{ id: string }, ExportPorts> = {
  ...exportJob,
  async run(stored, context) {
    const { id } = stored as { id: string };
    const { db, ports } = context;
    const run = randomUUID();
    const row = await moveExport(
      db,
      { id, from: cancellable },
      { state: 'running', run, attempt: sql<number>`attempt + 1` },
    );
    // The attempt before this one may have died while Slack was asked to show the files.
    if (!row) return finish(context, { id, from: ['sharing'] }, { kind: 'unknown' });
    const at = (await ports.outbox.find(db, exportMessageId(id)))?.posted;
    if (!at) throw new Error('an export runs without a message');
    await attempt({ row, at, context, move: { id, run, from: ['running', 'sharing'] } });
  },
  async putAside(stored, context) {
    const { id } = stored as { id: string };
    const failure = context.ports.explain(abandoned, 'event-logs');
    await finish(context, { id, from: cancellable }, { kind: 'failed', failure, canRepeat: false });
    await finish(context, { id, from: ['sharing'] }, { kind: 'unknown' });
  },
};

interface Attempt {
  readonly row: ExportRow;
  readonly at: Posted;
  readonly context: ExportContext;
  /** Matches until the export was cancelled, or another attempt has it. */
  readonly move: ExportMove;
}

async function finish(
  context: ExportContext,
  move: ExportMove,
  outcome: ExportOutcome,
  facts?: FinishFacts,
): Promise<void> {
  await context.db.transaction().execute((trx) => finishExport(trx, context, move, outcome, facts));
}

async function attempt(about: Attempt): Promise<void> {
  const { row, move, context } = about;
  const { ports, log } = context;
  const one = toExportSummary(row);
  // It starts while the permission is checked.
  const thread = ports.exportThread();
  const reporter = startProgressReporter(about, thread);
  let isSharing = false;
  try {
    await authorize(about);
    const gathered = await thread.gather(await ports.cdnKey(requesterOf(row)), one.request, reporter.signal);
    const { rows, bytes, figures, unread } = gathered;
    // Without an event there is no file.
    const files = rows > 0 ? gathered.files.length : 0;
    if (files > 0)
      await send(about, gathered, reporter, () => {
        isSharing = true;
      });
    await reporter.stop();
    // What is stored holds no addresses and no URLs.
    const summary = figures && {
      bars: figures.bars,
      top: { action: figures.top.action, country: figures.top.country },
    };
    await finish(
      context,
      move,
      { kind: 'done', files, summary, unread },
      { row_count: rows, byte_count: bytes, sha256: gathered.files[0]?.sha256 },
    );
  } catch (error) {
    await reporter.stop();
    const { rows, bytes } = thread.progress();
    const facts = { row_count: rows, byte_count: bytes };
    if (isSharing && !(error instanceof SlackFailure && error.outcome === 'refused')) {
      log.error({ error, id: one.id }, 'unknown whether export was posted');
      await finish(context, move, { kind: 'unknown' }, facts);
    } else {
      const outcome = await handleFailure(about, error, reporter.signal);
      if (outcome) await finish(context, move, outcome, facts);
    }
  } finally {
    await thread.close();
  }
}

/** Nothing was posted: tries again later, or answers how the export ends. */
async function handleFailure(
  about: Attempt,
  thrown: unknown,
  { reason }: AbortSignal,
): Promise<ExportOutcome | undefined> {
  const { row, at, move, context } = about;
  const { db, ports, log, now, signal } = context;
  if (reason === taken || thrown === taken) return showOutcomeAgain(about);
  // This process stops: the queue gives the job to another.
  if (signal.aborted) throw thrown;
  const one = toExportSummary(row);
  const cause = thrown instanceof SecretInFile ? ports.blockFile(thrown.kinds) : thrown;
  const error: unknown = reason === overdue ? overdue : cause;
  const verdict = classifyFailure(error, { ...one, attempt: row.attempt }, now());
  if ('error' in verdict)
    return {
      kind: 'failed',
      failure: ports.explain(verdict.error, 'event-logs'),
      canRepeat: verdict.canRepeat,
    };
  log.warn({ error: thrown, id: one.id, attempt: row.attempt }, 'export attempt failed, trying again');
  const { why, retryAfterMs } = verdict;
  const isWaiting = await db.transaction().execute(async (trx) => {
    if (!(await moveExport(trx, move, { state: 'waiting' }))) return false;
    const due = new Date(now().getTime() + retryAfterMs);
    await ports.enqueue(exportJob, { id: one.id }, { in: trx, at: due, key: one.id });
    return true;
  });
  if (!isWaiting) return showOutcomeAgain(about);
  const pause = `${why} Trying again in ${formatDuration(retryAfterMs)}.`;
  // Best effort: the next attempt shows where it is.
  await ports
    .slack(installationOf(row), signal)
    .update(at, renderUnderWay(one, pause))
    .catch((failure: unknown) => log.warn({ error: failure, id: one.id }, 'export pause could not be shown'));
  return undefined;
}

/** The export was cancelled: progress that was on its way to Slack may have replaced the words that say so. */
async function showOutcomeAgain({ row: { id }, context: { db, ports } }: Attempt): Promise<undefined> {
  const row = await findExport(db, id);
  if (row?.ended_at) await db.transaction().execute((trx) => ports.outbox.edit(trx, exportMessageId(id)));
}

/** Repeats the decision of the form: settings, groups, keys and channels change. */
async function authorize({ row, context: { ports } }: Attempt): Promise<void> {
  const decision = await decidePosting(
    ports.authorizer(requesterOf(row)),
    'export',
    row.channel ?? undefined,
  );
  if (decision.allowed) return;
  ports.refused(decision.reason);
  const { message, hint } = renderRefusal(decision, ports.people(installationOf(row)).missingScopes());
  throw new UserError(`<@${row.user_id}>: ${message}`, hint);
}

// Slack answers fifty such questions a minute, and the form asked when the export began.
const audienceKnownMs = 30_000;

/** A channel may have become shared since the form was sent. */
async function checkAudience({ row, context: { ports, signal, now } }: Attempt): Promise<void> {
  if (row.channel === null || now().getTime() - row.asked_at.getTime() < audienceKnownMs) return;
  const audience = await ports.slack(installationOf(row), signal).readAudience(row.channel);
  const { exportChannels } = await ports.authorizer(requesterOf(row)).policy();
  assertExportAudience(row.channel, audience, exportChannels);
}

async function send(
  about: Attempt,
  gathered: Awaited<ReturnType<ExportThread['gather']>>,
  reporter: ProgressReporter,
  onSharing: () => void,
): Promise<void> {
  const { row, at, move, context } = about;
  const { rows, bytes, figures } = gathered;
  const one = { ...toExportSummary(row), rows, bytes };
  const files = gathered.files.map((content): Attachment => {
    const name = nameFile(one.request, content.kind === 'safe' ? '-spreadsheet' : '');
    return { name, title: name, mimetype: 'text/csv', content };
  });
  reporter.setPhase(
    'sending',
    gathered.files.reduce((sum, { length }) => sum + length, 0),
  );
  const slack = context.ports.slack(installationOf(row), reporter.signal);
  await slack.share(files, {
    channel: at.channel,
    comment: renderFileComment(one, figures, gathered.files[0]?.sha256 ?? ''),
    async beforeShare(ids) {
      await authorize(about);
      await checkAudience(about);
      reporter.setPhase('sharing');
      // Cancelling and sharing exclude each other: only a running export can move here.
      const isMoved = await moveExport(
        context.db,
        { ...move, from: ['running'] },
        { state: 'sharing', files: JSON.stringify(ids), row_count: rows, byte_count: bytes },
      );
      if (!isMoved) throw taken;
      onSharing();
    },
  });
}

/** `events-501-20261118T1000Z-20261118T1200Z-spreadsheet.csv` */
function nameFile({ shieldZoneId, from, to }: ExportRequest, suffix: string): string {
  const [begin, end] = [from, to].map((at) => `${at.toISOString().slice(0, 16).replaceAll(/[-:]/gu, '')}Z`);
  return `events-${shieldZoneId}-${begin}-${end}${suffix}.csv`;
}

// Slack accepts about fifty edits of messages a minute, for all exports together.
const reportEveryMs = 3_000;

type ProgressReporter = ReturnType<typeof startProgressReporter>;

/** Stores and shows the progress of an attempt while it runs, and aborts it when it has to end. */
function startProgressReporter({ row, at, move, context }: Attempt, thread: ExportThread) {
  const { db, log, now, ports } = context;
  const one = toExportSummary(row);
  const slack = ports.slack(installationOf(row), context.signal);
  const controller = new AbortController();
  const stopped = new AbortController();
  const begun = now().getTime();
  let phase: Phase = 'starting';
  let toSend: number | undefined;

  const report = async (): Promise<void> => {
    const { rows, bytes, announced, sent } = thread.progress();
    if (!(await moveExport(db, move, { row_count: rows, byte_count: bytes }))) return controller.abort(taken);
    if (now().getTime() - begun > overdueMs) return controller.abort(overdue);
    const isReading = phase === 'starting' && bytes > 0;
    const shown = isReading
      ? ({ phase: 'reading', bytes, of: announced } as const)
      : { phase, bytes: sent, of: toSend };
    const elapsedMs = now().getTime() - one.askedAt.getTime();
    await slack.update(at, renderProgress(one, { ...shown, rows, elapsedMs, attempt: row.attempt }));
  };
  const keepReporting = async (): Promise<void> => {
    for await (const _ of setInterval(reportEveryMs, undefined, { signal: stopped.signal }))
      await report().catch((error: unknown) =>
        log.debug({ error, id: one.id }, 'export progress could not be reported'),
      );
  };
  const reporting = keepReporting().catch(() => undefined);

  return {
    /** Aborted with `taken`, or `overdue` close to the job's time limit; or when the bot stops. */
    signal: AbortSignal.any([context.signal, controller.signal]),
    /** `bytes`: of the files, in the phase `sending`. */
    setPhase(next: Phase, bytes?: number): void {
      phase = next;
      toSend = bytes;
    },
    /** Resolves once no request is under way, so that no older message replaces the last one. */
    async stop(): Promise<void> {
      stopped.abort();
      await reporting;
    },
  };
}
