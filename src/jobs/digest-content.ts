import type { Collected, CollectInput, DigestSubject, PastRun } from '../reports/digest.ts';
import { figuresVersion, mostFigures } from '../reports/digest.ts';
import { collect } from '../reports/digest-collect.ts';
import { type DrawnDigest, drawDigest } from '../views/digest.ts';

export interface Prepared extends DrawnDigest {
  readonly collected: Collected;
}

const halfDayMs = 12 * 3_600_000;
const weekMs = 14 * halfDayMs;

/**
 * Makes a digest: the one way for a run and for a preview.
 *
 * @throws what asking the CDN throws.
 */
export async function prepare(
  subject: DigestSubject,
  how: Omit<CollectInput, 'previous' | 'sameWeekday'>,
): Promise<Prepared> {
  const { now, history } = how;
  const weekAgo = now.getTime() - weekMs;
  const sameWeekday = history.find(({ due }) => Math.abs(due.getTime() - weekAgo) <= halfDayMs);
  const collected = await collect(subject, { ...how, previous: history[0], sameWeekday });
  return { collected, ...drawDigest(collected, { subject, now }) };
}

/** Figures as they are stored. @throws Error where there are more than a row should hold. */
export function storedFigures(collected: Collected): string {
  const text = JSON.stringify(collected);
  if (text.length > mostFigures) throw new Error(`a digest found ${text.length} characters of figures`);
  return text;
}

/** Figures as they were stored; undefined where they cannot be read. */
export function pastRun(row: { readonly due: Date; readonly figures: string | null }): PastRun | undefined {
  if (row.figures === null) return undefined;
  try {
    const figures = JSON.parse(row.figures) as Collected;
    return figures.version === figuresVersion ? { due: row.due, figures } : undefined;
  } catch {
    return undefined;
  }
}
