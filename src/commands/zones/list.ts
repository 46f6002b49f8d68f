import { sumTotals, type ZoneSummary } from '../../api/zones/summary.ts';
import { type CsvColumn, writeCsv, writeCsvHeader } from '../../lib/csv.ts';
import { yieldToEventLoop } from '../../lib/time.ts';
import type { Message } from '../../views/blocks/blocks.ts';
import { isNote } from '../../views/blocks/menu.ts';
import * as views from '../../views/zones/list.ts';
import { renderSearchForm, type ZoneQuery } from '../../views/zones/query.ts';
import { describeNeeds, renderZoneForm } from '../../views/zones/rows.ts';
import { type Command, type Context, defineForm, type Feature } from '../define.ts';
import { findClosest } from '../did-you-mean.ts';
import { zoneActions, zoneCommand, zoneForm, zonePicker } from './details.ts';
import { loadAllZones, readZoneNames } from './lookup.ts';
import {
  decodeZoneQuery,
  findMeantFilter,
  queryFields,
  queryNames,
  readZoneQuery,
  selectZones,
} from './query.ts';
import type { CachedZones } from './zone-cache.ts';

const zonesCommand: Command = {
  name: 'zones',
  aliases: ['ls', 'list'],
  usage:
    'zones [search] [only:attention|disabled|suspended|above-80|no-certificate|old-tls|no-logging] ' +
    '[origin:… host:… script:… app:… storage:…] [sort:bandwidth|charges|name]',
  summary: 'Your zones: bandwidth, charges and what needs attention',
  examples: ['zones', 'zones shop', 'zones only:no-certificate', 'zones origin:example.com'],
  needs: 'read',
  shares: true,
  async *run(words, context) {
    // A typed command reads the current list; buttons of the answer use what it read.
    context.zoneCache.forPerson(context.person).expire();
    yield* listZones(readZoneQuery(await readZoneNames(words, queryNames, context)), context);
  },
};

const searchForm = defineForm({
  id: 'zones:search',
  needs: 'read',
  fields: queryFields.superRefine(({ carried }, fields) => {
    for (const path of ['script', 'app'] as const)
      if (isNote(carried[path] ?? ''))
        fields.addIssue({
          code: 'custom',
          path: [path],
          message: `That line is not ${path === 'app' ? 'an app' : 'a script'}. Pick one.`,
        });
  }),
  run: (query, context: Context) => listZones(query, context),
});

export const zones: Feature = {
  name: 'zones',
  commands: [zonesCommand, zoneCommand],
  actions: [
    {
      id: 'zones:page',
      needs: 'read',
      async run(value, context) {
        if (new URLSearchParams(value).has('fresh')) context.zoneCache.forPerson(context.person).expire();
        // The old list stays until the new one is complete.
        return renderList(await loadAllZones(context), decodeZoneQuery(value), context);
      },
    },
    { id: 'zones:form', needs: 'read', modal: (value) => renderSearchForm(decodeZoneQuery(value)) },
    {
      id: 'zones:csv',
      needs: 'read',
      newMessage: true,
      async run(value, context) {
        const query = decodeZoneQuery(value);
        const { zones: all, takenAt } = await loadAllZones(context);
        const zones = selectZones(all, query);
        const csv = await writeZonesCsv(zones, context);
        return views.renderZonesFile(csv, { zones: zones.length, query, takenAt, account: all.length });
      },
    },
    ...zoneActions,
  ],
  forms: [zoneForm, searchForm],
  pickers: [zonePicker],
  shortcuts: [
    {
      id: 'zones:find',
      kind: 'global',
      name: 'Find a zone',
      description: 'One of your pull zones, by a part of its name, hostname or ID',
      needs: 'read',
      modal: () => renderZoneForm(),
    },
  ],
};

/** The list. Says at once that it reads, and how many zones. */
async function* listZones(query: ZoneQuery, context: Context): AsyncGenerator<Message, void> {
  const mine = context.zoneCache.forPerson(context.person);
  const known = mine.get();
  if (known) return yield renderList(known, query, context);
  const { pullZones } = await context.cdn();
  const page = await pullZones.firstPage();
  if (!page.more && page.zones.length > 0) return yield renderList(mine.set(page), query, context);
  yield views.renderLoadingZones(page.total || undefined);
  yield renderList(await loadAllZones(context), query, context);
}

function renderList(
  { zones: all, skipped, takenAt }: CachedZones,
  query: ZoneQuery,
  { panel }: Context,
): Message {
  const zones = selectZones(all, query);
  const offer = findMeantFilter(query);
  const account = all.length;
  if (zones.length > 0)
    return views.renderZoneList({
      zones,
      query,
      totals: sumTotals(zones),
      account,
      skipped,
      takenAt,
      offer,
      panel,
    });
  const names = all.map(({ name }) => name);
  return views.renderNoZones(query, account, query.search ? findClosest(query.search, names) : [], offer);
}

/** Lines between two pauses: about a millisecond's work. */
const linesAtOnce = 200;

async function writeZonesCsv(zones: readonly ZoneSummary[], { signal }: Context): Promise<string> {
  let csv = writeCsvHeader(columns);
  for (let at = 0; at < zones.length; at += linesAtOnce) {
    signal.throwIfAborted();
    csv += writeCsv(columns, zones.slice(at, at + linesAtOnce));
    await yieldToEventLoop();
  }
  return csv;
}

const columns: readonly CsvColumn<ZoneSummary>[] = [
  { name: 'id', cell: ({ id }) => id },
  { name: 'name', cell: ({ name }) => name },
  { name: 'needs', cell: describeNeeds },
  { name: 'enabled', cell: ({ enabled }) => enabled?.toString() },
  { name: 'suspended', cell: ({ suspended }) => suspended?.toString() },
  { name: 'bytes_this_month', cell: ({ bandwidthUsed }) => bandwidthUsed },
  { name: 'bytes_limit', cell: ({ bandwidthLimit }) => bandwidthLimit },
  { name: 'charges_usd', cell: ({ charges }) => charges },
  { name: 'hostnames', cell: ({ hostnames }) => hostnames.join(' ') },
  { name: 'without_certificate', cell: ({ hostnamesWithoutCertificate: without }) => without.join(' ') },
  { name: 'weak_settings', cell: ({ weaknesses }) => weaknesses?.join(' ') },
  { name: 'origin', cell: ({ originUrl }) => originUrl },
  { name: 'storage_zone', cell: ({ storageZoneId }) => storageZoneId },
  { name: 'edge_script', cell: ({ edgeScriptId }) => edgeScriptId },
  { name: 'middleware_script', cell: ({ middlewareScriptId }) => middlewareScriptId },
  { name: 'app', cell: ({ appId }) => appId },
];
