import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { z } from 'zod';
import { decidePosting } from '../../auth/policy/authorizer.ts';
import { UserError } from '../../errors.ts';
import { type Posted, SlackFailure } from '../../outbox/slack-port.ts';
import { defineJob, type Job } from '../../store/queue/define-job.ts';
import type { Attachment } from '../../views/blocks/blocks.ts';
import { renderRefusal } from '../../views/blocks/failure.ts';
import { type ExportRequest, renderWaiting } from '../../views/exports/exports.ts';
import { type EventFigures, type EventSummary, renderFileComment } from '../../views/exports/report.ts';
import { assertOwnAudience } from './audience.ts';
import { classifyFailure, ExportAbandoned, ExportOverdue } from './failures.ts';
import { type ExportOutcome, exportMessageId, finishExport } from './finish.ts';
import type { ExportContext, ExportPorts } from './ports.ts';
import { attemptSeconds, type ProgressReporter, startProgressReporter } from './progress.ts';
import {
  type ExportMove,
  type ExportRow,
  findExport,
  installationOf,
  moveExport,
  requesterOf,
  toExportSummary,
} from './store.ts';
import { type GatheredFile, SecretFound } from './worker/gather.ts';
import type { ExportThread } from './worker/thread.ts';

const data = z.object({ id: z.string() });

// An export that was running when processes died may be why they did.
const mostDeaths = 2;

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
    const claim = {
      state: 'running',
      run,
      attempt: sql<number>`attempt + 1`,
      // A `running` one was left by a process that died.
      deaths: sql<number>`deaths + case when state = 'running' then 1 else 0 end`,
    } as const;
    const row = await moveExport(db, { id, from: ['waiting', 'running'] }, claim);
    if (!row) {
      // The attempt before this one may have died while Slack was asked to show the files.
      const died = { id, from: ['sharing'] } as const;
      return void (await db
        .transaction()
        .execute((trx) => finishExport(trx, context, died, { kind: 'unknown' })));
    }
    const at = (await ports.outbox.find(db, exportMessageId(id)))?.posted;
    if (!at) throw new Error('an export runs without a message');
    await attempt({ row, run, at, context });
  },
});

interface Attempt {
  readonly row: ExportRow;
  readonly run: string;
  readonly at: Posted;
  readonly context: ExportContext;
}

async function attempt(about: Attempt): Promise<void> {
  const { row, run, at, context } = about;
  const { ports, log } = context;
  const one = toExportSummary(row);
  // It starts while the permission is checked.
  const thread = ports.exportThread();
  const slack = ports.slack(installationOf(row), context.signal);
  const { progress } = thread;
  const reporter = startProgressReporter({ one, run, attempt: row.attempt, at, slack, progress, context });
  let isSharing = false;
  try {
    if (row.deaths >= mostDeaths) throw new ExportAbandoned();
    await authorize(about);
    const gathered = await thread.gather(await ports.cdnKey(requesterOf(row)), one.request, reporter.signal);
    const files = await send(about, gathered, reporter, () => {
      isSharing = true;
    });
    await reporter.stop();
    const { rows, bytes, figures, unread } = gathered;
    const summary = figures && summarize(figures);
    const outcome = { kind: 'done', files: files.length, summary, unread } as const;
    const columns = { row_count: rows, byte_count: bytes, files: JSON.stringify(files) };
    await finish(about, outcome, { columns, sha256: gathered.sha256 });
  } catch (error) {
    await reporter.stop();
    const { rows, bytes } = thread.progress();
    const columns = { row_count: rows, byte_count: bytes };
    if (isSharing && !(error instanceof SlackFailure && error.outcome === 'refused')) {
      log.error({ error, id: one.id }, 'unknown whether export was posted');
      await finish(about, { kind: 'unknown' }, { columns });
    } else {
      const outcome = await handleFailure(about, error, reporter);
      if (outcome) await finish(about, outcome, { columns });
    }
  } finally {
    await thread.close();
  }
}

/** Nothing was posted: retries later, gives the export back, or answers how it ends. */
async function handleFailure(
  about: Attempt,
  error: unknown,
  reporter: ProgressReporter,
): Promise<ExportOutcome | undefined> {
  const { row, at, context } = about;
  const { db, ports, log, now, signal } = context;
  const one = toExportSummary(row);
  if (reporter.abortReason() === 'lost' || error instanceof ExportTaken) {
    await showOutcomeAgain(about);
    return undefined;
  }
  const wait = async (why: string, change: { attempt?: number }, due?: Date): Promise<void> => {
    const isMoved = await db.transaction().execute(async (trx) => {
      if (!(await moveExport(trx, moveOfOwner(about), { ...change, state: 'waiting' }))) return false;
      if (due) await ports.enqueue(runExportJob, { id: one.id }, { in: trx, at: due, key: one.id });
      return true;
    });
    if (!isMoved) return showOutcomeAgain(about);
    // Best effort: the next attempt shows where it is.
    await ports
      .slack(installationOf(row), signal)
      .update(at, renderWaiting(one, why))
      .catch((failure: unknown) =>
        log.warn({ error: failure, id: one.id }, 'export pause could not be shown'),
      );
  };
  if (signal.aborted) {
    // This process stops: the queue gives the job to another, and the attempt is not counted.
    await wait('The bot restarts; this goes on by itself.', { attempt: row.attempt - 1 });
    throw error;
  }
  const cause =
    reporter.abortReason() === 'overdue'
      ? new ExportOverdue()
      : error instanceof SecretFound
        ? ports.blockFile(error.kinds)
        : error;
  const verdict = classifyFailure(cause, { ...one, attempt: row.attempt }, now());
  if ('retryAfterMs' in verdict) {
    log.warn({ error, id: one.id, attempt: row.attempt }, 'export attempt failed, trying again');
    const why = `${verdict.why} Trying again in ${formatPause(verdict.retryAfterMs)}.`;
    await wait(why, {}, new Date(now().getTime() + verdict.retryAfterMs));
    return undefined;
  }
  const failure = ports.explain(verdict.error, 'event-logs');
  return { kind: 'failed', failure, offers: verdict.offers };
}

/** Matches until the export was cancelled, or another attempt has it. */
function moveOfOwner({ row: { id }, run }: Attempt): ExportMove {
  return { id, run, from: ['running', 'sharing'] };
}

async function finish(about: Attempt, outcome: ExportOutcome, done: Parameters<typeof finishExport>[4]) {
  const { db } = about.context;
  await db
    .transaction()
    .execute((trx) => finishExport(trx, about.context, moveOfOwner(about), outcome, done));
}

/** The export was cancelled: progress that was on its way to Slack may have replaced the words that say so. */
async function showOutcomeAgain({ row: { id }, context: { db, ports } }: Attempt): Promise<void> {
  const row = await findExport(db, id);
  if (row?.ended_at) await db.transaction().execute((trx) => ports.outbox.edit(trx, exportMessageId(id)));
}

/** The export was cancelled, or taken by another attempt, at the last moment. */
class ExportTaken extends Error {
  override readonly name = 'ExportTaken';
}

/** Decides again what was decided at the form: settings, groups, keys and channels change. */
async function authorize({ row, context: { ports } }: Attempt): Promise<void> {
  const authorizer = ports.authorizer(requesterOf(row));
  const decision = await decidePosting(authorizer, 'export', row.channel ?? undefined);
  if (!decision.allowed) {
    ports.refused(decision.reason);
    const { message, hint } = renderRefusal(decision, ports.people(installationOf(row)).missingScopes());
    throw new UserError(`<@${row.user_id}>: ${message}`, hint);
  }
}

// Slack answers fifty such questions a minute, and the form asked one when the export began.
const audienceKnownMs = 30_000;

/** A channel may have become shared since the form was sent. */
async function checkAudience({ row, context: { ports, signal, now } }: Attempt): Promise<void> {
  if (row.channel === null || now().getTime() - row.asked_at.getTime() < audienceKnownMs) return;
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
  const { row, run, at, context } = about;
  const { db, ports } = context;
  const { rows, bytes, isEmpty, figures, sha256 } = gathered;
  if (isEmpty) return [];
  const one = { ...toExportSummary(row), rows, bytes };
  const files = gathered.files.map(({ kind, spooled }): Attachment => {
    const name = nameFile(one.request, kind);
    return { name, title: name, mimetype: 'text/csv', content: { spooled } };
  });
  reporter.setPhase(
    'sending',
    gathered.files.reduce((sum, { length }) => sum + length, 0),
  );
  const slack = ports.slack(installationOf(row), reporter.signal);
  const { fileIds } = await slack.share(files, {
    channel: at.channel,
    comment: renderFileComment(one, figures, sha256),
    async beforeShare(ids) {
      await authorize(about);
      await checkAudience(about);
      reporter.setPhase('sharing');
      // Cancelling and sharing exclude each other: only a running export can move here.
      const change = {
        state: 'sharing',
        files: JSON.stringify(ids),
        row_count: rows,
        byte_count: bytes,
      } as const;
      if (!(await moveExport(db, { id: row.id, run, from: ['running'] }, change))) throw new ExportTaken();
      onSharing();
    },
  });
  return fileIds;
}

/** `events-501-20261118T1000Z-20261118T1200Z-spreadsheet.csv` */
function nameFile({ shieldZoneId, from, to }: ExportRequest, kind: GatheredFile['kind']): string {
  const [begin, end] = [from, to].map((at) => `${at.toISOString().slice(0, 16).replaceAll(/[-:]/gu, '')}Z`);
  return `events-${shieldZoneId}-${begin}-${end}${kind === 'safe' ? '-spreadsheet' : ''}.csv`;
}

const mostNamed = 3;
const longestName = 30;

/** What is stored with the outcome: no addresses and no URLs. */
function summarize({ bars, worstHour, top }: EventFigures): EventSummary {
  return { bars, worstHour, actions: nameMost(top.action), countries: nameMost(top.country) };
}

function nameMost(counted: EventFigures['top']['action']) {
  const most = (counted?.words ?? []).slice(0, mostNamed);
  return most.map(([word, count]) => [word.slice(0, longestName), count] as const);
}

function formatPause(ms: number): string {
  const seconds = Math.round(ms / 1000);
  return seconds < 600 ? `${seconds} s` : `${Math.round(seconds / 60)} min`;
}
