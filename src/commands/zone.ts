import { z } from 'zod';
import type { Zone } from '../api/zone.ts';
import type { ZoneSummary } from '../api/zone-summary.ts';
import { wireOf } from '../api/zone-wire.ts';
import { UserError } from '../errors.ts';
import { attention } from '../reports/attention.ts';
import type { Message } from '../views/message.ts';
import { code } from '../views/text.ts';
import * as views from '../views/zone.ts';
import * as choices from '../views/zone-choice.ts';
import { type Action, type Command, type Context, defineForm } from './define.ts';
import { weaknesses } from './posture.ts';
import { lookUpZone } from './zone-lookup.ts';
import { defineZonePicker } from './zone-pickers.ts';
import { knownZones } from './zone-snapshot.ts';

export const zoneCommand: Command = {
  name: 'zone',
  aliases: ['show'],
  usage: 'zone <id|name|hostname>',
  summary: 'Show one zone: hostnames, caching, security, edge rules, optimizer, logging',
  label: 'Find a zone',
  examples: ['zone shop', 'zone 1001', 'zone cdn.example.com'],
  needs: 'read',
  modal: (words) => (words.text === '' ? choices.zoneForm() : undefined),
  run: (words, context) => lookUp(words.text, context),
};

/** A zone's button, in a list of its own or in others: the list stays, the zone comes below. */
export const showZone: Action = { id: 'zones:show', needs: 'read', apart: true, run: byId };

/** Every field that is not secret, for those who look for one that no section has room for. */
export const sendZone: Action = {
  id: 'zones:file',
  needs: 'read',
  apart: true,
  async run(id, context) {
    const zone = await wholeById(id, context);
    const json = `${JSON.stringify(wireOf(zone), undefined, 2)}\n`;
    return views.zoneFile({ zone, json, asOf: context.now() });
  },
};

export const zoneForm = defineForm({
  id: 'zones:submit',
  needs: 'read',
  fields: z.object({
    zone: z.string({ error: 'Pick a zone.' }).regex(/^\d+$/u, { error: 'This line is no zone. Pick one.' }),
  }),
  run: ({ zone }, context) => byId(zone, context),
});

export const zonePicker = defineZonePicker({
  id: 'zones:pick',
  things: (zones) => zones,
  candidate: ({ id, name, hostnames }) => ({ id, names: [name, ...hostnames] }),
  option: choices.zoneOption,
  idShape: /^\d{1,19}$/u,
  says: { none: 'Your key sees no zones', noMatch: 'None of your zones matches' },
});

async function byId(id: string, context: Context): Promise<Message> {
  return drawn(await wholeById(id, context), context);
}

async function wholeById(id: string, context: Context): Promise<Zone> {
  const known = knownZones(context)?.zones.find((zone) => zone.id === id);
  const zone = await readWhole({ id, name: known?.name ?? '' }, context);
  if (!zone)
    throw new UserError(
      `There is no zone ${code(id, 40)} among those that your key sees.`,
      'Type `/cdn zones` for the list as it is now.',
    );
  return zone;
}

async function lookUp(typed: string, context: Context): Promise<Message> {
  const found = await lookUpZone(typed, context);
  if (found.kind !== 'one') return choices.notOneZone(found);
  const { zone, whole } = found;
  const read = whole ?? (await readWhole(zone, context));
  if (read) return drawn(read, context);
  context.snapshots.of(context.person).renew();
  throw new UserError(`The zone ${code(zone.name)} is gone.`, 'Type `/cdn zones` for the list as it is now.');
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

function drawn(zone: Zone, context: Context): Message {
  return views.zone({
    zone,
    attention: attention(zone.summary),
    weaknesses: weaknesses(zone),
    asOf: context.now(),
  });
}
