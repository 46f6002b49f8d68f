import { z } from 'zod';
import type { ZoneSummary } from '../../api/zones/summary.ts';
import { toWireZone, type Zone } from '../../api/zones/zone.ts';
import { UserError } from '../../errors.ts';
import type { Message } from '../../views/blocks/blocks.ts';
import { formatCode } from '../../views/blocks/text.ts';
import { type ZonePart, zoneParts } from '../../views/zones/parts.ts';
import { renderUnclearZone, renderZoneForm, renderZoneOption } from '../../views/zones/rows.ts';
import * as views from '../../views/zones/zone.ts';
import { type Action, type Command, type Context, defineForm, type With } from '../define.ts';
import type { Words } from '../words.ts';
import { findKnownZones, lookUpZone } from './lookup.ts';
import { defineZonePicker } from './pickers.ts';

export const zoneCommand: Command<'zoneCache'> = {
  name: 'zone',
  aliases: ['show'],
  usage: `zone <id|name|hostname> [${zoneParts.join('|')}]`,
  summary: 'One zone, or a part of it: hostnames, caching, security, edge rules, optimizer, logging',
  label: 'Find a zone',
  examples: ['zone shop', 'zone shop security', 'zone cdn.example.com'],
  needs: 'read',
  shares: true,
  modal: (words) => (words.text === '' ? renderZoneForm() : undefined),
  run: (words, context) => showByWords(readTyped(words), context),
};

export const zoneActions: Action<'zoneCache'>[] = [
  // The list stays, the zone is a new message.
  { id: 'zones:show', needs: 'read', newMessage: true, run: showByValue },
  {
    id: 'zones:open',
    needs: 'read',
    newMessage: true,
    async run(id, context) {
      if (!pickedZone.safeParse(id).success)
        throw new UserError('This line is no zone.', 'Pick another one, or type a part of its name.');
      return showByValue(id, context);
    },
  },
  // The same zone, read again, in its place.
  { id: 'zones:refresh', needs: 'read', run: showByValue },
  // Another part of it, of the same moment if it is still cached.
  {
    id: 'zones:part',
    needs: 'read',
    run: async (value, context) => {
      const { id, part } = readValue(value);
      const known = cachedZones(context).get(id);
      return known ? renderShown({ ...known, panel: context.panel }, part) : showByValue(value, context);
    },
  },
  // A file with every field that is not secret.
  {
    id: 'zones:file',
    needs: 'read',
    newMessage: true,
    async run(id, context) {
      // The state that the answer showed, if it is still cached.
      const known = cachedZones(context).get(id);
      return views.renderZoneFile(
        createZoneFile(known ?? { zone: await loadZoneById(id, context), asOf: context.now() }),
      );
    },
  },
];

/** The value of a button: the id, and the part that is shown instead of the overview. */
function readValue(value: string): { readonly id: string; readonly part: ZonePart | undefined } {
  const [id = '', word = ''] = value.split(' ');
  return { id, part: findPart(word) };
}

const partAliases: Readonly<Record<string, ZonePart>> = {
  settings: 'all',
  certificates: 'hostnames',
  cache: 'caching',
  logs: 'logging',
};

function findPart(word: string): ZonePart | undefined {
  const typed = word.toLowerCase();
  return zoneParts.find((part) => part === typed) ?? new Map(Object.entries(partAliases)).get(typed);
}

interface TypedZone {
  readonly zone: string;
  readonly part: ZonePart | undefined;
}

/** `shop security`: no name or hostname has a space in it, so the last of several words may be a part. */
function readTyped({ text, list }: Words): TypedZone {
  const part = list.length > 1 ? findPart(list.at(-1) ?? '') : undefined;
  return part ? { zone: text.slice(0, text.lastIndexOf(' ')), part } : { zone: text, part };
}

/** The id of the zone that was chosen in a menu. */
export const pickedZone = z
  .string({ error: 'Pick a zone.' })
  .regex(/^\d+$/u, { error: 'This line is no zone. Pick one.' });

export const zoneForm = defineForm({
  id: 'zones:submit',
  needs: 'read',
  fields: z.object({ zone: pickedZone }),
  run: ({ zone }, context: With<'zoneCache'>) => showByValue(zone, context),
});

export const zonePicker = defineZonePicker({
  id: 'zones:pick',
  fields: ['zones:open', 'origin-errors:pick', 'target:zones', 'changes:zone', 'otherZone'],
  list: (zones) => zones,
  toCandidate: ({ id, name, hostnames }) => ({ id, names: [name, ...hostnames] }),
  toOption: renderZoneOption,
  idShape: /^\d{1,19}$/u,
  messages: { none: 'Your key sees no zones', noMatch: 'None of your zones matches' },
});

async function showByValue(value: string, context: With<'zoneCache'>): Promise<Message> {
  const { id, part } = readValue(value);
  const cached = cachedZones(context);
  return renderDetails(await loadZoneById(id, context), part, cached, context);
}

/** A zone with every field. @throws UserError where the person's key does not see it */
export async function loadZoneById(id: string, context: With<'zoneCache'>): Promise<Zone> {
  const known = findKnownZones(context)?.zones.find((zone) => zone.id === id);
  const zone = await loadZone({ id, name: known?.name ?? '' }, context);
  if (zone) return zone;
  throw new UserError(`There is no zone ${formatCode(id, 40)} among those that your key sees.`, listHint);
}

async function showByWords({ zone: typed, part }: TypedZone, context: With<'zoneCache'>): Promise<Message> {
  const cached = cachedZones(context);
  const found = await lookUpZone(typed, context);
  if (found.kind !== 'one') return renderUnclearZone(found, 'zone', part);
  const { zone, whole } = found;
  const read = whole ?? (await loadZone(zone, context));
  if (read) return renderDetails(read, part, cached, context);
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

function renderDetails(
  zone: Zone,
  part: ZonePart | undefined,
  cached: ReturnType<typeof cachedZones>,
  context: Context,
): Message {
  const shown = { zone, asOf: context.now() };
  if (JSON.stringify(zone).length <= maxCachedLength) cached.set(zone.summary.id, shown);
  return renderShown({ ...shown, panel: context.panel }, part);
}

function renderShown(shown: views.ShownZone, part: ZonePart | undefined): Message {
  return part ? views.renderZonePart(shown, part) : views.renderZone(shown);
}

/** Characters. Up to two hundred zones are cached; a longer one is read again. */
const maxCachedLength = 100_000;

/** Call it before resolving the key, so that results read with a revoked key are not cached. */
function cachedZones({ person, zoneCache }: With<'zoneCache'>) {
  return zoneCache.forPerson(person).results<Omit<views.ShownZone, 'panel'>>('zones');
}

function createZoneFile({ zone, asOf }: Omit<views.ShownZone, 'panel'>): views.ZoneFile {
  const { id, name } = zone.summary;
  const json = `${JSON.stringify(toWireZone(zone), undefined, 2)}\n`;
  return { summary: { id, name }, json, asOf };
}
