import type { Option } from '@slack/types';
import { z } from 'zod';
import type { Zone } from '../api/zone.ts';
import type { ZoneSummary } from '../api/zone-summary.ts';
import { UserError } from '../errors.ts';
import { code } from '../views/text.ts';
import * as views from '../views/zone.ts';
import * as choices from '../views/zone-choice.ts';
import { attention } from './attention.ts';
import { type Action, type Command, type Context, defineForm, type Message, type Picker } from './define.ts';
import { closest } from './did-you-mean.ts';
import type { Snapshot } from './snapshots.ts';
import { matches } from './zone-query.ts';
import { allZones } from './zone-snapshot.ts';

export const zoneCommand: Command = {
  name: 'zone',
  aliases: ['show'],
  usage: 'zone <id|name|hostname>',
  summary: 'Show one zone: hostnames, caching, security, edge rules, optimizer, logging',
  examples: ['zone shop', 'zone 1001', 'zone cdn.example.com'],
  needs: 'read',
  modal: (words) => (words.text === '' ? choices.zoneForm() : undefined),
  run: (words, context) => lookUp(words.text, context),
};

/** A zone's button, in a list of its own or in others: the list stays, the zone comes below. */
export const showZone: Action = { id: 'zones:show', needs: 'read', apart: true, run: byId };

export const zoneForm = defineForm({
  id: 'zones:submit',
  needs: 'read',
  fields: z.object({
    zone: z.string({ error: 'Pick a zone.' }).regex(/^\d+$/u, { error: 'This line is no zone. Pick one.' }),
  }),
  run: ({ zone }, context) => byId(zone, context),
});

/** Options in a menu, at most: https://docs.slack.dev/reference/block-kit/block-elements/select-menu-element */
const mostOptions = 100;

export const zonePicker: Picker = {
  id: 'zones:pick',
  needs: 'read',
  async run(typed, context): Promise<Option[]> {
    const { zones } = await allZones(context);
    const search = typed.trim().toLowerCase();
    const found = zones.filter((zone) => matches(zone, search));
    const shown = found.length > mostOptions ? found.slice(0, mostOptions - 1) : found;
    return choices.zoneOptions(shown, found.length - shown.length);
  },
};

async function byId(id: string, context: Context): Promise<Message> {
  const known = context.snapshots
    .of(context.person)
    .peek()
    ?.zones.find((zone) => zone.id === id);
  const zone = await readWhole({ id, name: known?.name ?? '' }, context);
  if (!zone)
    throw new UserError(
      `There is no zone ${code(id, 40)} any more.`,
      'Type `/cdn zones` for the list as it is now.',
    );
  return drawn(zone, context);
}

/** An exact id, name or hostname; else every zone that has the words in a name or hostname; else what is near. */
async function lookUp(typed: string, context: Context): Promise<Message> {
  const wanted = hostOf(typed);
  if (wanted.length > 253) {
    throw new UserError('No zone has a name this long.', 'Type its id, its name or one of its hostnames.');
  }
  const known = context.snapshots.of(context.person).peek();
  // The CDN's own search finds names in one small request; ids and some hostnames only the whole list does.
  if (!known && !/^\d+$/u.test(wanted)) {
    const { pullZones } = await context.cdn();
    const zone = await pullZones.find((zone) => isExactly(zone, wanted), { search: wanted });
    if (zone) return drawn(zone, context);
  }
  const snapshot = known ?? (await allZones(context));
  const found = exactly(snapshot, wanted) ?? snapshot.zones.filter((zone) => matches(zone, wanted));
  const [one] = found;
  if (!one) return choices.noZone(wanted, closest(wanted, namesOf(snapshot, wanted)));
  if (found.length > 1) return choices.zoneChoice(wanted, found.slice(0, choices.mostChoices), found.length);
  const zone = await readWhole(one, context);
  if (zone) return drawn(zone, context);
  context.snapshots.of(context.person).renew();
  throw new UserError(`The zone ${code(one.name)} is gone.`, 'Type `/cdn zones` for the list as it is now.');
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
  return views.zone({ zone, attention: attention(zone.summary), asOf: context.now() });
}

/** `https://CDN.example.com/a.jpg` → `cdn.example.com`: people paste addresses. */
function hostOf(typed: string): string {
  return typed
    .trim()
    .toLowerCase()
    .replace(/^#(?=\d+$)/u, '')
    .replace(/^[a-z]+:\/\/(?:[^/@]*@)?([^/:?#]+).*$/u, '$1')
    .replace(/^([a-z\d-]+(?:\.[a-z\d-]+)+)(?:[:/?#].*)$/u, '$1')
    .replace(/\.$/u, '');
}

function isExactly(zone: ZoneSummary, wanted: string): boolean {
  return zone.id === wanted || zone.name.toLowerCase() === wanted || hasHostname(zone, wanted);
}

function exactly({ zones }: Snapshot, wanted: string): [ZoneSummary] | undefined {
  const zone =
    zones.find(({ id }) => id === wanted) ??
    zones.find(({ name }) => name.toLowerCase() === wanted) ??
    zones.find((zone) => hasHostname(zone, wanted));
  return zone && [zone];
}

function hasHostname(zone: ZoneSummary, wanted: string): boolean {
  return zone.hostnames.some((hostname) => hostname.toLowerCase() === wanted);
}

/** What may have been meant: names, and hostnames where a hostname was typed. */
function namesOf({ zones }: Snapshot, wanted: string): string[] {
  return zones.flatMap(({ name, hostnames }) => (wanted.includes('.') ? hostnames : [name]));
}
