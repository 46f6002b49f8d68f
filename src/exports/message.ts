import { type Marker, type Posted, SlackFailure, type SlackPort } from '../outbox/slack-port.ts';
import type { ExportRow } from './queries/exports.ts';

/** By then Slack has taken a message or never will: it is given ten seconds to answer. */
export const settleMs = 15_000;

/** What finds the message of an export again. */
export function createExportMarker(id: string): Marker {
  return { type: 'export_progress', payload: { export: id } };
}

/**
 * Where the message of an export is. Direct messages cannot be looked through, nor a channel where the workspace does
 * not allow it: nobody knows then.
 *
 * @throws SlackFailure where asking again may help.
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

/** Whether the same call may work later: a pause that Slack asks for, an answer that got lost. */
export function isRetryable({ code, outcome }: SlackFailure): boolean {
  return code === 'ratelimited' || outcome === 'unknown';
}
