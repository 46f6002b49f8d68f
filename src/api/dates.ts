import { isExists } from 'date-fns/isExists';
import { parseISO } from 'date-fns/parseISO';

/** The day of a log path: MM-dd-yyyy, the UTC day that `at` lies in (cdn-api.md §2.4). Month first, here only. */
export function pathDay(at: Date): string {
  const [year, month, day] = at.toISOString().slice(0, 10).split('-');
  return `${month}-${day}-${year}`;
}

/**
 * The day of a shield map's key, as `yyyy-MM-dd`: keys are dd-MM-yyyy or ISO (cdn-api.md §2.7). Anything else,
 * a day that does not exist included, is undefined: show the key as it came, and never guess month first.
 */
export function shieldDay(key: string): string | undefined {
  const iso = /^(\d{4})-(\d{2})-(\d{2})(?:T.*)?$/.exec(key);
  const [, year, month, day] = iso ?? [];
  if (iso) return existing(year, month, day);
  const dayFirst = /^(\d{2})-(\d{2})-(\d{4})$/.exec(key);
  return dayFirst ? existing(dayFirst[3], dayFirst[2], dayFirst[1]) : undefined;
}

/** ISO text → ms since the epoch; without a zone it is UTC (cdn-api.md §1.5). Undefined where it is no time. */
export function isoTime(text: string): number | undefined {
  if (!/^\d{4}-\d{2}-\d{2}/.test(text)) return undefined;
  const hasTime = /\d[T ]\d/.test(text);
  const hasZone = /(?:Z|[+-]\d{2}:?\d{2})$/i.test(text);
  const at = parseISO(hasTime ? (hasZone ? text : `${text}Z`) : `${text}T00:00:00Z`).getTime();
  return Number.isNaN(at) ? undefined : at;
}

/** A timestamp in ms; what can only be seconds is read as such (cdn-api.md §6). */
export function epochMs(timestamp: number): number {
  return Math.abs(timestamp) < 1e11 ? timestamp * 1000 : timestamp;
}

function existing(year = '', month = '', day = ''): string | undefined {
  return isExists(Number(year), Number(month) - 1, Number(day)) ? `${year}-${month}-${day}` : undefined;
}
