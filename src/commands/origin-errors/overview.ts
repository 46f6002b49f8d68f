import { ApiError } from '../../api/http/errors.ts';
import { countDay, createOriginErrorCounter } from '../../api/origin-errors/counts.ts';
import { createFilter } from '../../api/origin-errors/filters.ts';
import type { OriginErrors } from '../../api/origin-errors/origin-errors.ts';
import { createSeenIds } from '../../api/origin-errors/seen-ids.ts';
import { findBusiest } from '../../api/zones/bandwidth.ts';
import { mapConcurrently } from '../../lib/concurrency.ts';
import { hourMs, listDays, toUtcDay } from '../../lib/time.ts';
import { rankKinds } from '../../views/origin-errors/facts.ts';
import type { Overview, ZoneErrors } from '../../views/origin-errors/overview.ts';
import { encodeQuestion, type Question, type ZoneName } from '../../views/origin-errors/question.ts';
import type { With } from '../define.ts';
import { loadAllZones } from '../zones/lookup.ts';
import { createPeriodTest, hasLastHour } from './place-entries.ts';

/** Zones whose logs are read at once to say which of them fail: those that digests read. */
const maxZones = 25;
/** Zones read at the same time; the log of a day is up to hundreds of megabytes. */
const concurrentZones = 4;
/** Zones between two messages on the way. */
const zonesAtOnce = 8;
/** A message on the way is for reading that takes longer; Slack takes five in all. */
const messageMs = 2_000;
const maxMessages = 3;

/** The cached overview of a question. Call it before resolving the key. */
export function findCachedOverview(question: Question, context: With<'zoneCache'>) {
  const overviews = context.zoneCache.forPerson(context.person).results<Overview>('origin-errors-zones');
  const key = encodeQuestion(question);
  return { value: overviews.get(key), set: (overview: Overview) => overviews.set(key, overview) };
}

/**
 * Counts the errors of the busiest zones. Yields what is known so far, now and then, and at last all of it. A zone that
 * cannot be read is named. Throws the read error if none can be, or if the key is refused.
 */
export async function* readOverview(
  { period, filters }: Question,
  context: With<'zoneCache'>,
): AsyncGenerator<Overview, void> {
  const question = { zone: undefined, period, filters };
  const cached = findCachedOverview(question, context);
  const { zones: all } = await loadAllZones(context);
  const busiest = findBusiest(all, maxZones);
  const { originErrors } = await context.cdn();
  const takenAt = context.now();
  const zones: ZoneErrors[] = [];
  const unread: Overview['unread'][number][] = [];
  let failure: { readonly reason: unknown } | undefined;
  const readOrName = async (zone: ZoneName): Promise<void> => {
    try {
      zones.push(await readZone(zone, { ...question, takenAt }, originErrors));
    } catch (error) {
      const isForAll = error instanceof ApiError && ['key_refused', 'cancelled'].includes(error.code);
      if (isForAll || context.signal.aborted) throw error;
      failure = { reason: error };
      unread.push({ zone, why: context.explain(error) });
    }
  };
  const overview = (): Overview => ({
    ...question,
    takenAt,
    zones: zones.toSorted(compareUrgency),
    unread: [...unread],
    asked: busiest.length,
    of: all.length,
  });
  yield overview();
  let saidAt = context.now().getTime();
  let said = 1;
  for (let at = 0; at < busiest.length; at += zonesAtOnce) {
    await mapConcurrently(concurrentZones, busiest.slice(at, at + zonesAtOnce), readOrName);
    const now = context.now().getTime();
    const isLast = at + zonesAtOnce >= busiest.length;
    if (isLast || said >= maxMessages || now - saidAt < messageMs) continue;
    yield overview();
    saidAt = now;
    said += 1;
  }
  if (failure && zones.length === 0) throw failure.reason;
  const complete = overview();
  if (unread.length === 0) cached.set(complete);
  yield complete;
}

export function isComplete({ zones, unread, asked }: Overview): boolean {
  return zones.length + unread.length === asked;
}

async function readZone(
  { id, name }: ZoneName,
  { period, filters, takenAt }: Pick<Overview, 'period' | 'filters' | 'takenAt'>,
  originErrors: OriginErrors,
): Promise<ZoneErrors> {
  const withRecent = hasLastHour(period, takenAt);
  const since = takenAt.getTime() - hourMs;
  const isOfPeriod = createPeriodTest(period);
  const isWanted = createFilter(filters);
  const counter = createOriginErrorCounter({ start: 0, hours: 0, since });
  const ids = createSeenIds();
  let all = 0;
  // Just after midnight (UTC) a part of the last hour is in the log of the day before.
  let recentBefore = 0;
  let hasMore = false;
  const add: typeof counter.add = (entry) => {
    all += 1;
    if (isWanted(entry)) counter.add(entry);
  };
  const days = listDays(period.days);
  const lastHour = withRecent ? [toUtcDay(new Date(since))] : [];
  for (const day of new Set([...lastHour, ...days])) {
    const read = await countDay(originErrors, id, day, ids, { ...counter, add }, (entry) => {
      if (isOfPeriod(entry, day)) return true;
      if (withRecent && !days.includes(day) && isWanted(entry) && (entry.at ?? 0) >= since) recentBefore += 1;
      return false;
    });
    hasMore ||= read.moreExist && days.includes(day);
  }
  const { total, recent, groups, last } = counter.result();
  const [mostly] = rankKinds(groups);
  const hasRecent = withRecent ? recent + recentBefore : undefined;
  return { zone: { id, name }, total, all, recent: hasRecent, mostly, last, hasMore };
}

/** What fails now comes first. */
function compareUrgency(one: ZoneErrors, other: ZoneErrors): number {
  return (
    (other.recent ?? 0) - (one.recent ?? 0) ||
    other.total - one.total ||
    (one.zone.name < other.zone.name ? -1 : 1)
  );
}
