import { ApiError } from '../api/errors.ts';
import type { ZoneSummary } from '../api/zone-summary.ts';
import { attention, totalsOf } from '../reports/attention.ts';
import type { Message } from '../views/message.ts';
import { zoneForm as emptyZoneForm } from '../views/zone-choice.ts';
import * as views from '../views/zones.ts';
import type { Action, Command, Context, Feature } from './define.ts';
import { closest } from './did-you-mean.ts';
import type { Snapshot } from './snapshots.ts';
import { refreshZone, sendZone, showZone, zoneCommand, zoneForm, zonePicker } from './zone.ts';
import { parseZoneQuery, readZoneQuery, select, type ZoneQuery, zoneQueryValue } from './zone-query.ts';
import { allZones } from './zone-snapshot.ts';

/** Rows on a page: what a phone shows in two screens. */
const pageSize = 10;

const zonesCommand: Command = {
  name: 'zones',
  aliases: ['ls', 'list'],
  usage: 'zones [search] [sort:bandwidth|charges|name] [only:attention|disabled|suspended]',
  summary: 'List your pull zones with bandwidth, charges and what needs attention',
  examples: ['zones', 'zones shop', 'zones sort:bandwidth', 'zones only:attention'],
  needs: 'read',
  run(words, context) {
    // Whoever types wants to know how it is now; the buttons of the answer act on what it read.
    context.snapshots.of(context.person).renew();
    return list(readZoneQuery(words), context, 'at once');
  },
};

const turnPage: Action = {
  id: 'zones:page',
  needs: 'read',
  run: (value, context) => {
    if (new URLSearchParams(value).has('fresh')) context.snapshots.of(context.person).renew();
    return list(parseZoneQuery(value), context, 'when complete');
  },
};

export const zones: Feature = {
  name: 'zones',
  commands: [zonesCommand, zoneCommand],
  actions: [turnPage, showZone, refreshZone, sendZone],
  forms: [zoneForm],
  pickers: [zonePicker],
  shortcuts: [
    {
      id: 'zones:find',
      kind: 'global',
      name: 'Find a zone',
      description: 'One of your pull zones, by a part of its name, hostname or id',
      needs: 'read',
      modal: () => emptyZoneForm(),
    },
  ],
};

/**
 * The list. Typed, it answers `at once` with one small page and then with the whole; a button keeps the old page
 * on the screen until the new one is complete.
 */
async function* list(
  query: ZoneQuery,
  context: Context,
  first: 'at once' | 'when complete',
): AsyncGenerator<Message, void> {
  const mine = context.snapshots.of(context.person);
  const known = mine.peek();
  if (known) return yield drawn(known, query);
  if (first === 'when complete') return yield drawn(await allZones(context), query);

  const { pullZones } = await context.cdn();
  const { search } = query;
  const small = await pullZones.firstPage({ perPage: pageSize, ...(search ? { search } : {}) });
  if (!small.more && !search) return yield drawn(mine.keep(small), query);

  // Rows of an unsorted first page would be the wrong ones where an order or a filter was asked for.
  const ordered = query.sort !== 'name' || query.only !== undefined;
  const start = { rows: small.zones.map(listed), total: small.total, search };
  const showsRows = !ordered && start.rows.length > 0;
  yield showsRows ? views.firstZones(start) : views.readingZones(search ? undefined : small.total);
  try {
    yield drawn(await allZones(context), query);
  } catch (error) {
    if (!(error instanceof ApiError) || !showsRows) throw error;
    yield views.firstZonesOnly(start, context.explain(error), zoneQueryValue(query));
  }
}

function drawn(snapshot: Snapshot, query: ZoneQuery): Message {
  const found = select(snapshot.zones, query);
  const all = zoneQueryValue({ search: '', sort: query.sort, only: undefined, page: 1 });
  if (found.length === 0) {
    const near = query.search
      ? closest(
          query.search,
          snapshot.zones.map(({ name }) => name),
        )
      : [];
    return views.noZones(query, { zones: snapshot.zones.length }, near, all);
  }
  const pages = Math.ceil(found.length / pageSize);
  // The account may have shrunk since the button was drawn.
  const page = Math.min(query.page, pages);
  const account = totalsOf(snapshot.zones);
  return views.zonePage({
    rows: found.slice((page - 1) * pageSize, page * pageSize).map(listed),
    query: { ...query, page },
    pages,
    found: found.length,
    totals: found.length === snapshot.zones.length ? account : totalsOf(found),
    account,
    skipped: snapshot.skipped,
    takenAt: snapshot.takenAt,
    value: zoneQueryValue,
  });
}

function listed(zone: ZoneSummary): views.Listed {
  return { zone, attention: attention(zone) };
}
