import { z } from 'zod';
import { type Posted, SlackFailure, type SlackPort } from '../outbox/slack-port.ts';
import { defineJob, type Job } from '../store/queue/define-job.ts';
import type { Log } from '../telemetry/log.ts';
import { renderElsewhere, renderProgress } from '../views/exports/exports.ts';
import { describePostFailure } from './failures.ts';
import { type FinishContext, finishExport } from './finish.ts';
import { createExportMarker, findExportMessage, isRetryable } from './message.ts';
import { showOutcome } from './notify-outcome.ts';
import { type ExportOutcome, readOutcome, toStoredFailure } from './outcome.ts';
import type { ExportContext, ExportPorts } from './ports.ts';
import { type ExportRow, findExport } from './queries/exports.ts';
import { markExportNotified, storeExportMessage } from './queries/outcomes.ts';
import { endUnclaimedExport, storeFirstMessage } from './queries/transitions.ts';
import { firstMessageOf, installationOf, toExportSummary } from './rows.ts';
import { runExportJob } from './run.ts';

const data = z.object({ id: z.string() });

/**
 * Looks after an export whose first message was on its way when no answer came, or when its process died: that message
 * is taken where it arrived, posted where it certainly did not, and where nobody can say the export ends. It is stored
 * with the export, for a moment when the posting is over; usually there is nothing to do then.
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

/** The message that will tell how far it is; found again by its marker. */
export async function postFirstMessage(slack: Pick<SlackPort, 'post'>, row: ExportRow): Promise<Posted> {
  const first = { phase: 'starting', rows: 0, bytes: 0, elapsedMs: 0, attempt: 1 } as const;
  const message = renderProgress(toExportSummary(row), first);
  return slack.post(row.channel ?? row.user_id, message, { marker: createExportMarker(row.id) });
}

type BeginContext = FinishContext & { readonly ports: Pick<ExportPorts, 'slack'>; readonly log: Log };

/** Its message is there: it may run. Where it ended meanwhile, the message says so. */
export async function beginExport(
  { db, ports, now, log }: BeginContext,
  id: string,
  at: Posted,
): Promise<'begun' | 'ended'> {
  const goesOn = await db.transaction().execute(async (trx) => {
    if (!(await storeFirstMessage(trx, id, at))) return false;
    await ports.enqueue(runExportJob, { id }, { in: trx });
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

/** Nobody knows whether its message arrived: nothing was asked of the CDN, and nothing will be. */
export async function endAsNotBegun(context: FinishContext, id: string, told?: Date): Promise<void> {
  await giveUp(context, id, { kind: 'not-begun' }, told);
}

/** `told`: the person reads it elsewhere. */
async function giveUp(context: FinishContext, id: string, ending: ExportOutcome, told?: Date): Promise<void> {
  await finishExport(context, { id, ending }, async (trx, end) => {
    const ended = await endUnclaimedExport(trx, id, 'failed', { end });
    if (ended && told) await markExportNotified(trx, id, told);
    return ended;
  });
}
