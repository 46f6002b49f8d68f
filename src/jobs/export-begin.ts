import { z } from 'zod';
import type { Log } from '../log.ts';
import { exportTold, foundMessage } from '../store/export-endings.ts';
import { announceExport, endIdleExport } from '../store/export-moves.ts';
import { type ExportRow, findExport } from '../store/exports.ts';
import { exportElsewhere, exportProgress } from '../views/event-logs.ts';
import { defineJob, type Job } from './define.ts';
import { type Ending, endingOf, failureOf } from './export-endings.ts';
import { type EndContext, endExport } from './export-ends.ts';
import { whyNotPosted } from './export-failures.ts';
import { comesBack, exportMarker, lookUpMessage } from './export-message.ts';
import { messageOf, placeOf, summaryOf } from './export-rows.ts';
import { exportJob } from './export-run.ts';
import { showEnd } from './export-telling.ts';
import { type Ports, type Posted, SlackFailure, type SlackPort } from './ports.ts';

const data = z.object({ id: z.string() });

/**
 * Looks after an export whose first message was on its way when no answer came, or when its process died: that message
 * is taken where it arrived, posted where it certainly did not, and where nobody can say the export ends. It is stored
 * with the export, for a moment when the posting is over; usually there is nothing to do then.
 */
export const exportBegin: Job<z.input<typeof data>> = defineJob({
  name: 'export-begin',
  data,
  retries: 5,
  timeLimitSeconds: 120,
  async run({ id }, context) {
    const { db, ports, log, signal } = context;
    const row = await findExport(db, id);
    if (!row || row.state !== 'asked') return;
    const slack = ports.slack(placeOf(row), signal);
    try {
      const found = await lookUpMessage(slack, row);
      if (found === 'nobody-knows') return await notBegun(context, id);
      await beginExport(context, id, found === 'absent' ? await postFirst(slack, row) : found);
    } catch (error) {
      if (!(error instanceof SlackFailure)) throw error;
      if (comesBack(error) && !context.lastAttempt) throw error;
      log.warn({ error, id }, 'an export did not begin');
      if (comesBack(error)) return notBegun(context, id);
      const why = ports.explain(whyNotPosted(error, row.channel ?? undefined), 'event-logs');
      await giveUp(context, id, { kind: 'failed', failure: failureOf(why), offers: [] });
    }
  },
});

/** The message that will tell how far it is; found again by its marker. */
export async function postFirst(slack: Pick<SlackPort, 'post'>, row: ExportRow): Promise<Posted> {
  const first = { phase: 'starting', rows: 0, bytes: 0, elapsedMs: 0, attempt: 1 } as const;
  const message = exportProgress(summaryOf(row), first);
  return slack.post(row.channel ?? row.user_id, message, { marker: exportMarker(row.id) });
}

type BeginContext = EndContext & { readonly ports: Pick<Ports, 'slack'>; readonly log: Log };

/** Its message is there: it may run. Where it ended meanwhile, the message says so. */
export async function beginExport(
  { db, ports, now, log }: BeginContext,
  id: string,
  at: Posted,
): Promise<'begun' | 'ended'> {
  const goesOn = await db.transaction().execute(async (trx) => {
    if (!(await announceExport(trx, id, at))) return false;
    await ports.enqueue(exportJob, { id }, { in: trx });
    return true;
  });
  if (goesOn) return 'begun';
  const row = await findExport(db, id);
  if (!row) return 'ended';
  const slack = ports.slack(placeOf(row), new AbortController().signal);
  const known = messageOf(row);
  if (known && known.ts !== at.ts) {
    await slack.update(at, exportElsewhere(summaryOf(row))).catch(later);
    return 'begun';
  }
  await foundMessage(db, id, at);
  const ending = endingOf(row);
  if (ending && (await showEnd(slack, at, row, ending).catch(later))) await exportTold(db, id, now());
  return 'ended';

  function later(error: unknown): void {
    log.warn({ error, id }, 'a message of an export could not be changed');
  }
}

/** Nobody knows whether its message arrived: nothing was asked of the CDN, and nothing will be. */
export async function notBegun(context: EndContext, id: string, told?: Date): Promise<void> {
  await giveUp(context, id, { kind: 'not-begun' }, told);
}

/** `told`: the person reads it elsewhere. */
async function giveUp(context: EndContext, id: string, ending: Ending, told?: Date): Promise<void> {
  await endExport(context, { id, ending }, async (trx, end) => {
    const ended = await endIdleExport(trx, id, 'failed', { end });
    if (ended && told) await exportTold(trx, id, told);
    return ended;
  });
}
