import { z } from 'zod';
import { UserError } from '../errors.ts';
import { exportTold, foundMessage } from '../store/export-endings.ts';
import { type ExportRow, findExport } from '../store/exports.ts';
import type { Told } from '../views/event-log-ends.ts';
import type { Message } from '../views/message.ts';
import { defineJob, type Job, type JobContext } from './define.ts';
import { type Ending, endingOf, endMessage, withheldEnd } from './export-endings.ts';
import { comesBack, lookUpMessage, settleMs } from './export-message.ts';
import { messageOf, placeOf } from './export-rows.ts';
import { type Posted, SlackFailure, type SlackPort } from './ports.ts';

const data = z.object({ id: z.string(), trial: z.int().default(1) });

// After an hour without Slack nobody waits; a press on the message still shows the end.
const mostTrials = 16;
const longestPauseMs = 5 * 60_000;

/**
 * Brings the end of an export to people: its message becomes the outcome; where that message is gone (deleted, the
 * channel archived), the person hears it directly. Tried again until Slack has taken it.
 */
export const exportEnd: Job<z.input<typeof data>> = defineJob({
  name: 'export-end',
  data,
  atOnce: 4,
  retries: 10,
  timeLimitSeconds: 120,
  async run({ id, trial }, context) {
    const { db, ports, log, now } = context;
    const row = await findExport(db, id);
    const ending = row && endingOf(row);
    if (!row || !ending || row.told_at !== null) return;
    const settledAt = new Date(row.asked_at.getTime() + settleMs);
    if (row.message_ts === null && ending.kind === 'cancelled' && settledAt > now()) {
      // Before its message was there: whoever posts that says in it how it ended.
      await ports.enqueue(exportEnd, { id, trial }, { at: settledAt });
      return;
    }
    try {
      await tell(row, ending, context);
      await exportTold(db, id, now());
    } catch (error) {
      // The app was taken out of that workspace: nobody is left to tell.
      if (error instanceof UserError) return exportTold(db, id, now());
      if (!(error instanceof SlackFailure)) throw error;
      if (trial >= mostTrials) return log.error({ error, id }, 'the end of an export could not be told');
      log.warn({ error, id, trial }, 'the end of an export is told again');
      const pauseMs = Math.max((error.retryAfterSeconds ?? 0) * 1000, 1000 * 2 ** (trial - 1));
      const at = new Date(now().getTime() + Math.min(longestPauseMs, pauseMs));
      await ports.enqueue(exportEnd, { id, trial: trial + 1 }, { at });
    }
  },
});

/** @throws SlackFailure where it is to be tried again. */
async function tell(row: ExportRow, ending: Ending, { db, ports, log, signal }: JobContext): Promise<void> {
  const slack = ports.slack(placeOf(row), signal);
  const at = messageOf(row) ?? (await lookUpMessage(slack, row));
  if (typeof at === 'object') {
    await foundMessage(db, row.id, at);
    if (await showEnd(slack, at, row, ending)) return;
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
export async function showEnd(
  slack: Pick<SlackPort, 'update'>,
  at: Posted,
  row: ExportRow,
  ending: Ending,
): Promise<boolean> {
  try {
    await saying(row, ending, 'there', (message) => slack.update(at, message));
    return true;
  } catch (error) {
    if (!(error instanceof SlackFailure)) throw error;
    if (comesBack(error)) throw error;
    return false;
  }
}

/** Says how it ended, and where that is held back the same without what was typed. */
async function saying(
  row: ExportRow,
  ending: Ending,
  where: Told,
  say: (message: Message) => Promise<unknown>,
): Promise<void> {
  try {
    await say(endMessage(row, ending, where));
  } catch (error) {
    if (!(error instanceof SlackFailure && error.code === 'held_back')) throw error;
    await say(withheldEnd(row, ending, error.reference));
  }
}
