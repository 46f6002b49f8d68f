import { monthOf } from '../../../../api/zones/bandwidth.ts';
import { sumTotals } from '../../../../api/zones/summary.ts';
import { yieldToEventLoop } from '../../../../lib/time.ts';
import { sumReported } from '../../../../views/reports/digests/comparisons.ts';
import { findEarlier, noise, trendOf } from '../figures.ts';
import type { CollectInput, CollectResult, DigestKind } from './kind.ts';
import { compareBusiest, compareRate, findLimits, roundToCents } from './zones/bandwidth.ts';
import {
  createZoneBaseline,
  findReportedLimit,
  findTroubledZones,
  findZoneNews,
  readFlags,
  readZoneBaseline,
  type ZoneBaseline,
} from './zones/baseline.ts';
import { listZoneFindings, renderZoneDetail, renderZoneLine, type ZoneFigures } from './zones/render.ts';

/** The overview of some zones, or of all: what there is, what changed, which limits will be reached. */
export const zones: DigestKind<'zones', ZoneFigures, ZoneBaseline> = {
  name: 'zones',
  label: 'Zones overview',
  words: /zones|overview|^zone$/iu,
  target: 'zones',
  troubles: 'zones that need attention',
  collect: collectZones,
  countTroubles: ({ attention }) => attention,
  listSince: ({ since }) => [since],
  listFindings: listZoneFindings,
  renderLine: renderZoneLine,
  renderDetail: renderZoneDetail,
  shrink: (figures) => ({
    ...figures,
    busiest: figures.busiest.slice(0, 10),
    troubled: figures.troubled.slice(0, 10),
  }),
  keepUnreported: (before, found) =>
    before.scope === found.scope && before.since === found.since ? before : found,
};

async function collectZones(
  input: CollectInput<ZoneFigures, ZoneBaseline>,
): Promise<CollectResult<ZoneFigures, ZoneBaseline>> {
  const { now, targets, baseline } = input;
  const list = await input.zoneList();
  const wanted = new Set(targets.zones);
  const scope = [...wanted].toSorted().join(' ');
  const zones = wanted.size === 0 ? list.zones : list.zones.filter(({ id }) => wanted.has(id));
  const known = baseline?.scope === scope ? await readZoneBaseline(baseline) : undefined;
  // Another owner's account has none of the known zones.
  const isOtherAccount =
    known && known.size > 0 && zones.length > 0 && !zones.some(({ id }) => known.has(id));
  const before = isOtherAccount ? undefined : known;
  const at = now.toISOString();
  const since = before && baseline ? baseline.since : at;
  const past = findEarlier(input, (found, at) =>
    before && found.scope === scope && at >= Date.parse(since) ? found : undefined,
  );
  const flags = await readFlags(zones, now);
  const { attention } = sumTotals(zones);
  await yieldToEventLoop();
  const used = sum(zones.map(({ bandwidthUsed }) => bandwidthUsed));
  const charges = sum(zones.map((zone) => zone.charges));
  const perDay = compareRate(used, { past, now, find: (found) => found, floor: noise.bytes });
  const chargesPerDay = compareRate(charges, {
    past,
    now,
    find: (found) => ({ used: found.charges, perDay: found.chargesPerDay }),
    floor: noise.dollars,
  });
  await yieldToEventLoop();
  const limits = findLimits(zones, now, (id) => findReportedLimit(before, id));
  await yieldToEventLoop();
  const busiest = compareBusiest(zones, past, now);
  await yieldToEventLoop();
  const present = new Set(zones.map(({ id }) => id));
  const isSameMonth = past.previous !== undefined && past.previous.at >= monthOf(now).start;
  const figures: ZoneFigures = {
    scope,
    since: before && baseline ? baseline.at : undefined,
    zones: zones.length,
    skipped: list.skipped,
    used,
    charges,
    chargesBefore: isSameMonth ? past.previous?.figures.charges : undefined,
    attention,
    perDay,
    chargesPerDay,
    busiest,
    limits,
    troubled: findTroubledZones(zones, flags),
    missing: [...wanted].filter((id) => !present.has(id)),
    news: before && (await findZoneNews(zones, flags, before)),
    trend: trendOf(past, now, perDay, (found) => found.perDay),
  };
  return { figures, baseline: await createZoneBaseline(zones, flags, { scope, at, since }) };
}

function sum(numbers: readonly (number | undefined)[]): number | undefined {
  const total = sumReported(numbers);
  return total === undefined ? undefined : roundToCents(total);
}
