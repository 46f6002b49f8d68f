import { z } from 'zod';
import { type Posted, SlackFailure, type SlackPort } from '../outbox/slack-port.ts';
import { defineJob, type Job } from '../store/queue/define-job.ts';
import type { Log } from '../telemetry/log.ts';
import { renderElsewhere, renderProgress } from '../views/exports/exports.ts';
import { describePostFailure } from './failures.ts';
import { type FinishContext, finishExport } from './finish.ts';
import { createExportMarker, findExportMessage, isRetryable, showOutcome } from './notify-outcome.ts';
import { type ExportOutcome, readOutcome, toStoredFailure } from './outcome.ts';
import type { ExportContext, ExportPorts } from './ports.ts';
import {
  type ExportRow,
  findExport,
  firstMessageOf,
  installationOf,
  toExportSummary,
} from './queries/exports.ts';
import {
  failUnbegunExport,
  markExportNotified,
  storeExportMessage,
  storeFirstMessage,
} from './queries/transitions.ts';
import { runExportJob } from './run.ts';

const data = z.object({ id: z.string() });

/**
 * Finds the first message of an export whose process died, or whose post Slack did not answer. A message that certainly
 * did not arrive is posted again; if Slack cannot say, the export ends. The job is stored with the export and runs when
 * posting is over; usually it has nothing to do.
 */
export const beginExportJob: Job<z.input<typeof data>, ExportPorts> = defineJob({
  name: 'export-begin',
  data,
  retries: 5,
  timeLimitSeconds: 120,
  async run({ id }, context: ExportContext) {
    const { db, ports, log, signal } = context;
    const row = await findExport(db, id);
    if (!row || row.state !== 'asked') return;
    const slack = ports.slack(installationOf(row), signal);
    try {
      const found = await findExportMessage(slack, row);
      if (found === 'nobody-knows') return await endAsNotBegun(context, id);
      await beginExport(context, id, found === 'absent' ? await postFirstMessage(slack, row) : found);
    } catch (error) {
      if (!(error instanceof SlackFailure)) throw error;
      if (isRetryable(error) && !context.lastAttempt) throw error;
      log.warn({ error, id }, 'an export did not begin');
      if (isRetryable(error)) return endAsNotBegun(context, id);
      const why = ports.explain(describePostFailure(error, row.channel ?? undefined), 'event-logs');
      await giveUp(context, id, { kind: 'failed', failure: toStoredFailure(why), offers: [] });
    }
  },
});

/** Posts the message that shows progress. Its marker finds it again. */
export async function postFirstMessage(slack: Pick<SlackPort, 'post'>, row: ExportRow): Promise<Posted> {
  const first = { phase: 'starting', rows: 0, bytes: 0, elapsedMs: 0, attempt: 1 } as const;
  const message = renderProgress(toExportSummary(row), first);
  return slack.post(row.channel ?? row.user_id, message, { marker: createExportMarker(row.id) });
}

type BeginContext = FinishContext & { readonly ports: Pick<ExportPorts, 'slack'>; readonly log: Log };

/** Enqueues an export whose message was posted. If it has ended meanwhile, the message shows the outcome. */
export async function beginExport(
  { db, ports, now, log }: BeginContext,
  id: string,
  at: Posted,
): Promise<'begun' | 'ended'> {
  const goesOn = await db.transaction().execute(async (trx) => {
    if (!(await storeFirstMessage(trx, id, at))) return false;
    await ports.enqueue(runExportJob, { id }, { in: trx, key: id });
    return true;
  });
  if (goesOn) return 'begun';
  const row = await findExport(db, id);
  if (!row) return 'ended';
  const slack = ports.slack(installationOf(row), new AbortController().signal);
  const known = firstMessageOf(row);
  if (known && known.ts !== at.ts) {
    await slack.update(at, renderElsewhere(toExportSummary(row))).catch(later);
    return 'begun';
  }
  await storeExportMessage(db, id, at);
  const ending = readOutcome(row);
  if (ending && (await showOutcome(slack, at, row, ending).catch(later)))
    await markExportNotified(db, id, now());
  return 'ended';

  function later(error: unknown): void {
    log.warn({ error, id }, 'a message of an export could not be changed');
  }
}

/** Ends an export whose first message may or may not have arrived. The CDN was not asked. */
export async function endAsNotBegun(context: FinishContext, id: string, told?: Date): Promise<void> {
  await giveUp(context, id, { kind: 'not-begun' }, told);
}

/** `told`: when the person was told elsewhere. */
async function giveUp(context: FinishContext, id: string, ending: ExportOutcome, told?: Date): Promise<void> {
  await finishExport(context, { id, ending }, async (trx, end) => {
    const ended = await failUnbegunExport(trx, id, end);
    if (ended && told) await markExportNotified(trx, id, told);
    return ended;
  });
}
