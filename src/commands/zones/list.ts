import { sumTotals } from '../../api/zones/summary.ts';
import type { Message } from '../../views/blocks/blocks.ts';
import { isNote } from '../../views/blocks/menu.ts';
import * as views from '../../views/zones/list.ts';
import type { ZoneQuery } from '../../views/zones/query.ts';
import { renderZoneForm } from '../../views/zones/rows.ts';
import { renderSearchForm } from '../../views/zones/search-form.ts';
import { type Action, type Command, type Context, defineForm, type Feature, type With } from '../define.ts';
import { findClosest } from '../did-you-mean.ts';
import { zoneActions, zoneCommand, zoneForm, zonePicker } from './details.ts';
import { writeZonesFile } from './file.ts';
import { loadAllZones } from './lookup.ts';
import { decodeZoneQuery, findMeantFilter, queryFields, readZoneQuery, selectZones } from './query.ts';
import type { CachedZones } from './zone-lists.ts';

const zonesCommand: Command<'zoneCache'> = {
  name: 'zones',
  aliases: ['ls', 'list'],
  usage:
    'zones [search] [only:attention|disabled|suspended|above-80|no-certificate|old-tls|no-logging] ' +
    '[origin:… host:… script:… app:… storage:…] [sort:bandwidth|charges|name]',
  summary: 'Your zones: bandwidth, charges and what needs attention',
  examples: ['zones', 'zones shop', 'zones only:no-certificate', 'zones origin:example.com'],
  needs: 'read',
  shares: true,
  run(words, context) {
    // A typed command reads the current list; buttons of the answer use what it read.
    context.zoneCache.forPerson(context.person).expire();
    return listZones(readZoneQuery(words), context, 'at once');
  },
};

const listActions: Action<'tempDirectory' | 'zoneCache'>[] = [
  {
    id: 'zones:page',
    needs: 'read',
    run: (value, context) => {
      if (new URLSearchParams(value).has('fresh')) context.zoneCache.forPerson(context.person).expire();
      return listZones(decodeZoneQuery(value), context, 'when complete');
    },
  },
  { id: 'zones:form', needs: 'read', modal: (value) => renderSearchForm(decodeZoneQuery(value)) },
  {
    id: 'zones:csv',
    needs: 'read',
    newMessage: true,
    async run(value, context) {
      const query = decodeZoneQuery(value);
      const known = await loadAllZones(context);
      const zones = selectZones(known.zones, query);
      const { path } = await writeZonesFile(zones, context);
      const { takenAt } = known;
      return views.renderZonesFile(path, {
        zones: zones.length,
        query,
        takenAt,
        account: known.zones.length,
      });
    },
  },
];

const searchForm = defineForm({
  id: 'zones:search',
  needs: 'read',
  fields: queryFields.superRefine(({ carried }, fields) => {
    for (const path of ['script', 'app'] as const)
      if (isNote(carried[path] ?? ''))
        fields.addIssue({ code: 'custom', path: [path], message: `This line is no ${path}. Pick one.` });
  }),
  run: (query, context: With<'zoneCache'>) => listZones(query, context, 'at once'),
});

export const zones: Feature<'tempDirectory' | 'zoneCache'> = {
  name: 'zones',
  commands: [zonesCommand, zoneCommand],
  actions: [...listActions, ...zoneActions],
  forms: [zoneForm, searchForm],
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

/** The list. A typed command says `at once` that it reads; a button keeps the old list until the new one is complete. */
async function* listZones(
  query: ZoneQuery,
  context: With<'zoneCache'>,
  first: 'at once' | 'when complete',
): AsyncGenerator<Message, void> {
  const mine = context.zoneCache.forPerson(context.person);
  const known = mine.get();
  if (known) return yield renderList(known, query, context);
  if (first === 'when complete') return yield renderList(await loadAllZones(context), query, context);

  const { pullZones } = await context.cdn();
  const page = await pullZones.firstPage({ perPage: smallPage });
  if (!page.more && page.zones.length > 0) return yield renderList(mine.set(page), query, context);
  yield views.renderLoadingZones(page.total || undefined);
  yield renderList(await loadAllZones(context), query, context);
}

/** Zones of the request that says how many there are. An account with fewer is read by it. */
const smallPage = 10;

function renderList(
  { zones: all, skipped, takenAt }: CachedZones,
  query: ZoneQuery,
  { panel }: Context,
): Message {
  const zones = selectZones(all, query);
  const offer = findMeantFilter(query);
  if (zones.length === 0) {
    const names = all.map(({ name }) => name);
    const near = query.search ? findClosest(query.search, names) : [];
    return views.renderNoZones(query, all.length, near, offer);
  }
  return views.renderZoneList({
    zones,
    query,
    totals: sumTotals(zones),
    account: all.length,
    skipped,
    takenAt,
    offer,
    panel,
  });
}
