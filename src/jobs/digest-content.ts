import type { Book, Collected, CollectInput, DigestSubject, PastRun } from '../reports/digest.ts';
import { bookVersion, figuresVersion, mostFigures } from '../reports/digest.ts';
import { codesAfterSilence } from '../reports/digest-codes.ts';
import { collect } from '../reports/digest-collect.ts';
import { type DrawnDigest, drawDigest } from '../views/digest.ts';

export interface Prepared extends DrawnDigest {
  readonly collected: Collected;
  /** What the digest remembers once this was said. */
  readonly book: Book;
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
  const { now, book: before } = how;
  // What is remembered is a part of what is compared with: without it this is a first run.
  const history = before ? how.history : [];
  const sameWeekday = weekBefore(history, now);
  const { collected, book } = await collect(subject, { ...how, history, previous: history[0], sameWeekday });
  return { collected, book, ...drawDigest(collected, { subject, now }) };
}

/** The run nearest to the same moment a week ago, within half a day: clocks may have changed, and runs be late. */
function weekBefore(history: readonly PastRun[], now: Date): PastRun | undefined {
  const far = ({ due }: PastRun): number => Math.abs(due.getTime() - (now.getTime() - weekMs));
  const near = history.filter((run) => far(run) <= halfDayMs);
  return near.toSorted((a, b) => far(a) - far(b))[0];
}

/**
 * What a digest remembers of a run that said nothing: what people were told before, so that its next post tells of all
 * that changed since. What was never told, in a first run, is where it begins.
 */
export function afterSilence(before: Book | undefined, found: Book): Book {
  const zones = before?.zones;
  const isSame = zones?.scope === found.zones?.scope && zones?.since === found.zones?.since;
  const codes = before?.codes && found.codes && codesAfterSilence(before.codes, found.codes);
  return { ...found, ...(isSame && zones ? { zones } : {}), ...(codes ? { codes } : {}) };
}

/** What a digest remembers, as it was stored; undefined where there is nothing, or it cannot be read. */
export function bookOf(body: string | null | undefined): Book | undefined {
  if (body === null || body === undefined) return undefined;
  try {
    const book = JSON.parse(body) as Book;
    return book.version === bookVersion ? book : undefined;
  } catch {
    return undefined;
  }
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
