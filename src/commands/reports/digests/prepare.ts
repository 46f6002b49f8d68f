import { ApiError } from '../../../api/http/errors.ts';
import { dayMs } from '../../../lib/time.ts';
import type { Failure } from '../../../views/blocks/failure.ts';
import { type RenderedDigest, renderDigest } from '../../../views/reports/digests/post.ts';
import type { ZoneList } from '../../zones/zone-lists.ts';
import { BudgetSpent } from '../accounts/budget.ts';
import type { ReportReads } from '../accounts/reads.ts';
import {
  type Collected,
  type DigestBaseline,
  type DigestPast,
  type DigestSubject,
  storedVersion,
  type UnreadPart,
} from '../model.ts';
import type { Past } from './figures.ts';
import { OutOfTime, type ReadFailure } from './kinds/kind.ts';
import { digestKinds } from './kinds/list.ts';

interface PrepareOptions extends DigestPast {
  /** Its requests are cancelled when the bot stops or the run took too long. */
  readonly cdn: ReportReads;
  /** The moment that the digest speaks of. */
  readonly now: Date;
  /** A failure in words (mrkdwn, escaped), with the reference that is in the log. */
  readonly explain: (error: unknown) => Pick<Failure, 'message' | 'reference'>;
  /** After so long no further log is requested. */
  readonly patienceMs?: number;
}

/**
 * Collects and renders a digest: the same code for a run and for a preview. Each kind reads from the CDN and compares with
 * earlier runs. `baseline` is what the digest remembers once this is posted.
 *
 * @throws ApiError where the key is refused, where requests were cancelled, and where nothing at all could be read, and
 * BudgetSpent.
 */
export async function prepareDigest(
  subject: DigestSubject,
  { cdn, now, explain, patienceMs = 90_000, ...past }: PrepareOptions,
): Promise<RenderedDigest & { readonly collected: Collected; readonly baseline: DigestBaseline }> {
  // Runs are compared by name through the baseline: without it this is a first run.
  const history = past.baseline ? past.history : [];
  const week = findWeekBefore(history, now);
  let list: Promise<ZoneList> | undefined;
  const zoneList = (): Promise<ZoneList> => (list ??= cdn.pullZones.all());

  const figures: Record<string, unknown> = {};
  const byKind: Record<string, unknown> = { ...past.baseline?.byKind };
  const unread: UnreadPart[] = [];
  let firstFailure: ReadFailure | undefined;
  for (const { name, collect } of digestKinds.filter(({ name }) => subject.kinds.includes(name))) {
    const read = ({ figures }: DigestPast['history'][number]): Past<unknown>[] =>
      figures[name] === undefined ? [] : [{ at: Date.parse(figures.at), figures: figures[name] }];
    const found = await collect({
      cdn,
      now,
      targets: subject.targets,
      zoneList,
      past: history.flatMap(read),
      weekBefore: week && read(week)[0],
      baseline: byKind[name],
      patienceMs,
    }).catch((reason: unknown) => ({ figures: undefined, baseline: undefined, failures: [{ reason }] }));
    const failures: readonly ReadFailure[] = found.failures ?? [];
    for (const { reason } of failures) throwIfFatal(reason);
    firstFailure ??= failures[0];
    unread.push(...describeFailures(failures, explain).map((part) => ({ kind: name, ...part })));
    if (found.figures !== undefined) figures[name] = found.figures;
    if (found.baseline !== undefined) byKind[name] = found.baseline;
  }
  if (Object.keys(figures).length === 0 && firstFailure) throw firstFailure.reason;
  const collected = shrinkFigures({ version: storedVersion, at: now.toISOString(), ...figures, unread });
  return { collected, baseline: { version: storedVersion, byKind }, ...renderDigest(collected, subject) };
}

function throwIfFatal(reason: unknown): void {
  if (reason instanceof ApiError && (reason.code === 'key_refused' || reason.code === 'cancelled'))
    throw reason;
  if (reason instanceof BudgetSpent) throw reason;
}

const mostDescribed = 3;

/** The first few failures in words, the others as a number. */
function describeFailures(
  failures: readonly ReadFailure[],
  explain: PrepareOptions['explain'],
): Omit<UnreadPart, 'kind'>[] {
  return failures.slice(0, mostDescribed).map(({ what, reason }, index) => {
    const isOutOfTime = reason instanceof OutOfTime;
    const { message, reference } = isOutOfTime
      ? { message: 'There was no time left for it.' }
      : explain(reason);
    const more = index === mostDescribed - 1 ? failures.length - mostDescribed : 0;
    return { message: message.slice(0, 500), reference, what: what?.slice(0, 100), more };
  });
}

/** The run nearest to the same moment a week ago, within half a day: clocks may have changed, and runs be late. */
function findWeekBefore(history: DigestPast['history'], now: Date) {
  const distance = ({ due }: { due: Date }): number => Math.abs(due.getTime() - (now.getTime() - 7 * dayMs));
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
