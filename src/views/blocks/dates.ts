/**
 * A moment in the reader's time zone, with UTC as the fallback.
 * https://docs.slack.dev/messaging/formatting-message-text#date-formatting
 */
export function formatMoment(at: Date): string {
  const utc = `${at.toISOString().slice(0, 16).replace('T', ' ')} UTC`;
  return `<!date^${Math.floor(at.getTime() / 1000)}^{date_short_pretty} {time}|${utc}>`;
}

const months = 'Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec'.split(' ');

/** `2026-11-03` → `3 Nov`. */
export function formatShortDay(day: string): string {
  const [, month, date] = day.split('-').map(Number);
  return `${date} ${months[(month ?? 1) - 1]}`;
}

/** `3 Nov 2026`. */
export function formatLongDay(day: string): string {
  return `${formatShortDay(day)} ${day.slice(0, 4)}`;
}

/** Moments in UTC in the shortest clear form: `3 Nov` if all are midnights, `14:00` within one day, else both. */
export function formatShortMoments(at: readonly number[]): string[] {
  const iso = at.map((ms) => new Date(ms).toISOString());
  const days = new Set(iso.map((text) => text.slice(0, 10)));
  if (iso.every((text) => text.slice(11, 19) === '00:00:00'))
    return iso.map((text) => formatShortDay(text.slice(0, 10)));
  return iso.map((text) => {
    const time = text.slice(11, 16);
    return days.size === 1 ? time : `${formatShortDay(text.slice(0, 10))} ${time}`;
  });
}
