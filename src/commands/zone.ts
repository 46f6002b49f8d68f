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

/** Longer words go into no request: what a service takes in an address has an end. */
const longestSearch = 200;

/** An exact id, name or hostname; else every zone that has the words in a name or hostname; else what is near. */
async function lookUp(typed: string, context: Context): Promise<Message> {
  const host = hostOf(typed);
  const wanted: Wanted = { name: typed.trim(), words: host };
  const known = context.snapshots.of(context.person).peek();
  // The CDN's own search finds names in one small request; ids, other spellings and some hostnames only the whole list.
  if (!known && !/^\d+$/u.test(host) && host.length <= longestSearch) {
    const { pullZones } = await context.cdn();
    const zone = await pullZones.find((zone) => zone.name === wanted.name || hasHostname(zone, host), {
      search: host,
    });
    if (zone) return drawn(zone, context);
  }
  const snapshot = known ?? (await allZones(context));
  const exact = exactly(snapshot, wanted);
  const found = exact.length > 0 ? exact : snapshot.zones.filter((zone) => matches(zone, host));
  const [one] = found;
  if (!one) return choices.noZone(wanted.name, closest(host, namesOf(snapshot, host)));
  if (found.length > 1) return choices.zoneChoice(host, found.slice(0, choices.mostChoices), found.length);
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

interface Wanted {
  /** As it was typed. */
  readonly name: string;
  /** In lower case, the host of a pasted address. */
  readonly words: string;
}

/** The zones that are meant: by id or name, the name as it was typed before other spellings of it, else by hostname. */
function exactly({ zones }: Snapshot, { name, words }: Wanted): ZoneSummary[] {
  const spelled = zones.filter((zone) => zone.name === name);
  const named = spelled.length > 0 ? spelled : zones.filter((zone) => zone.name.toLowerCase() === words);
  // A zone may be named like another one's id: then both are offered.
  const meant = zones.filter((zone) => zone.id === words || named.includes(zone));
  return meant.length > 0 ? meant : zones.filter((zone) => hasHostname(zone, words)).slice(0, 1);
}

function hasHostname(zone: ZoneSummary, wanted: string): boolean {
  return zone.hostnames.some((hostname) => hostname.toLowerCase() === wanted);
}

/** What may have been meant: names, and hostnames where a hostname was typed. */
function namesOf({ zones }: Snapshot, wanted: string): string[] {
  return zones.flatMap(({ name, hostnames }) => (wanted.includes('.') ? hostnames : [name]));
}
