import { ApiError } from '../../api/http/errors.ts';
import { sumTotals } from '../../api/zones/summary.ts';
import type { Message } from '../../views/blocks/blocks.ts';
import * as views from '../../views/zones/list.ts';
import { renderZoneForm } from '../../views/zones/rows.ts';
import type { Action, Command, Feature, With } from '../define.ts';
import { findClosest } from '../did-you-mean.ts';
import { zoneActions, zoneCommand, zoneForm, zonePicker } from './details.ts';
import { loadAllZones } from './lookup.ts';
import { decodeZoneQuery, findMeantFilter, readZoneQuery, selectZones } from './query.ts';
import type { CachedZones } from './zone-cache.ts';

/** Rows per page: two screens of a phone. */
const pageSize = 10;

const zonesCommand: Command<'zoneCache'> = {
  name: 'zones',
  aliases: ['ls', 'list'],
  keywords: {
    cost: 'zones sort:charges',
    costs: 'zones sort:charges',
    billing: 'zones sort:charges',
    charges: 'zones sort:charges',
    top: 'zones sort:bandwidth',
    traffic: 'zones sort:bandwidth',
    usage: 'zones sort:bandwidth',
    bandwidth: 'zones sort:bandwidth',
    certificate: 'zones only:attention',
    certificates: 'zones only:attention',
  },
  usage: 'zones [search] [sort:bandwidth|charges|name] [only:attention|disabled|suspended]',
  summary: 'Your zones: bandwidth, charges and what needs attention',
  examples: ['zones', 'zones shop', 'zones sort:bandwidth', 'zones only:attention'],
  needs: 'read',
  shares: true,
  run(words, context) {
    // A typed command reads the current list; buttons of the answer use what it read.
    context.zoneCache.forPerson(context.person).expire();
    return listZones(readZoneQuery(words), context, 'at once');
  },
};

const turnPage: Action<'zoneCache'> = {
  id: 'zones:page',
  needs: 'read',
  run: (value, context) => {
    if (new URLSearchParams(value).has('fresh')) context.zoneCache.forPerson(context.person).expire();
    return listZones(decodeZoneQuery(value), context, 'when complete');
  },
};

export const zones: Feature<'zoneCache'> = {
  name: 'zones',
  commands: [zonesCommand, zoneCommand],
  actions: [turnPage, ...zoneActions],
  forms: [zoneForm],
  pickers: [zonePicker],
  shortcuts: [
    {
      id: 'zones:find',
      kind: 'global',
      name: 'Find a zone',
      description: 'One of your pull zones, by a part of its name, hostname or id',
      needs: 'read',
      modal: () => renderZoneForm(),
    },
  ],
};

/**
 * The list. A typed command answers `at once` with one small page and then with the whole list; a button keeps the old
 * page until the new one is complete.
 */
async function* listZones(
  query: views.ZoneQuery,
  context: With<'zoneCache'>,
  first: 'at once' | 'when complete',
): AsyncGenerator<Message, void> {
  const mine = context.zoneCache.forPerson(context.person);
  const known = mine.get();
  if (known) return yield renderList(known, query);
  if (first === 'when complete') return yield renderList(await loadAllZones(context), query);

  const { pullZones } = await context.cdn();
  const { search } = query;
  const small = await pullZones.firstPage({ perPage: pageSize, ...(search ? { search } : {}) });
  if (!small.more && !search) return yield renderList(mine.set(small), query);

  // An unsorted first page has the wrong rows if an order or a filter is requested.
  const ordered = query.sort !== 'name' || query.only !== undefined;
  const start = { zones: small.zones, total: small.total, search };
  const showsRows = !ordered && start.zones.length > 0;
  yield showsRows
    ? views.renderFirstZones(start)
    : views.renderLoadingZones(search ? undefined : small.total);
  try {
    yield renderList(await loadAllZones(context), query);
  } catch (error) {
    if (!(error instanceof ApiError) || !showsRows) throw error;
    yield views.renderFirstZonesOnly(start, context.explain(error), query);
  }
}

function renderList({ zones, skipped, takenAt }: CachedZones, query: views.ZoneQuery): Message {
  const found = selectZones(zones, query);
  const offer = findMeantFilter(query);
  if (found.length === 0) {
    const names = zones.map(({ name }) => name);
    const near = query.search ? findClosest(query.search, names) : [];
    return views.renderNoZones(query, zones.length, near, offer);
  }
  const pages = Math.ceil(found.length / pageSize);
  // The account may have fewer zones than when the button was rendered.
  const page = Math.min(query.page, pages);
  return views.renderZonePage({
    zones: found.slice((page - 1) * pageSize, page * pageSize),
    query: { ...query, page },
    pages,
    totals: sumTotals(found),
    account: zones.length,
    skipped,
    takenAt,
    offer,
  });
}
