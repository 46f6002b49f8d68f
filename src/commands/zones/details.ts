import { z } from 'zod';
import { toWireZone, type Zone } from '../../api/zones/members.ts';
import { UserError } from '../../errors.ts';
import type { Message } from '../../views/blocks/blocks.ts';
import { formatCode } from '../../views/blocks/text.ts';
import { type ZonePart, zoneParts } from '../../views/zones/parts.ts';
import { renderUnclearZone, renderZoneForm, renderZoneOption } from '../../views/zones/rows.ts';
import * as views from '../../views/zones/zone.ts';
import { type Action, type Command, type Context, defineForm } from '../define.ts';
import { noteErrors } from '../origin-errors/read.ts';
import type { Words } from '../words.ts';
import { createMissingError, listHint, lookUpZone, nameZone, type ZoneName } from './lookup.ts';
import { defineZonePicker } from './pickers.ts';

export const zoneCommand: Command = {
  name: 'zone',
  aliases: ['show'],
  usage: `zone <id|name|hostname> [${zoneParts.join('|')}]`,
  summary: 'One zone, or a part of it: hostnames, caching, security, edge rules, optimizer, logging',
  label: 'Find a zone',
  examples: ['zone shop', 'zone shop security', 'zone cdn.example.com'],
  needs: 'read',
  shares: true,
  modal: (words) => (words.text === '' ? renderZoneForm() : undefined),
  run: showByWords,
};

export const zoneActions: Action[] = [
  // The list stays, the zone is a new message.
  { id: 'zones:show', needs: 'read', newMessage: true, run: showByValue },
  {
    id: 'zones:open',
    needs: 'read',
    newMessage: true,
    run: async (id, context) => showByValue(readPickedZone(id), context),
  },
  // The same zone or another part of it, read again, in its place.
  { id: 'zones:refresh', needs: 'read', run: showByValue },
  { id: 'zones:part', needs: 'read', run: showByValue },
  // A file with every field that is not secret.
  {
    id: 'zones:file',
    needs: 'read',
    newMessage: true,
    async run(id, context) {
      const zone = await loadZoneById(id, context);
      const json = `${JSON.stringify(toWireZone(zone), undefined, 2)}\n`;
      return views.renderZoneFile({ summary: zone.summary, json, asOf: context.now() });
    },
  },
];

const partAliases = new Map<string, ZonePart>([
  ['settings', 'all'],
  ['certificates', 'hostnames'],
  ['cache', 'caching'],
  ['logs', 'logging'],
]);

function findPart(word = ''): ZonePart | undefined {
  const typed = word.toLowerCase();
  return zoneParts.find((part) => part === typed) ?? partAliases.get(typed);
}

/** The id of the zone that was chosen in a menu. */
export const pickedZone = z
  .string({ error: 'Pick a zone.' })
  .regex(/^\d+$/u, { error: 'That line is not a zone. Pick one.' });

/** @throws UserError for a line of a menu that only informs. */
export function readPickedZone(id: string): string {
  if (pickedZone.safeParse(id).success) return id;
  throw new UserError('That line is not a zone.', 'Pick another one, or type a part of its name.');
}

export const zoneForm = defineForm({
  id: 'zones:submit',
  needs: 'read',
  fields: z.object({ zone: pickedZone }),
  run: ({ zone }, context: Context) => showByValue(zone, context),
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

/** The value of a button: the id, and the part that is shown instead of the overview. */
async function showByValue(value: string, context: Context): Promise<Message> {
  const [id = '', word] = value.split(' ');
  return renderZone(await loadZoneById(id, context), findPart(word), context);
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
  return (name && (await pullZones.find(isIt, { search: name }))) || pullZones.find(isIt);
}

function renderZone(zone: Zone, part: ZonePart | undefined, context: Context): Message {
  noteErrors(zone.summary, {}, context);
  const shown = { zone, asOf: context.now(), panel: context.panel };
  return part ? views.renderZonePart(shown, part) : views.renderZone(shown);
}
