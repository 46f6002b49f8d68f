import { z } from 'zod';
import type { ZoneSummary } from '../../api/zones/summary.ts';
import { toWireZone, type Zone } from '../../api/zones/zone.ts';
import { UserError } from '../../errors.ts';
import type { Message } from '../../views/blocks/blocks.ts';
import { formatCode } from '../../views/blocks/text.ts';
import { renderUnclearZone, renderZoneForm, renderZoneOption } from '../../views/zones/rows.ts';
import * as views from '../../views/zones/zone.ts';
import { type Action, type Command, type Context, defineForm, type With } from '../define.ts';
import { findKnownZones, lookUpZone } from './lookup.ts';
import { defineZonePicker } from './pickers.ts';

export const zoneCommand: Command<'zoneCache'> = {
  name: 'zone',
  aliases: ['show'],
  keywords: { logs: 'zone', logging: 'zone', certificate: 'zone', certificates: 'zone' },
  usage: 'zone <id|name|hostname>',
  summary: 'One zone: hostnames, caching, security, edge rules, optimizer, logging',
  label: 'Find a zone',
  examples: ['zone shop', 'zone 1001', 'zone cdn.example.com'],
  needs: 'read',
  shares: true,
  modal: (words) => (words.text === '' ? renderZoneForm() : undefined),
  run: (words, context) => showByWords(words.text, context),
};

export const zoneActions: Action<'zoneCache'>[] = [
  // The list stays, the zone is a new message.
  { id: 'zones:show', needs: 'read', newMessage: true, run: showById },
  // The same zone, read again, in its place.
  { id: 'zones:refresh', needs: 'read', run: showById },
  // A file with every field that is not secret.
  {
    id: 'zones:file',
    needs: 'read',
    newMessage: true,
    async run(id, context) {
      // The state that the answer showed, if it is still cached.
      const known = cachedFiles(context).get(id);
      return views.renderZoneFile(known ?? createZoneFile(await loadZoneById(id, context), context));
    },
  },
];

/** The id of the zone that was chosen in a menu. */
export const pickedZone = z
  .string({ error: 'Pick a zone.' })
  .regex(/^\d+$/u, { error: 'This line is no zone. Pick one.' });

export const zoneForm = defineForm({
  id: 'zones:submit',
  needs: 'read',
  fields: z.object({ zone: pickedZone }),
  run: ({ zone }, context: With<'zoneCache'>) => showById(zone, context),
});

export const zonePicker = defineZonePicker({
  id: 'zones:pick',
  list: (zones) => zones,
  toCandidate: ({ id, name, hostnames }) => ({ id, names: [name, ...hostnames] }),
  toOption: renderZoneOption,
  idShape: /^\d{1,19}$/u,
  messages: { none: 'Your key sees no zones', noMatch: 'None of your zones matches' },
});

async function showById(id: string, context: With<'zoneCache'>): Promise<Message> {
  const files = cachedFiles(context);
  return renderDetails(await loadZoneById(id, context), files, context);
}

async function loadZoneById(id: string, context: With<'zoneCache'>): Promise<Zone> {
  const known = findKnownZones(context)?.zones.find((zone) => zone.id === id);
  const zone = await loadZone({ id, name: known?.name ?? '' }, context);
  if (zone) return zone;
  throw new UserError(`There is no zone ${formatCode(id, 40)} among those that your key sees.`, listHint);
}

async function showByWords(typed: string, context: With<'zoneCache'>): Promise<Message> {
  const files = cachedFiles(context);
  const found = await lookUpZone(typed, context);
  if (found.kind !== 'one') return renderUnclearZone(found);
  const { zone, whole } = found;
  const read = whole ?? (await loadZone(zone, context));
  if (read) return renderDetails(read, files, context);
  context.zoneCache.forPerson(context.person).expire();
  throw new UserError(`The zone ${formatCode(zone.name)} is gone.`, listHint);
}

const listHint = 'Type `/cdn zones` for the list as it is now.';

/** A zone with every field. Its name narrows the CDN's answer; a renamed zone is found by its id alone. */
async function loadZone(zone: Pick<ZoneSummary, 'id' | 'name'>, context: Context): Promise<Zone | undefined> {
  const { pullZones } = await context.cdn();
  const isIt = ({ id }: ZoneSummary) => id === zone.id;
  const narrowed = zone.name === '' ? undefined : await pullZones.find(isIt, { search: zone.name });
  return narrowed ?? pullZones.find(isIt);
}

function renderDetails(zone: Zone, files: ReturnType<typeof cachedFiles>, context: Context): Message {
  const file = createZoneFile(zone, context);
  if (file.json.length <= maxCachedLength) files.set(zone.summary.id, file);
  return views.renderZone(zone, file.asOf);
}

/** Characters. Up to two hundred files are cached; a longer one is read again. */
const maxCachedLength = 100_000;

/** Call it before resolving the key, so that results read with a revoked key are not cached. */
function cachedFiles({ person, zoneCache }: With<'zoneCache'>) {
  return zoneCache.forPerson(person).results<views.ZoneFile>('zone-files');
}

function createZoneFile(zone: Zone, context: Context): views.ZoneFile {
  const { id, name } = zone.summary;
  const json = `${JSON.stringify(toWireZone(zone), undefined, 2)}\n`;
  return { summary: { id, name }, json, asOf: context.now() };
}
