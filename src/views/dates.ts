/**
 * A moment in the reader's own time zone; where Slack cannot draw it, in UTC.
 * https://docs.slack.dev/messaging/formatting-message-text#date-formatting
 */
export function moment(at: Date): string {
  return slackDate(at, '{date_short_pretty} {time}');
}

/** Only the clock, for "as of" where the day is clear. */
export function clock(at: Date): string {
  return slackDate(at, '{time}');
}

function slackDate(at: Date, format: string): string {
  return `<!date^${Math.floor(at.getTime() / 1000)}^${format}|${at.toISOString().slice(0, 16).replace('T', ' ')} UTC>`;
}
