import { z } from 'zod';
import { UserError } from '../errors.ts';
import { minuteMs } from '../lib/time.ts';
import { type Posted, SlackFailure, type SlackPort } from '../outbox/slack-port.ts';
import { defineJob, type Job } from '../store/queue/define-job.ts';
import type { Message } from '../views/blocks/message.ts';
import type { NotifiedWhere } from '../views/exports/outcome-messages.ts';
import { findExportMessage, isRetryable, settleMs } from './message.ts';
import { type ExportOutcome, readOutcome, renderBlockedOutcome, renderOutcome } from './outcome.ts';
import type { ExportContext, ExportPorts } from './ports.ts';
import { type ExportRow, findExport } from './queries/exports.ts';
import { markExportNotified, storeExportMessage } from './queries/outcomes.ts';
import { firstMessageOf, installationOf } from './rows.ts';

const data = z.object({ id: z.string(), trial: z.int().default(1) });

// After an hour without Slack nobody waits; a press on the message still shows the end.
const mostTrials = 16;
const longestPauseMs = 5 * minuteMs;

/**
 * Brings the end of an export to people: its message becomes the outcome; where that message is gone (deleted, the
 * channel archived), the person hears it directly. Tried again until Slack has taken it.
 */
export const notifyOutcomeJob: Job<z.input<typeof data>, ExportPorts> = defineJob({
  name: 'export-end',
  data,
  atOnce: 4,
  retries: 10,
  timeLimitSeconds: 120,
  async run({ id, trial }, context: ExportContext) {
    const { db, ports, log, now } = context;
    const row = await findExport(db, id);
    const ending = row && readOutcome(row);
    if (!row || !ending || row.told_at !== null) return;
    const settledAt = new Date(row.asked_at.getTime() + settleMs);
    if (row.message_ts === null && ending.kind === 'cancelled' && settledAt > now()) {
      // Before its message was there: whoever posts that says in it how it ended.
      await ports.enqueue(notifyOutcomeJob, { id, trial }, { at: settledAt });
      return;
    }
    try {
      await tell(row, ending, context);
      await markExportNotified(db, id, now());
    } catch (error) {
      // The app was taken out of that workspace: nobody is left to tell.
      if (error instanceof UserError) return markExportNotified(db, id, now());
      if (!(error instanceof SlackFailure)) throw error;
      if (trial >= mostTrials) return log.error({ error, id }, 'the end of an export could not be told');
      log.warn({ error, id, trial }, 'the end of an export is told again');
      const pauseMs = Math.max((error.retryAfterSeconds ?? 0) * 1000, 1000 * 2 ** (trial - 1));
      const at = new Date(now().getTime() + Math.min(longestPauseMs, pauseMs));
      await ports.enqueue(notifyOutcomeJob, { id, trial: trial + 1 }, { at });
    }
  },
});

/** @throws SlackFailure where it is to be tried again. */
async function tell(
  row: ExportRow,
  ending: ExportOutcome,
  { db, ports, log, signal }: ExportContext,
): Promise<void> {
  const slack = ports.slack(installationOf(row), signal);
  const at = firstMessageOf(row) ?? (await findExportMessage(slack, row));
  if (typeof at === 'object') {
    await storeExportMessage(db, row.id, at);
    if (await showOutcome(slack, at, row, ending)) return;
  }
  try {
    await saying(row, ending, 'directly', (message) => slack.post(row.user_id, message));
  } catch (error) {
    if (!(error instanceof SlackFailure) || error.code === 'ratelimited') throw error;
    // Better once than twice: where no answer came, it may be there.
    log.error({ error, id: row.id }, 'nobody knows whether the end of an export was heard');
  }
}

/**
 * Puts the end of an export in the place of a message. False where that cannot be changed any more.
 *
 * @throws SlackFailure where it may be tried again: a pause that Slack asks for, an answer that got lost.
 */
export async function showOutcome(
  slack: Pick<SlackPort, 'update'>,
  at: Posted,
  row: ExportRow,
  ending: ExportOutcome,
): Promise<boolean> {
  try {
    await saying(row, ending, 'there', (message) => slack.update(at, message));
    return true;
  } catch (error) {
    if (!(error instanceof SlackFailure)) throw error;
    if (isRetryable(error)) throw error;
    return false;
  }
}

/** Says how it ended, and where that is held back the same without what was typed. */
async function saying(
  row: ExportRow,
  ending: ExportOutcome,
  where: NotifiedWhere,
  say: (message: Message) => Promise<unknown>,
): Promise<void> {
  try {
    await say(renderOutcome(row, ending, where));
  } catch (error) {
    if (!(error instanceof SlackFailure && error.code === 'held_back')) throw error;
    await say(renderBlockedOutcome(row, ending, error.reference));
  }
}
