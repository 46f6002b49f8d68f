import { z } from 'zod';
import { toWireZone, type Zone } from '../../api/zones/members.ts';
import { sumTotals, type ZoneSummary } from '../../api/zones/summary.ts';
import { UserError } from '../../errors.ts';
import { type CsvColumn, writeCsv, writeCsvHeader } from '../../lib/csv.ts';
import { yieldToEventLoop } from '../../lib/time.ts';
import type { Message } from '../../views/blocks/blocks.ts';
import { formatCode } from '../../views/blocks/text.ts';
import * as lists from '../../views/zones/list.ts';
import {
  describeNeeds,
  renderUnclearZone,
  renderZoneForm,
  renderZoneOption,
} from '../../views/zones/rows.ts';
import * as views from '../../views/zones/zone.ts';
import { type Action, type Command, type Context, defineForm, type Feature } from '../define.ts';
import { findClosest } from '../did-you-mean.ts';
import { resolveFirst } from '../names.ts';
import { noteErrors } from '../origin-errors/read.ts';
import type { Words } from '../words.ts';
import {
  createMissingError,
  listHint,
  loadAllZones,
  lookUpZone,
  nameZone,
  readZoneNames,
  type ZoneName,
} from './lookup.ts';
import { defineZonePicker } from './pickers.ts';
import { decodeZoneQuery, queryNames, readFilterName, readZoneQuery, selectZones } from './query.ts';
import type { CachedZones } from './zone-cache.ts';

export const zoneCommand: Command = {
  name: 'zone',
  aliases: ['show'],
  usage: `zone <id|name|hostname> [${views.zoneParts.join('|')}]`,
  summary: 'One zone, or a part of it: hostnames, caching, security, edge rules, optimizer, logging',
  label: 'Find a zone',
  examples: ['zone shop', 'zone shop security', 'zone cdn.example.com'],
  needs: 'read',
  shares: true,
  modal: (words) => (words.text === '' ? renderZoneForm() : undefined),
  run: showByWords,
};

const zoneActions: Action[] = [
  { id: 'zones:show', needs: 'read', newMessage: true, run: showByValue },
  {
    id: 'zones:open',
    needs: 'read',
    newMessage: true,
    run: async (id, context) => showByValue(readPickedZone(id), context),
  },
  { id: 'zones:refresh', needs: 'read', run: showByValue },
  { id: 'zones:part', needs: 'read', run: showByValue },
  {
    id: 'zones:file',
    needs: 'read',
    newMessage: true,
    async run(id, context) {
      const zone = await loadZoneById(id, context);
      const json = `${JSON.stringify(toWireZone(zone), undefined, 2)}\n`;
      return views.renderZoneFile(zone.summary, json, context.now());
    },
  },
];

const partAliases = new Map<string, views.ZonePart>([
  ['settings', 'all'],
  ['certificates', 'hostnames'],
  ['cache', 'caching'],
  ['logs', 'logging'],
]);

function findPart(word = ''): views.ZonePart | undefined {
  const typed = word.toLowerCase();
  return views.zoneParts.find((part) => part === typed) ?? partAliases.get(typed);
}

export const pickedZone = z
  .string({ error: 'Pick a zone.' })
  .regex(/^\d+$/u, { error: 'That line is not a zone. Pick one.' });

/** @throws UserError for a line of a menu that only informs. */
export function readPickedZone(id: string): string {
  if (pickedZone.safeParse(id).success) return id;
  throw new UserError('That line is not a zone.', 'Pick another one, or type a part of its name.');
}

const zoneForm = defineForm({
  id: 'zones:submit',
  needs: 'read',
  fields: z.object({ zone: pickedZone }),
  again: () => ['help:run', 'zone'],
  run: ({ zone }, context: Context) => showByValue(zone, context),
});

const zonePicker = defineZonePicker({
  id: 'zones:pick',
  fields: ['zones:open', 'origin-errors:pick', 'target:zones', 'changes:zone', 'otherZone'],
  list: (zones) => zones,
  toCandidate: ({ id, name, hostnames }) => ({ id, names: [name, ...hostnames] }),
  toOption: renderZoneOption,
  idShape: /^\d{1,19}$/u,
  messages: { none: 'Your key sees no zones', noMatch: 'None of your zones matches' },
});

async function showByValue(value: string, context: Context): Promise<Message> {
  const [id = '', word, page] = value.split(' ');
  return renderZone(await loadZoneById(id, context), findPart(word), context, Number(page ?? 1));
}

/** A zone with every field. @throws UserError where the person's key does not see it */
export async function loadZoneById(id: string, context: Context): Promise<Zone> {
  const zone = await loadZone(nameZone(id, context), context);
  if (zone) return zone;
  throw createMissingError(id);
}

/** `shop security`: no name or hostname has a space in it, so the last of several words may be a part. */
async function showByWords({ text, list }: Words, context: Context): Promise<Message> {
  const part = list.length > 1 ? findPart(list.at(-1)) : undefined;
  const found = await lookUpZone(part ? text.slice(0, text.lastIndexOf(' ')) : text, context);
  if (found.kind !== 'one') return renderUnclearZone(found, 'zone', part);
  const zone = found.whole ?? (await loadZone(found.zone, context));
  if (zone) return renderZone(zone, part, context);
  context.zoneCache.forPerson(context.person).expire();
  throw new UserError(`The zone ${formatCode(found.zone.name)} is gone.`, listHint);
}

/** A zone with every field. Its name narrows the CDN's answer; a renamed zone is found by its id alone. */
async function loadZone({ id, name }: ZoneName, context: Context): Promise<Zone | undefined> {
  const { pullZones } = await context.cdn();
  const isIt = (zone: ZoneName) => zone.id === id;
  return (name && (await pullZones.find(isIt, name))) || pullZones.find(isIt);
}

function renderZone(zone: Zone, part: views.ZonePart | undefined, context: Context, page = 1): Message {
  noteErrors(zone.summary, {}, context);
  const shown = { zone, asOf: context.now(), panel: context.panel };
  return part ? views.renderZonePart(shown, part, page) : views.renderZone(shown);
}

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
    const query = readZoneQuery(await readZoneNames(words, queryNames, context));
    yield* listZones(await resolveNames(query, context), context);
  },
};

/** `app:checkout v2` → the app of that name. */
async function resolveNames(query: lists.ZoneQuery, context: Context): Promise<lists.ZoneQuery> {
  let { carried, search } = query;
  for (const kind of ['script', 'app'] as const) {
    const typed = carried[kind];
    if (typed === undefined) continue;
    const { id, others } = await resolveFirst(kind, [typed, ...search.split(' ')], context);
    carried = { ...carried, [kind]: id };
    search = others.join(' ');
  }
  return { ...query, carried, search };
}

export const zones: Feature = {
  name: 'zones',
  commands: [zonesCommand, zoneCommand],
  actions: [
    {
      id: 'zones:page',
      needs: 'read',
      run: async (words, context) => renderList(await loadAllZones(context), decodeZoneQuery(words), context),
    },
    {
      id: 'zones:csv',
      needs: 'read',
      newMessage: true,
      async run(words, context) {
        const query = decodeZoneQuery(words);
        const { zones: all, skipped, takenAt } = await loadAllZones(context);
        const { zones } = selectZones(all, query);
        const csv = await writeZonesCsv(zones, context);
        return lists.renderZonesFile(csv, zones.length, { query, takenAt, account: all.length, skipped });
      },
    },
    ...zoneActions,
  ],
  forms: [zoneForm],
  pickers: [zonePicker],
  shortcuts: [{ id: 'zones:find', needs: 'read', modal: () => renderZoneForm() }],
};

async function* listZones(query: lists.ZoneQuery, context: Context): AsyncGenerator<Message, void> {
  const mine = context.zoneCache.forPerson(context.person);
  const known = mine.get();
  if (known) return yield renderList(known, query, context);
  const { pullZones } = await context.cdn();
  const page = await pullZones.firstPage();
  if (!page.more && page.zones.length > 0) return yield renderList(mine.set(page), query, context);
  yield lists.renderLoadingZones(page.total || undefined);
  yield renderList(await loadAllZones(context), query, context);
}

function renderList(
  { zones: all, skipped, takenAt }: CachedZones,
  query: lists.ZoneQuery,
  { panel }: Context,
): Message {
  const found = selectZones(all, query);
  const meant = found.zones.length > 0 ? query : readFilterName(query);
  const { zones, unknown } = meant === query ? found : selectZones(all, meant);
  const account = all.length;
  if (zones.length > 0)
    return lists.renderZoneList({
      zones,
      query: meant,
      totals: sumTotals(zones),
      account,
      skipped,
      unknown,
      takenAt,
      panel,
    });
  const names = meant.search ? all.map(({ name }) => name) : [];
  return lists.renderNoZones(meant, { account, skipped, unknown }, findClosest(meant.search, names));
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
