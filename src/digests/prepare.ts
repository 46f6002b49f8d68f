import type { CdnClient } from '../api/cdn.ts';
import { ApiError } from '../api/http/errors.ts';
import { dayMs } from '../lib/time.ts';
import { type RenderedDigest, renderDigest } from '../views/digests/post.ts';
import type { Past } from './figures/series.ts';
import { OutOfTime, type ReadFailure, throwIfAborted, type ZoneList } from './kinds/kind.ts';
import { digestKinds } from './kinds/list.ts';
import {
  baselineVersion,
  type Collected,
  type DigestBaseline,
  type DigestSubject,
  type FailureWords,
  figuresVersion,
  type PastRun,
  type UnreadPart,
} from './model.ts';

export interface PrepareOptions {
  readonly cdn: CdnClient;
  /** The moment that the digest speaks of. */
  readonly now: Date;
  /** Newest first, at most 60. */
  readonly history: readonly PastRun[];
  readonly baseline: DigestBaseline | undefined;
  /** Aborts when the bot stops or the run took too long. */
  readonly signal: AbortSignal;
  /** A failure in words (mrkdwn, escaped), with the reference that is in the log. */
  readonly explain: (error: unknown) => FailureWords;
  /** After so long no further log is requested. Default 90 s. */
  readonly patienceMs?: number;
}

export interface PreparedDigest extends RenderedDigest {
  readonly collected: Collected;
  /** What the digest remembers once this is posted. */
  readonly baseline: DigestBaseline;
}

/**
 * Collects and renders a digest: the same code for a run and for a preview.
 *
 * @throws ApiError where the key is refused, where the signal aborted, and where nothing at all could be read.
 */
export async function prepareDigest(
  subject: DigestSubject,
  options: PrepareOptions,
): Promise<PreparedDigest> {
  const { collected, baseline } = await collectFigures(subject, options);
  return { collected, baseline, ...renderDigest(collected, subject) };
}

/** Reads every kind from the CDN and compares it with earlier runs. */
async function collectFigures(
  subject: DigestSubject,
  options: PrepareOptions,
): Promise<{ readonly collected: Collected; readonly baseline: DigestBaseline }> {
  const { cdn, now, signal, patienceMs } = options;
  // Runs are compared by name through the baseline: without it this is a first run.
  const history = options.baseline ? options.history : [];
  const week = findWeekBefore(history, now);
  let list: Promise<ZoneList> | undefined;
  const zoneList = (): Promise<ZoneList> => (list ??= cdn.pullZones.all());

  const figures: Record<string, unknown> = {};
  const byKind: Record<string, unknown> = { ...options.baseline?.byKind };
  const unread: UnreadPart[] = [];
  let firstFailure: ReadFailure | undefined;
  for (const kind of digestKinds.filter(({ name }) => subject.kinds.includes(name))) {
    const { name } = kind;
    const read = ({ figures }: PastRun): Past<unknown>[] =>
      figures[name] === undefined ? [] : [{ at: Date.parse(figures.at), figures: figures[name] }];
    const found = await kind
      .collect({
        cdn,
        now,
        targets: subject.targets,
        zoneList,
        past: history.flatMap(read),
        weekBefore: week && read(week)[0],
        baseline: byKind[name],
        signal,
        ...(patienceMs === undefined ? {} : { patienceMs }),
      })
      .catch((reason: unknown) => ({ figures: undefined, baseline: undefined, failures: [{ reason }] }));
    const failures = found.failures ?? [];
    for (const { reason } of failures) throwIfFatal(reason, signal);
    firstFailure ??= failures[0];
    unread.push(...describeFailures(failures, options).map((part) => ({ kind: name, ...part })));
    if (found.figures !== undefined) figures[name] = found.figures;
    if (found.baseline !== undefined) byKind[name] = found.baseline;
  }
  if (Object.keys(figures).length === 0 && firstFailure) throw firstFailure.reason;
  return {
    collected: shrinkFigures({ version: figuresVersion, at: now.toISOString(), ...figures, unread }),
    baseline: { version: baselineVersion, byKind },
  };
}

function throwIfFatal(reason: unknown, signal: AbortSignal): void {
  if (reason instanceof ApiError && (reason.code === 'key_refused' || reason.code === 'cancelled'))
    throw reason;
  throwIfAborted(signal);
}

const mostDescribed = 3;

/** The first few failures in words, the others as a number. */
function describeFailures(
  failures: readonly ReadFailure[],
  { explain }: PrepareOptions,
): Omit<UnreadPart, 'kind'>[] {
  return failures.slice(0, mostDescribed).map(({ what, reason }, index) => {
    const { message, reference }: FailureWords =
      reason instanceof OutOfTime ? { message: 'There was no time left for it.' } : explain(reason);
    return {
      message: message.slice(0, 500),
      reference,
      ...(what === undefined ? {} : { what: what.slice(0, 100) }),
      more: index === mostDescribed - 1 ? failures.length - mostDescribed : 0,
    };
  });
}

/** The run nearest to the same moment a week ago, within half a day: clocks may have changed, and runs be late. */
function findWeekBefore(history: readonly PastRun[], now: Date): PastRun | undefined {
  const distance = ({ due }: PastRun): number => Math.abs(due.getTime() - (now.getTime() - 7 * dayMs));
  return history.filter((run) => distance(run) <= dayMs / 2).toSorted((a, b) => distance(a) - distance(b))[0];
}

/** Figures in characters of JSON: each run's are stored, and sixty of them are read for the next. */
const wantedLength = 50_000;
const mostLength = 65_536;

/** Shrinks kind by kind until it fits; the next run then compares less by name. */
export function shrinkFigures(collected: Collected): Collected {
  return digestKinds.toReversed().reduce((found, { name, shrink }) => {
    const figures = found[name];
    if (!shrink || figures === undefined || JSON.stringify(found).length <= wantedLength) return found;
    return { ...found, [name]: shrink(figures) };
  }, collected);
}

/** @throws Error where there are more than a row should hold. */
export function writeFigures(collected: Collected): string {
  const text = JSON.stringify(collected);
  if (text.length > mostLength) throw new Error(`the figures of a digest have ${text.length} characters`);
  return text;
}

/** Undefined where they cannot be read. */
export function readPastRun({
  due,
  figures: text,
}: {
  due: Date;
  figures: string | null;
}): PastRun | undefined {
  const figures = parseVersion(text, figuresVersion) as Collected | undefined;
  return figures && { due, figures };
}

/** Undefined where there is none, or it cannot be read. */
export function readBaseline(body: string | null | undefined): DigestBaseline | undefined {
  return parseVersion(body, baselineVersion) as DigestBaseline | undefined;
}

function parseVersion(text: string | null | undefined, version: number): unknown {
  try {
    const parsed = JSON.parse(text ?? 'null') as { readonly version: number } | null;
    return parsed?.version === version ? parsed : undefined;
  } catch {
    return undefined;
  }
}

/**
 * The baseline after a silent run: what people were told before, so that the next post reports all that changed since. A
 * first run has reported nothing: its findings are where the digest begins.
 */
export function baselineAfterSilence(
  before: DigestBaseline | undefined,
  found: DigestBaseline,
): DigestBaseline {
  const byKind: Record<string, unknown> = { ...found.byKind };
  for (const { name, keepUnreported } of digestKinds) {
    const [old, latest] = [before?.byKind[name], found.byKind[name]];
    if (keepUnreported && old !== undefined && latest !== undefined)
      byKind[name] = keepUnreported(old, latest);
  }
  return { ...found, byKind };
}
