import { ApiError } from '../../../api/http/errors.ts';
import { UserError } from '../../../errors.ts';
import { dayMs } from '../../../lib/time.ts';
import type { Failure } from '../../../views/blocks/failure.ts';
import { escapeMrkdwn } from '../../../views/blocks/text.ts';
import { type RenderedDigest, renderSections } from '../../../views/reports/digests/post.ts';
import type { ZoneList } from '../../zones/zone-cache.ts';
import { BudgetSpent } from '../accounts/budget.ts';
import type { AccountReads } from '../accounts/reads.ts';
import { type ReadFailure, targetTypes } from '../checks/digest-kind.ts';
import type { Past } from '../checks/figures.ts';
import {
  type Collected,
  type DigestBaseline,
  type DigestPast,
  type DigestSubject,
  storedVersion,
  type UnreadPart,
} from '../model.ts';
import { digestKinds, findDigestKind } from './kinds.ts';

interface CollectOptions extends DigestPast {
  /** Its requests are cancelled when the bot stops or the run took too long. */
  readonly account: AccountReads;
  readonly now: Date;
  /** A failure in words (mrkdwn, escaped), with the reference that is in the log. */
  readonly explain: (error: unknown) => Pick<Failure, 'message' | 'reference'>;
  readonly patienceMs?: number;
}

/**
 * Reads what a digest reports and compares it with earlier runs: the same for a run and for a preview. `baseline` is what
 * the digest remembers once this is posted.
 *
 * @throws ApiError where the key is refused, where requests were cancelled, and where nothing at all could be read, and
 * BudgetSpent.
 */
export async function collectDigest(
  subject: DigestSubject,
  { account, now, explain, patienceMs = 90_000, ...past }: CollectOptions,
): Promise<{ readonly collected: Collected; readonly baseline: DigestBaseline }> {
  // Runs are compared by name through the baseline: without it this is a first run.
  const history = past.baseline ? past.history : [];
  const week = findWeekBefore(history, now);
  // Requested at most once, whichever kinds ask.
  let list: Promise<ZoneList> | undefined;
  const pullZones = { ...account.pullZones, all: () => (list ??= account.pullZones.all()) };

  const figures: Record<string, unknown> = {};
  const byKind: Record<string, unknown> = { ...past.baseline?.byKind };
  const unread: UnreadPart[] = [];
  let firstFailure: ReadFailure | undefined;
  for (const { name, collect } of digestKinds.filter(({ name }) => subject.kinds.includes(name))) {
    const read = ({ figures }: DigestPast['history'][number]): Past<unknown>[] =>
      figures[name] === undefined ? [] : [{ at: Date.parse(figures.at), figures: figures[name] }];
    const found = await collect({
      account: { ...account, pullZones },
      now,
      targets: subject.targets,
      past: history.flatMap(read),
      weekBefore: week && read(week)[0],
      baseline: byKind[name],
      patienceMs,
    }).catch((reason: unknown) => ({ figures: undefined, baseline: undefined, failures: [{ reason }] }));
    const failures: readonly ReadFailure[] = found.failures ?? [];
    for (const { reason } of failures) if (isFatal(reason)) throw reason;
    firstFailure ??= failures[0];
    unread.push(...describeFailures(failures, explain).map((part) => ({ kind: name, ...part })));
    if (found.figures !== undefined) figures[name] = found.figures;
    if (found.baseline !== undefined) byKind[name] = found.baseline;
  }
  // What a kind says itself is told in the post.
  if (Object.keys(figures).length === 0 && firstFailure && !(firstFailure.reason instanceof UserError))
    throw firstFailure.reason;
  return {
    collected: { version: storedVersion, at: now.toISOString(), ...figures, unread },
    baseline: { version: storedVersion, byKind },
  };
}

/** Whether a failure ends the run, whatever else could be read. */
function isFatal(reason: unknown): boolean {
  if (reason instanceof ApiError) return reason.code === 'key_refused' || reason.code === 'cancelled';
  return reason instanceof BudgetSpent;
}

const mostDescribed = 3;

function describeFailures(
  failures: readonly ReadFailure[],
  explain: CollectOptions['explain'],
): Omit<UnreadPart, 'kind'>[] {
  return failures.slice(0, mostDescribed).map(({ what, reason }, index) => {
    const isSaid = reason instanceof UserError;
    const { message, reference } = isSaid ? { message: reason.message } : explain(reason);
    const more = index === mostDescribed - 1 ? failures.length - mostDescribed : 0;
    return { message: message.slice(0, 500), reference, what: what?.slice(0, 100), more };
  });
}

/** The run nearest to the same moment a week ago, within half a day: clocks may have changed, and runs be late. */
function findWeekBefore(history: DigestPast['history'], now: Date) {
  const distance = ({ due }: { due: Date }): number => Math.abs(due.getTime() - (now.getTime() - 7 * dayMs));
  return history.filter((run) => distance(run) <= dayMs / 2).toSorted((a, b) => distance(a) - distance(b))[0];
}

/** Pure: renders the collected figures, for a preview and for a post. */
export function renderDigest(
  collected: Collected,
  order: Pick<DigestSubject, 'only' | 'timeZone'>,
): RenderedDigest {
  const sections = digestKinds.flatMap(({ name, label, describe }) => {
    const figures = collected[name];
    return figures === undefined ? [] : [{ label, ...describe(figures, order.timeZone) }];
  });
  const unread = collected.unread.map((part) => ({ ...part, name: nameUnread(part) }));
  return renderSections(sections, unread, order);
}

function nameUnread({ kind, what }: UnreadPart): string {
  const { label, target } = findDigestKind(kind);
  if (what === undefined) return label.toLowerCase();
  const noun = target === 'zones' ? '' : `${targetTypes[target].noun.toLowerCase()} `;
  return `${label.toLowerCase()} of ${noun}${escapeMrkdwn(what, 60)}`;
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
