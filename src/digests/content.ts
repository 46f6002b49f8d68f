import { type RenderedDigest, renderDigest } from '../views/digests/post.ts';
import { collectFigures } from './kinds/collect.ts';
import { updateCodeBaselineAfterSilence } from './kinds/error-codes.ts';
import type { Baseline, Collected, CollectInput, DigestSubject, PastRun } from './model.ts';
import { baselineVersion, figuresVersion, maxFigures } from './model.ts';

export interface PreparedDigest extends RenderedDigest {
  readonly collected: Collected;
  /** What the digest remembers once this was said. */
  readonly book: Baseline;
}

const halfDayMs = 12 * 3_600_000;
const weekMs = 14 * halfDayMs;

/**
 * Makes a digest: the one way for a run and for a preview.
 *
 * @throws what asking the CDN throws.
 */
export async function prepareDigest(
  subject: DigestSubject,
  how: Omit<CollectInput, 'previous' | 'sameWeekday'>,
): Promise<PreparedDigest> {
  const { now, book: before } = how;
  // What is remembered is a part of what is compared with: without it this is a first run.
  const history = before ? how.history : [];
  const sameWeekday = weekBefore(history, now);
  const { collected, book } = await collectFigures(subject, {
    ...how,
    history,
    previous: history[0],
    sameWeekday,
  });
  return { collected, book, ...renderDigest(collected, { subject, now }) };
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
export function baselineAfterSilence(before: Baseline | undefined, found: Baseline): Baseline {
  const zones = before?.zones;
  const isSame = zones?.scope === found.zones?.scope && zones?.since === found.zones?.since;
  const codes = before?.codes && found.codes && updateCodeBaselineAfterSilence(before.codes, found.codes);
  return { ...found, ...(isSame && zones ? { zones } : {}), ...(codes ? { codes } : {}) };
}

/** What a digest remembers, as it was stored; undefined where there is nothing, or it cannot be read. */
export function readBaseline(body: string | null | undefined): Baseline | undefined {
  if (body === null || body === undefined) return undefined;
  try {
    const book = JSON.parse(body) as Baseline;
    return book.version === baselineVersion ? book : undefined;
  } catch {
    return undefined;
  }
}

/** Figures as they are stored. @throws Error where there are more than a row should hold. */
export function writeFigures(collected: Collected): string {
  const text = JSON.stringify(collected);
  if (text.length > maxFigures) throw new Error(`a digest found ${text.length} characters of figures`);
  return text;
}

/** Figures as they were stored; undefined where they cannot be read. */
export function readPastRun(row: {
  readonly due: Date;
  readonly figures: string | null;
}): PastRun | undefined {
  if (row.figures === null) return undefined;
  try {
    const figures = JSON.parse(row.figures) as Collected;
    return figures.version === figuresVersion ? { due: row.due, figures } : undefined;
  } catch {
    return undefined;
  }
}
