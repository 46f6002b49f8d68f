import { randomUUID } from 'node:crypto';
import { setInterval } from 'node:timers/promises';
import { sql } from 'kysely';
import { z } from 'zod';
import { readPerson } from '../../auth/identity.ts';
import { decidePosting } from '../../auth/policy/authorizer.ts';
import type { Policy } from '../../auth/policy/policy.ts';
import { UserError } from '../../errors.ts';
import { dayMs } from '../../lib/time.ts';
import { type Posted, SlackFailure } from '../../outbox/slack-port.ts';
import { defineJob, type Job } from '../../store/queue.ts';
import type { Attachment } from '../../views/blocks/blocks.ts';
import { renderRefusal } from '../../views/blocks/failure.ts';
import { formatDuration } from '../../views/blocks/format.ts';
import {
  type ExportOutcome,
  type ExportRequest,
  renderFileComment,
  renderProgress,
  renderUnderWay,
} from '../../views/exports/exports.ts';
import { assertOwnAudience } from '../share.ts';
import {
  attemptSeconds,
  cancellable,
  type ExportContext,
  type ExportMove,
  type ExportPorts,
  type ExportRow,
  exportJob,
  exportMessageId,
  findExport,
  finishExport,
  moveExport,
  readFiles,
  selectWithFiles,
  toExportSummary,
} from './exports.ts';
import { explainEnd, findRetry } from './failures.ts';
import { SecretInFile } from './worker/gather.ts';
import type { ExportThread } from './worker/thread.ts';

/** The export was cancelled, or another attempt has it. */
const taken = new Error('this attempt no longer has its export');
const overdue = new UserError(
  'This export was stopped after two hours.',
  'Choose a shorter window, or filter.',
);
const abandoned = new UserError(
  'The bot stopped twice while making this export, so it is not retried.',
  'Choose a shorter window, or send the reference below to the team that runs this bot.',
);
// Leaves time to store and show the end.
const overdueMs = (attemptSeconds - 5 * 60) * 1000;

/** The queue runs one attempt of an export at a time. */
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
    // The attempt before may have died while Slack was asked to show the files.
    if (!row) return void (await finishExport(context, { id, from: ['sharing'] }, { kind: 'unknown' }));
    const at = (await ports.outbox.find(db, exportMessageId(id)))?.posted;
    if (!at) throw new Error('an export runs without a message');
    await attempt({ row, at, context, move: { id, run, from: ['running', 'sharing'] } });
  },
  async putAside(stored, context) {
    const { id } = stored as { id: string };
    const failure = context.ports.explain(abandoned, 'event-logs');
    await finishExport(context, { id, from: cancellable }, { kind: 'failed', failure });
    await finishExport(context, { id, from: ['sharing'] }, { kind: 'unknown' });
  },
};

interface Attempt {
  readonly row: ExportRow;
  readonly at: Posted;
  readonly context: ExportContext;
  readonly move: ExportMove;
}

async function attempt(about: Attempt): Promise<void> {
  const { row, move, context } = about;
  const { ports, log } = context;
  const one = toExportSummary(row);
  const thread = ports.exportThread();
  const reporter = startProgressReporter(about, thread);
  let isSharing = false;
  try {
    await authorize(about);
    const gathered = await thread.gather(await ports.cdnKey(readPerson(row)), one.request, reporter.signal);
    const { rows, figures, unread } = gathered;
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
    const [first] = gathered.files;
    await finishExport(context, move, { kind: 'done', files, summary, unread }, first?.sha256);
  } catch (error) {
    await reporter.stop();
    if (isSharing && !(error instanceof SlackFailure && error.outcome === 'refused')) {
      log.error({ error, id: one.id }, 'unknown whether export was posted');
      await finishExport(context, move, { kind: 'unknown' });
    } else {
      const outcome = await handleFailure(about, error, reporter.signal);
      if (outcome) await finishExport(context, move, outcome);
    }
  } finally {
    await thread.close();
  }
}

/** Nothing was posted: tries again later, or returns how the export ends. */
async function handleFailure(
  about: Attempt,
  thrown: unknown,
  { reason }: AbortSignal,
): Promise<ExportOutcome | undefined> {
  const { row, at, move, context } = about;
  const { db, ports, log, now, signal } = context;
  if (reason === taken || thrown === taken) return showOutcomeAgain(about);
  // The queue gives the job to another process. What Slack has refused is tried again as at any time.
  if (signal.aborted && !(thrown instanceof SlackFailure)) throw thrown;
  const one = toExportSummary(row);
  const cause = thrown instanceof SecretInFile ? ports.blockFile(thrown.kinds) : thrown;
  const error: unknown = reason === overdue ? overdue : cause;
  const retry = findRetry(error, { ...one, attempt: row.attempt }, now());
  if (!retry) return { kind: 'failed', failure: ports.explain(explainEnd(error), 'event-logs') };
  log.warn({ error: thrown, id: one.id, attempt: row.attempt }, 'export attempt failed, trying again');
  const { why, retryAfterMs } = retry;
  const isWaiting = await db.transaction().execute(async (trx) => {
    if (!(await moveExport(trx, move, { state: 'waiting' }))) return false;
    const due = new Date(now().getTime() + retryAfterMs);
    await ports.enqueue(exportJob, { id: one.id }, { in: trx, at: due, key: one.id });
    return true;
  });
  if (!isWaiting) return showOutcomeAgain(about);
  if (!(await isForOwn(about))) return undefined;
  const pause = `${why} Trying again in ${formatDuration(retryAfterMs)}.`;
  await ports
    .slack(readPerson(row), signal)
    .update(at, renderUnderWay(one, pause))
    .catch((failure: unknown) => log.warn({ error: failure, id: one.id }, 'export pause could not be shown'));
  return undefined;
}

/** Whether progress may be shown: the channel may have come to be shared with others since the form. */
async function isForOwn({ row, context: { ports, signal } }: Attempt): Promise<boolean> {
  const { channel } = row;
  const about = { signal, knownMs: audienceKnownMs };
  return channel === null || (await ports.readAudience(readPerson(row), channel, about)) === 'own';
}

/** Late progress may have replaced the words that say so. */
async function showOutcomeAgain({ row: { id }, context: { db, ports } }: Attempt): Promise<undefined> {
  const row = await findExport(db, id);
  if (row?.ended_at) await db.transaction().execute((trx) => ports.outbox.edit(trx, exportMessageId(id)));
}

/** Settings, groups and keys may have changed since the form. */
async function authorize({ row, context: { ports } }: Attempt): Promise<Policy> {
  const authorizer = ports.authorizer(readPerson(row));
  const decision = await decidePosting(authorizer, 'export', row.channel ?? undefined);
  if (decision.allowed) return authorizer.policy();
  ports.refused(decision.reason);
  const { message, hint } = renderRefusal(decision, ports.people(readPerson(row)).missingScopes());
  throw new UserError(`<@${row.user_id}>: ${message}`, hint);
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
    const ending = gathered.unread === 'json' && content.kind === 'raw' ? '.json' : '.csv';
    const name = nameFile(one.request, (content.kind === 'safe' ? '-spreadsheet' : '') + ending);
    return { name, title: name, mimetype: ending === '.json' ? 'application/json' : 'text/csv', content };
  });
  reporter.showSending(gathered.files.reduce((sum, { length }) => sum + length, 0));
  const slack = context.ports.slack(readPerson(row), reporter.signal);
  await slack.share(files, {
    channel: at.channel,
    comment: renderFileComment(one, figures, gathered.files[0]?.sha256 ?? ''),
    async beforeShare(ids) {
      const policy = await authorize(about);
      if (row.channel !== null)
        assertOwnAudience('export', row.channel, await slack.readAudience(row.channel), policy);
      // Cancelling and sharing exclude each other.
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
function nameFile({ shieldZoneId, from, to }: ExportRequest, ending: string): string {
  const [begin, end] = [from, to].map((at) => `${at.toISOString().slice(0, 16).replaceAll(/[-:]/gu, '')}Z`);
  return `events-${shieldZoneId}-${begin}-${end}${ending}`;
}

// Slack accepts about fifty edits a minute, for all exports together.
const reportEveryMs = 3_000;
const audienceKnownMs = 30_000;

type ProgressReporter = ReturnType<typeof startProgressReporter>;

/** Shows the progress while an attempt runs, and aborts it when it has to end. */
function startProgressReporter(about: Attempt, thread: ExportThread) {
  const { row, at, move, context } = about;
  const { db, log, now, ports } = context;
  const one = toExportSummary(row);
  const slack = ports.slack(readPerson(row), context.signal);
  const controller = new AbortController();
  const stopped = new AbortController();
  const begun = now().getTime();
  let toSend: number | undefined;
  let quietUntil = 0;

  const report = async (): Promise<void> => {
    const { rows, bytes, announced, sent } = thread.progress();
    if (!(await moveExport(db, move, { row_count: rows, byte_count: bytes }))) return controller.abort(taken);
    if (now().getTime() - begun > overdueMs) return controller.abort(overdue);
    if (now().getTime() < quietUntil || !(await isForOwn(about))) return;
    const phase = bytes > 0 ? 'reading' : 'starting';
    const shown =
      toSend === undefined
        ? ({ phase, bytes, of: announced } as const)
        : ({ phase: 'sending', bytes: sent, of: toSend } as const);
    const elapsedMs = now().getTime() - one.askedAt.getTime();
    await slack.update(at, renderProgress(one, { ...shown, rows, elapsedMs, attempt: row.attempt }));
  };
  const keepReporting = async (): Promise<void> => {
    for await (const _ of setInterval(reportEveryMs, undefined, { signal: stopped.signal }))
      await report().catch((error: unknown) => {
        const { retryAfterSeconds = 0 } = error instanceof SlackFailure ? error : {};
        quietUntil = now().getTime() + retryAfterSeconds * 1000;
        log.debug({ error, id: one.id }, 'export progress could not be reported');
      });
  };
  const reporting = keepReporting().catch(() => undefined);

  return {
    /** Aborted with `taken` or `overdue`, or when the bot stops. */
    signal: AbortSignal.any([context.signal, controller.signal]),
    showSending(bytes: number): void {
      toSend = bytes;
    },
    /** Waits for the last request, so that no older message replaces the end, and stores what was read. */
    async stop(): Promise<void> {
      stopped.abort();
      await reporting;
      const { rows, bytes } = thread.progress();
      await moveExport(db, move, { row_count: rows, byte_count: bytes });
    },
  };
}

// As long as the buttons that repeat an export are useful.
const requestsKeptMs = 7 * dayMs;
const rowsKeptMs = 90 * dayMs;
// Slack accepts about fifty deletions a minute.
const mostAtOnce = 100;

export const exportRetentionJob = defineJob({
  name: 'export-upkeep',
  cron: '41 * * * *',
  data: z.object({}),
  async run(_data, context: ExportContext) {
    const { db, now, log } = context;
    const before = (keptMs: number): Date => new Date(now().getTime() - keptMs);
    // Requests and outcomes hold search words.
    await db
      .updateTable('exports')
      .set({ request: null, ending: null })
      .where('ended_at', '<', before(requestsKeptMs))
      .where('request', 'is not', null)
      .execute();
    await db
      .deleteFrom('exports')
      .where('ended_at', '<', before(rowsKeptMs))
      .where((row) => row.or([row('files', '=', '[]'), row('files_deleted_at', 'is not', null)]))
      .execute();
    for (const { tenant } of await selectWithFiles(db).select('tenant').distinct().execute()) {
      try {
        await deleteDue(tenant, context);
      } catch (error) {
        // The next hour tries again.
        log.warn({ error, tenant }, 'files of exports could not be deleted');
      }
    }
  },
});

async function deleteDue(tenant: string, context: ExportContext): Promise<void> {
  const { db, now, ports, signal, log } = context;
  const rows = selectWithFiles(db).selectAll().where('tenant', '=', tenant);
  const any = await rows.limit(1).executeTakeFirst();
  if (!any) return;
  // The policy of any requester is the tenant's.
  const { exportKeepDays } = await ports.authorizer(readPerson(any)).policy({ fresh: true });
  if (exportKeepDays === 0) return;
  const endedBefore = new Date(now().getTime() - exportKeepDays * dayMs);
  // Random, so that files that cannot be deleted do not keep the others.
  const due = rows.where('ended_at', '<=', endedBefore).orderBy(sql`random()`).limit(mostAtOnce);
  for (const row of await due.execute()) {
    if (signal.aborted) return;
    try {
      await deleteFiles(row, exportKeepDays, context);
    } catch (error) {
      if (error instanceof SlackFailure && error.code === 'ratelimited') throw error;
      log.warn({ error, tenant, id: row.id }, 'files of an export could not be deleted');
    }
  }
}

async function deleteFiles(row: ExportRow, afterDays: number, context: ExportContext): Promise<void> {
  const { db, now, ports, signal } = context;
  const files = readFiles(row);
  const slack = ports.slack(readPerson(row), signal);
  for (const file of files) await slack.deleteFile(file);
  await db.transaction().execute(async (trx) => {
    await trx.updateTable('exports').set({ files_deleted_at: now() }).where('id', '=', row.id).execute();
    await ports.audit.record(
      {
        tenant: row.tenant,
        actor: 'system',
        event: 'export-deleted',
        subject: row.user_id,
        detail: { export: row.id, files: files.length, afterDays },
      },
      trx,
    );
  });
}
