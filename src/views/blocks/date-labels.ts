const months = 'Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec'.split(' ');

/** `2026-11-03` → `3 Nov`: no reader takes the month for the day. */
export function formatShortDay(day: string): string {
  const [, month, date] = day.split('-').map(Number);
  return `${date} ${months[(month ?? 1) - 1]}`;
}

/** `3 Nov 2026`. */
export function formatLongDay(day: string): string {
  return `${formatShortDay(day)} ${day.slice(0, 4)}`;
}

/** Moments in UTC, as short as tells them apart: `3 Nov` at midnights, `14:00` within a day, else both. */
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
