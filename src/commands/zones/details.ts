import { z } from 'zod';
import { attentionReasons, type ZoneSummary } from '../../api/zones/summary.ts';
import { findWeaknesses, toWireZone, type Zone } from '../../api/zones/zone.ts';
import { UserError } from '../../errors.ts';
import type { Message } from '../../views/blocks/message.ts';
import { formatCode } from '../../views/blocks/text.ts';
import * as choices from '../../views/zones/rows.ts';
import * as views from '../../views/zones/zone.ts';
import type { Context, With } from '../context.ts';
import { type Action, type Command, defineForm } from '../define.ts';
import { findKnownZones, lookUpZone } from './lookup.ts';
import { defineZonePicker } from './pickers.ts';

export const zoneCommand: Command<'zoneCache'> = {
  name: 'zone',
  aliases: ['show'],
  keywords: { logs: 'zone', logging: 'zone', certificate: 'zone', certificates: 'zone' },
  usage: 'zone <id|name|hostname>',
  summary: 'Show one zone: hostnames, caching, security, edge rules, optimizer, logging',
  label: 'Find a zone',
  examples: ['zone shop', 'zone 1001', 'zone cdn.example.com'],
  needs: 'read',
  modal: (words) => (words.text === '' ? choices.renderZoneForm() : undefined),
  run: (words, context) => showByWords(words.text, context),
};

/** The Show button of a zone: the list stays, the zone is a new message. */
export const showZone: Action<'zoneCache'> = {
  id: 'zones:show',
  needs: 'read',
  newMessage: true,
  run: showById,
};

/** The same zone, read again, in its place. */
export const refreshZone: Action<'zoneCache'> = { id: 'zones:refresh', needs: 'read', run: showById };

/** A file with every field that is not secret. */
export const sendZone: Action<'zoneCache'> = {
  id: 'zones:file',
  needs: 'read',
  newMessage: true,
  async run(id, context) {
    // The state that the answer showed, if it is still cached.
    const known = cachedFiles(context).get(id);
    return views.renderZoneFile(known ?? createZoneFile(await loadZoneById(id, context), context));
  },
};

export const zoneForm = defineForm({
  id: 'zones:submit',
  needs: 'read',
  fields: z.object({
    zone: z.string({ error: 'Pick a zone.' }).regex(/^\d+$/u, { error: 'This line is no zone. Pick one.' }),
  }),
  run: ({ zone }, context: With<'zoneCache'>) => showById(zone, context),
});

export const zonePicker = defineZonePicker({
  id: 'zones:pick',
  list: (zones) => zones,
  toCandidate: ({ id, name, hostnames }) => ({ id, names: [name, ...hostnames] }),
  toOption: choices.renderZoneOption,
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
  if (!zone)
    throw new UserError(
      `There is no zone ${formatCode(id, 40)} among those that your key sees.`,
      'Type `/cdn zones` for the list as it is now.',
    );
  return zone;
}

async function showByWords(typed: string, context: With<'zoneCache'>): Promise<Message> {
  const files = cachedFiles(context);
  const found = await lookUpZone(typed, context);
  if (found.kind !== 'one') return choices.renderUnclearZone(found);
  const { zone, whole } = found;
  const read = whole ?? (await loadZone(zone, context));
  if (read) return renderDetails(read, files, context);
  context.zoneCache.forPerson(context.person).expire();
  throw new UserError(
    `The zone ${formatCode(zone.name)} is gone.`,
    'Type `/cdn zones` for the list as it is now.',
  );
}

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
  return views.renderZone({
    zone,
    attention: attentionReasons(zone.summary),
    weaknesses: findWeaknesses(zone),
    asOf: file.asOf,
  });
}

interface ZoneFile {
  readonly zone: Pick<ZoneSummary, 'id' | 'name'>;
  readonly json: string;
  readonly asOf: Date;
}

/** Characters. Up to two hundred files are cached; a longer one is read again. */
const maxCachedLength = 100_000;

/** Call it before resolving the key, so that results read with a revoked key are not cached. */
function cachedFiles({ person, zoneCache }: With<'zoneCache'>) {
  return zoneCache.forPerson(person).results<ZoneFile>('zone-files');
}

function createZoneFile(zone: Zone, context: Context): ZoneFile {
  const { id, name } = zone.summary;
  return {
    zone: { id, name },
    json: `${JSON.stringify(toWireZone(zone), undefined, 2)}\n`,
    asOf: context.now(),
  };
}
