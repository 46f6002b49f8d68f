import { dayMs } from '../../lib/time.ts';

/**
 * A moment in the reader's own time zone; where Slack cannot draw it, in UTC.
 * https://docs.slack.dev/messaging/formatting-message-text#date-formatting
 */
export function formatMoment(at: Date): string {
  const utc = `${at.toISOString().slice(0, 16).replace('T', ' ')} UTC`;
  return `<!date^${Math.floor(at.getTime() / 1000)}^{date_short_pretty} {time}|${utc}>`;
}

/** A day so many days after another, both as `2026-11-21`. */
export function formatDate(day: string, after: number): string {
  return new Date(Date.parse(`${day}T00:00:00Z`) + after * dayMs).toISOString().slice(0, 10);
}
