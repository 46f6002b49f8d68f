import { z } from 'zod';
import { UserError } from '../errors.ts';
import { minuteMs } from '../lib/time.ts';
import { type Marker, type Posted, SlackFailure, type SlackPort } from '../outbox/slack-port.ts';
import { defineJob, type Job } from '../store/queue/define-job.ts';
import type { Message } from '../views/blocks/message.ts';
import type { NotifiedWhere } from '../views/exports/outcome-messages.ts';
import { type ExportOutcome, readOutcome, renderBlockedOutcome, renderOutcome } from './outcome.ts';
import type { ExportContext, ExportPorts } from './ports.ts';
import { type ExportRow, findExport, firstMessageOf, installationOf } from './queries/exports.ts';
import { markExportNotified, storeExportMessage } from './queries/transitions.ts';

const data = z.object({ id: z.string(), trial: z.int().default(1) });

// About an hour. After that a press on the message still shows the outcome.
const mostTrials = 16;
const longestPauseMs = 5 * minuteMs;

/**
 * Shows the outcome of an export: its message becomes the outcome. If that message is gone (deleted, channel archived),
 * the person gets a direct message. Retried until Slack accepts it.
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
      // Its first message is still being posted, and will show the outcome.
      await ports.enqueue(notifyOutcomeJob, { id, trial }, { at: settledAt });
      return;
    }
    try {
      await tell(row, ending, context);
      await markExportNotified(db, id, now());
    } catch (error) {
      // The app was removed from that workspace.
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

/** @throws SlackFailure if a retry may help. */
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
    // Slack may have posted it: never post twice.
    log.error({ error, id: row.id }, 'nobody knows whether the end of an export was heard');
  }
}

/**
 * Replaces a message by the outcome. False if the message cannot be changed any more.
 *
 * @throws SlackFailure if a retry may help: Slack is rate limiting, or did not answer.
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

/** Shows the outcome; if the secret scanner blocks it, the outcome without the request. */
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

/** Slack gets ten seconds to answer: after this, a post has arrived or never will. */
export const settleMs = 15_000;

/** The marker in the metadata of an export's message. */
export function createExportMarker(id: string): Marker {
  return { type: 'export_progress', payload: { export: id } };
}

/**
 * Finds the message of an export. The bot cannot search direct messages, nor channels where it lacks the scope:
 * `nobody-knows` then.
 *
 * @throws SlackFailure if a retry may help.
 */
export async function findExportMessage(
  slack: Pick<SlackPort, 'find'>,
  { id, channel, asked_at: askedAt }: ExportRow,
): Promise<Posted | 'absent' | 'nobody-knows'> {
  if (channel === null) return 'nobody-knows';
  try {
    return (await slack.find(createExportMarker(id), { channel, since: askedAt })) ?? 'absent';
  } catch (error) {
    if (!(error instanceof SlackFailure) || isRetryable(error)) throw error;
    return 'nobody-knows';
  }
}

/** True if the same call may work later: Slack is rate limiting, or did not answer. */
export function isRetryable({ code, outcome }: SlackFailure): boolean {
  return code === 'ratelimited' || outcome === 'unknown';
}
