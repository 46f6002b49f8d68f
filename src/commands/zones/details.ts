import { z } from 'zod';
import { attentionReasons, type ZoneSummary } from '../../api/zones/summary.ts';
import { findWeaknesses, type Zone, zoneAsSent } from '../../api/zones/zone.ts';
import { UserError } from '../../errors.ts';
import type { Message } from '../../views/blocks/message.ts';
import { formatCode } from '../../views/blocks/text.ts';
import * as choices from '../../views/zones/choice.ts';
import * as views from '../../views/zones/zone.ts';
import type { Context, With } from '../context.ts';
import { type Action, type Command, defineForm } from '../define.ts';
import { findKnownZones } from './load-zones.ts';
import { lookUpZone } from './lookup.ts';
import { defineZonePicker } from './pickers.ts';

export const zoneCommand: Command<'zoneCache'> = {
  name: 'zone',
  aliases: ['show'],
  usage: 'zone <id|name|hostname>',
  summary: 'Show one zone: hostnames, caching, security, edge rules, optimizer, logging',
  label: 'Find a zone',
  examples: ['zone shop', 'zone 1001', 'zone cdn.example.com'],
  needs: 'read',
  modal: (words) => (words.text === '' ? choices.renderZoneForm() : undefined),
  run: (words, context) => lookUp(words.text, context),
};

/** A zone's button, in a list of its own or in others: the list stays, the zone comes below. */
export const showZone: Action<'zoneCache'> = { id: 'zones:show', needs: 'read', newMessage: true, run: byId };

/** The same zone as it is now, in its place. */
export const refreshZone: Action<'zoneCache'> = { id: 'zones:refresh', needs: 'read', run: byId };

/** Every field that is not secret, for those who look for one that no section has room for. */
export const sendZone: Action<'zoneCache'> = {
  id: 'zones:file',
  needs: 'read',
  newMessage: true,
  async run(id, context) {
    // What the answer showed, as long as it is remembered.
    const known = filesOf(context).get(id);
    return views.renderZoneFile(known ?? fileOf(await wholeById(id, context), context));
  },
};

export const zoneForm = defineForm({
  id: 'zones:submit',
  needs: 'read',
  fields: z.object({
    zone: z.string({ error: 'Pick a zone.' }).regex(/^\d+$/u, { error: 'This line is no zone. Pick one.' }),
  }),
  run: ({ zone }, context: With<'zoneCache'>) => byId(zone, context),
});

export const zonePicker = defineZonePicker({
  id: 'zones:pick',
  things: (zones) => zones,
  candidate: ({ id, name, hostnames }) => ({ id, names: [name, ...hostnames] }),
  option: choices.zoneOption,
  idShape: /^\d{1,19}$/u,
  says: { none: 'Your key sees no zones', noMatch: 'None of your zones matches' },
});

async function byId(id: string, context: With<'zoneCache'>): Promise<Message> {
  const files = filesOf(context);
  return drawn(await wholeById(id, context), files, context);
}

async function wholeById(id: string, context: With<'zoneCache'>): Promise<Zone> {
  const known = findKnownZones(context)?.zones.find((zone) => zone.id === id);
  const zone = await readWhole({ id, name: known?.name ?? '' }, context);
  if (!zone)
    throw new UserError(
      `There is no zone ${formatCode(id, 40)} among those that your key sees.`,
      'Type `/cdn zones` for the list as it is now.',
    );
  return zone;
}

async function lookUp(typed: string, context: With<'zoneCache'>): Promise<Message> {
  const files = filesOf(context);
  const found = await lookUpZone(typed, context);
  if (found.kind !== 'one') return choices.notOneZone(found);
  const { zone, whole } = found;
  const read = whole ?? (await readWhole(zone, context));
  if (read) return drawn(read, files, context);
  context.zoneCache.forPerson(context.person).expire();
  throw new UserError(
    `The zone ${formatCode(zone.name)} is gone.`,
    'Type `/cdn zones` for the list as it is now.',
  );
}

/** A zone with every field. Its name narrows what the CDN has to send; renamed meanwhile, it is found by id alone. */
async function readWhole(
  zone: Pick<ZoneSummary, 'id' | 'name'>,
  context: Context,
): Promise<Zone | undefined> {
  const { pullZones } = await context.cdn();
  const isIt = ({ id }: ZoneSummary) => id === zone.id;
  const narrowed = zone.name === '' ? undefined : await pullZones.find(isIt, { search: zone.name });
  return narrowed ?? pullZones.find(isIt);
}

function drawn(zone: Zone, files: ReturnType<typeof filesOf>, context: Context): Message {
  const file = fileOf(zone, context);
  if (file.json.length <= longestKept) files.set(zone.summary.id, file);
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

/** Two hundred of them are kept at most; a longer one is read again. */
const longestKept = 100_000;

/** To be asked for before the key is: what is read with a key that is gone must not be kept. */
function filesOf({ person, zoneCache }: With<'zoneCache'>) {
  return zoneCache.forPerson(person).results<ZoneFile>('zone-files');
}

function fileOf(zone: Zone, context: Context): ZoneFile {
  const { id, name } = zone.summary;
  return {
    zone: { id, name },
    json: `${JSON.stringify(zoneAsSent(zone), undefined, 2)}\n`,
    asOf: context.now(),
  };
}
