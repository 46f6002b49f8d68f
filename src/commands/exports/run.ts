import { randomUUID } from 'node:crypto';
import { setInterval } from 'node:timers/promises';
import { sql } from 'kysely';
import { z } from 'zod';
import { decidePosting } from '../../auth/policy/authorizer.ts';
import { UserError } from '../../errors.ts';
import { minuteMs } from '../../lib/time.ts';
import { defineMessage, type Ended, type RenderContext } from '../../outbox/outbox.ts';
import { type Posted, SlackFailure } from '../../outbox/slack-port.ts';
import { defineJob, type Job } from '../../store/queue/define-job.ts';
import type { Trx } from '../../store/schema.ts';
import type { Attachment } from '../../views/blocks/blocks.ts';
import { renderRefusal } from '../../views/blocks/failure.ts';
import { formatDuration } from '../../views/blocks/format.ts';
import {
  type EventFigures,
  type EventSummary,
  type ExportRequest,
  type Phase,
  renderFileComment,
  renderProgress,
  renderUnderWay,
} from '../../views/exports/exports.ts';
import { assertOwnAudience, classifyFailure, explainRefusal, explainStop } from './failures.ts';
import {
  type AboutExport,
  type ExportContext,
  type ExportMove,
  type ExportOutcome,
  type ExportPorts,
  type ExportRow,
  endNotice,
  exportMessageId,
  type FinishFacts,
  findExport,
  finishExport,
  installationOf,
  moveExport,
  putEndNotice,
  renderExport,
  requesterOf,
  toExportSummary,
} from './store.ts';
import { ExportStopped } from './worker/gather.ts';
import type { ExportThread } from './worker/thread.ts';

/*
 * asked → waiting → running → sharing → done, failed, cancelled, unknown
 *
 * `asked`: its first message is being posted. `waiting`: an attempt is enqueued. `sharing`: Slack was asked to show the
 * files and has not answered. `unknown`: Slack may have shown them.
 */

const expiresMs = 15 * minuteMs;

/** Puts the export's message into the outbox. The export runs once it is posted. */
export async function putExportMessage(
  trx: Trx,
  row: Pick<ExportRow, 'id' | 'channel' | 'user_id' | 'team_id' | 'enterprise_id' | 'asked_at'>,
  { outbox }: Pick<ExportPorts, 'outbox'>,
): Promise<void> {
  await outbox.put(trx, {
    id: exportMessageId(row.id),
    kind: exportMessage,
    about: { id: row.id },
    installation: installationOf(row),
    to: { places: [row.channel ?? row.user_id] },
    doubt: 'look',
    expiresAt: new Date(row.asked_at.getTime() + expiresMs),
  });
}

/** The message that shows the progress, then the outcome. While the export runs, it is updated directly. */
const exportMessage = defineMessage({
  kind: 'export',
  render: ({ id }: AboutExport, { db }: RenderContext<ExportPorts>) => renderExport(db, id),
  renderInstead: ({ id }, refusal, { db }) => renderExport(db, id, refusal),
  async ended(trx, ended: Ended<AboutExport>, context: ExportContext) {
    const { id } = ended.about;
    const asked = { id, from: ['asked'] } as const;
    if (ended.state === 'sent') {
      if (await moveExport(trx, asked, { state: 'waiting' }))
        await context.ports.enqueue(runExportJob, { id }, { in: trx, key: id });
      return;
    }
    const row = await findExport(trx, id);
    if (!row) return;
    const { message, hint, reference } = explainUnposted(ended, row);
    const outcome: ExportOutcome = { kind: 'failed', failure: { message, hint, reference }, canRepeat: true };
    // One that was cancelled meanwhile has nowhere to say so.
    if (!(await finishExport(trx, context, asked, outcome))) await putEndNotice(trx, row, context);
  },
  async editFailed(trx, { about }, context: ExportContext) {
    const row = await findExport(trx, about.id);
    if (row) await putEndNotice(trx, row, context);
  },
});

export const exportMessages = [exportMessage, endNotice] as const;

/** Why the export's first message could not be posted. */
function explainUnposted({ state, code, reference }: Ended<AboutExport>, { channel }: ExportRow): UserError {
  if (state === 'unknown' || code === undefined)
    return new UserError(
      'The export did not start: Slack did not confirm its first message.',
      'Export again. If a message still says that it is under way, ignore it.',
    );
  const where = channel === null ? 'your direct messages' : `<#${channel}>`;
  const sentence = `Slack does not let the bot post in ${where} (${code}). The CDN was not asked.`;
  return explainRefusal({ code, reference, sentence });
}

const data = z.object({ id: z.string() });

const attemptSeconds = 2 * 60 * 60;
// Leaves time to store and show the end.
const overdueMs = (attemptSeconds - 5 * 60) * 1000;

/** Makes an export. Enqueue it with the export's id as key: the queue runs one attempt of an export at a time. */
export const runExportJob: Job<z.input<typeof data>, ExportPorts> = defineJob({
  name: 'export',
  data,
  onePerKey: 'running',
  // For killed processes; the row counts attempts.
  retries: 10,
  timeLimitSeconds: attemptSeconds,
  async run({ id }, context: ExportContext) {
    const { db, ports } = context;
    const run = randomUUID();
    const row = await moveExport(
      db,
      { id, from: ['waiting', 'running'] },
      {
        state: 'running',
        run,
        attempt: sql<number>`attempt + 1`,
      },
    );
    // The attempt before this one may have died while Slack was asked to show the files.
    if (!row) return finish(context, { id, from: ['sharing'] }, { kind: 'unknown' });
    const at = (await ports.outbox.find(db, exportMessageId(id)))?.posted;
    if (!at) throw new Error('an export runs without a message');
    await attempt({ row, at, context, move: { id, run, from: ['running', 'sharing'] } });
  },
  async putAside({ id }, context: ExportContext) {
    const row = await findExport(context.db, id);
    if (!row) return;
    const { request } = toExportSummary(row);
    const failure = context.ports.explain(explainStop({ kind: 'abandoned' }, request), 'event-logs');
    const outcome = { kind: 'failed', failure, canRepeat: false } as const;
    await finish(context, { id, from: ['waiting', 'running'] }, outcome);
    await finish(context, { id, from: ['sharing'] }, { kind: 'unknown' });
  },
});

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
    const files = await send(about, gathered, reporter, () => {
      isSharing = true;
    });
    await reporter.stop();
    const { rows, bytes, figures, unread } = gathered;
    const summary = figures && summarize(figures);
    await finish(
      context,
      move,
      { kind: 'done', files: files.length, summary, unread },
      {
        row_count: rows,
        byte_count: bytes,
        files: JSON.stringify(files),
        sha256: gathered.files[0]?.sha256,
      },
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

/** Nothing was posted: retries later, gives the export back, or answers how it ends. */
async function handleFailure(
  about: Attempt,
  thrown: unknown,
  { reason }: AbortSignal,
): Promise<ExportOutcome | undefined> {
  const { row, at, move, context } = about;
  const { db, ports, log, now, signal } = context;
  const one = toExportSummary(row);
  const error: unknown = reason instanceof ExportStopped ? reason : thrown;
  const stopped = error instanceof ExportStopped ? error.reason : undefined;
  const wait = async (why: string, attempt: number, due?: Date): Promise<void> => {
    const isMoved = await db.transaction().execute(async (trx) => {
      if (!(await moveExport(trx, move, { attempt, state: 'waiting' }))) return false;
      if (due) await ports.enqueue(runExportJob, { id: one.id }, { in: trx, at: due, key: one.id });
      return true;
    });
    if (!isMoved) return showOutcomeAgain(about);
    // Best effort: the next attempt shows where it is.
    await ports
      .slack(installationOf(row), signal)
      .update(at, renderUnderWay(one, why))
      .catch((failure: unknown) =>
        log.warn({ error: failure, id: one.id }, 'export pause could not be shown'),
      );
  };
  if (stopped?.kind === 'taken') {
    await showOutcomeAgain(about);
    return undefined;
  }
  if (signal.aborted) {
    // This process stops: the queue gives the job to another, and the attempt is not counted.
    await wait('The bot restarts; this goes on by itself.', row.attempt - 1);
    throw thrown;
  }
  const cause = stopped?.kind === 'secret' ? ports.blockFile(stopped.kinds) : error;
  const verdict = classifyFailure(cause, { ...one, attempt: row.attempt }, now());
  if ('error' in verdict)
    return {
      kind: 'failed',
      failure: ports.explain(verdict.error, 'event-logs'),
      canRepeat: verdict.canRepeat,
    };
  log.warn({ error: thrown, id: one.id, attempt: row.attempt }, 'export attempt failed, trying again');
  const { why, retryAfterMs } = verdict;
  const due = new Date(now().getTime() + retryAfterMs);
  await wait(`${why} Trying again in ${formatDuration(retryAfterMs)}.`, row.attempt, due);
  return undefined;
}

/** The export was cancelled: progress that was on its way to Slack may have replaced the words that say so. */
async function showOutcomeAgain({ row: { id }, context: { db, ports } }: Attempt): Promise<void> {
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

/** A channel may have become shared since the form was sent. */
async function checkAudience({ row, context: { ports, signal } }: Attempt): Promise<void> {
  if (row.channel === null) return;
  const audience = await ports.slack(installationOf(row), signal).readAudience(row.channel);
  const { exportChannels } = await ports.authorizer(requesterOf(row)).policy();
  assertOwnAudience(row.channel, audience, exportChannels);
}

/** Returns the ids of the files in Slack; none for an empty log. */
async function send(
  about: Attempt,
  gathered: Awaited<ReturnType<ExportThread['gather']>>,
  reporter: ProgressReporter,
  onSharing: () => void,
): Promise<readonly string[]> {
  const { row, at, move, context } = about;
  const { rows, bytes, figures } = gathered;
  if (rows === 0) return [];
  const one = { ...toExportSummary(row), rows, bytes };
  const files = gathered.files.map(({ kind, spooled }): Attachment => {
    const name = nameFile(one.request, kind === 'safe' ? '-spreadsheet' : '');
    return { name, title: name, mimetype: 'text/csv', content: { spooled } };
  });
  reporter.setPhase(
    'sending',
    gathered.files.reduce((sum, { length }) => sum + length, 0),
  );
  const slack = context.ports.slack(installationOf(row), reporter.signal);
  const { fileIds } = await slack.share(files, {
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
      if (!isMoved) throw new ExportStopped({ kind: 'taken' });
      onSharing();
    },
  });
  return fileIds;
}

/** `events-501-20261118T1000Z-20261118T1200Z-spreadsheet.csv` */
function nameFile({ shieldZoneId, from, to }: ExportRequest, suffix: string): string {
  const [begin, end] = [from, to].map((at) => `${at.toISOString().slice(0, 16).replaceAll(/[-:]/gu, '')}Z`);
  return `events-${shieldZoneId}-${begin}-${end}${suffix}.csv`;
}

const mostNamed = 3;
const longestName = 30;

/** What is stored with the outcome: no addresses and no URLs. */
function summarize({ bars, top }: EventFigures): EventSummary {
  const [actions, countries] = [top.action, top.country].map((counted) =>
    (counted ?? [])
      .slice(0, mostNamed)
      .map(([word, count]) => [word.slice(0, longestName), count] as const),
  );
  return { bars, actions: actions ?? [], countries: countries ?? [] };
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
    if (!(await moveExport(db, move, { row_count: rows, byte_count: bytes })))
      return controller.abort(new ExportStopped({ kind: 'taken' }));
    if (now().getTime() - begun > overdueMs) return controller.abort(new ExportStopped({ kind: 'overdue' }));
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
    /** Aborted with ExportStopped `taken`, or `overdue` close to the job's time limit; or when the bot stops. */
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
