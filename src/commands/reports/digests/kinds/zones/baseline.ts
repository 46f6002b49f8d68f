import { findLimit } from '../../../../../api/zones/bandwidth.ts';
import { type Attention, attentionReasons, type ZoneSummary } from '../../../../../api/zones/summary.ts';
import { yieldToEventLoop } from '../../../../../lib/time.ts';
import { flattenName, maxNamedIds, type Named, type NamedGroup, toNamed } from '../../names.ts';
import type { LimitBaseline } from './bandwidth.ts';

/** The last report of every zone, by column: three texts for any number of zones. */
export interface ZoneBaseline {
  /** Which zones were asked for. */
  readonly scope: string;
  /** When it was read, as ISO text. */
  readonly at: string;
  /** The first run on this account, as ISO text: earlier figures are of another account. */
  readonly since: string;
  /** One line a zone, as in `names`. */
  readonly ids: string;
  /** One character a zone: its flags. */
  readonly flags: string;
  readonly names: string;
}

const states = ['suspended', 'disabled', 'near-limit', 'no-certificate'] as const satisfies Attention[];
/** Why a zone needs attention, and what was reported of its monthly limit: a bit each. */
const flagNames = [...states, 'limit-foretold', 'limit-reached'] as const;
type Flag = (typeof flagNames)[number];

/** As many as there are combinations of flags. */
const characters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';

export function hasFlag(flags: number, ...wanted: readonly Flag[]): boolean {
  return wanted.some((flag) => (flags & (1 << flagNames.indexOf(flag))) !== 0);
}

/** Fifty thousand zones are worked on in pieces, so that deliveries of Slack get their turn. */
async function forEachInPieces<T>(items: readonly T[], visit: (item: T, index: number) => void) {
  for (const [index, item] of items.entries()) {
    visit(item, index);
    if (index % 2_500 === 0) await yieldToEventLoop();
  }
}

/** The flags of each zone now, in their order. */
export async function readFlags(zones: readonly ZoneSummary[], now: Date): Promise<Uint8Array> {
  const flags = new Uint8Array(zones.length);
  await forEachInPieces(zones, (zone, index) => {
    const limit = findLimit(zone, now);
    const names: Flag[] = attentionReasons(zone);
    if (limit) names.push(limit.reaches ? 'limit-foretold' : 'limit-reached');
    flags[index] = names.reduce((bits, name) => bits | (1 << flagNames.indexOf(name)), 0);
  });
  return flags;
}

/** `flags` are those of `zones`, in the same order. */
export async function createZoneBaseline(
  zones: readonly Named[],
  flags: Uint8Array,
  about: Pick<ZoneBaseline, 'scope' | 'at' | 'since'>,
): Promise<ZoneBaseline> {
  const names: string[] = [];
  await forEachInPieces(zones, ({ name }) => names.push(flattenName(name)));
  const written = Array.from(flags, (bits) => characters.charAt(bits)).join('');
  const ids = zones.map(({ id }) => id).join('\n');
  return { ...about, ids, flags: written, names: names.join('\n') };
}

/** The last report, by the zone's id. */
type KnownZones = ReadonlyMap<string, { readonly name: string; readonly flags: number }>;

export async function readZoneBaseline({ ids, flags, names }: ZoneBaseline): Promise<KnownZones> {
  const known = new Map<string, { name: string; flags: number }>();
  const lines = names.split('\n');
  await forEachInPieces(ids === '' ? [] : ids.split('\n'), (id, index) =>
    known.set(id, { name: lines[index] ?? '', flags: characters.indexOf(flags.charAt(index)) }),
  );
  return known;
}

export function findReportedLimit(before: KnownZones | undefined, id: string): LimitBaseline {
  const flags = before?.get(id)?.flags ?? 0;
  if (hasFlag(flags, 'limit-reached')) return 'reached';
  return hasFlag(flags, 'limit-foretold') ? 'foretold' : 'nothing';
}

export type ByAttention = Readonly<Record<Attention, NamedGroup>>;

export interface TroubledZone extends Named {
  readonly flags: number;
  readonly used?: number | undefined;
  readonly limit?: number | undefined;
}

const mostTroubled = 40;
/** The most urgent first. */
const urgency: readonly Flag[] = [
  'suspended',
  'disabled',
  'limit-reached',
  'near-limit',
  'limit-foretold',
  'no-certificate',
];

/** The zones with a flag, the most urgent first. `flags` are those of `zones`, in the same order. */
export function findTroubledZones(zones: readonly ZoneSummary[], flags: Uint8Array): TroubledZone[] {
  const found = urgency.map((): TroubledZone[] => []);
  for (const [index, zone] of zones.entries()) {
    const bits = flags[index] ?? 0;
    if (bits === 0) continue;
    const group = found[urgency.findIndex((flag) => hasFlag(bits, flag))] ?? [];
    const { bandwidthUsed: used, bandwidthLimit: limit } = zone;
    if (group.length < mostTroubled) group.push({ ...toNamed(zone), flags: bits, used, limit });
  }
  return found.flat().slice(0, mostTroubled);
}

export interface ZoneNews {
  readonly joined: NamedGroup;
  readonly left: NamedGroup;
  readonly became: ByAttention;
  readonly recovered: ByAttention;
}

/** Differences to the last report. */
export async function findZoneNews(
  zones: readonly ZoneSummary[],
  flags: Uint8Array,
  before: KnownZones,
): Promise<ZoneNews> {
  const [joined, left, became, recovered] = [createGroup(), createGroup(), createGroups(), createGroups()];
  const missing = new Map(before);
  await forEachInPieces(zones, (zone, index) => {
    const known = before.get(zone.id);
    const were = known?.flags ?? 0;
    const are = flags[index] ?? 0;
    if (known) missing.delete(zone.id);
    else add(joined, zone);
    if (were === are) return;
    for (const state of states) {
      const [was, is] = [hasFlag(were, state), hasFlag(are, state)];
      // A line about its limit says more.
      const hasLine = state === 'near-limit' && hasFlag(are, 'limit-reached', 'limit-foretold');
      if (is && !was && !hasLine) add(became[state], zone, nameFor(zone, state));
      if (was && !is) add(recovered[state], zone);
    }
  });
  for (const [id, { name }] of missing) add(left, { id, name });
  return { joined, left, became, recovered };
}

/** A missing certificate is fixed by hostname. */
function nameFor({ name, hostnamesWithoutCertificate: without }: ZoneSummary, state: Attention): string {
  if (state !== 'no-certificate' || without.length === 0) return name;
  return `${name} (${without[0]}${without.length > 1 ? ` and ${without.length - 1} more` : ''})`;
}

/** Counts zones and keeps the names of the first. */
type Group = { count: number; readonly first: Named[] };

function createGroup(): Group {
  return { count: 0, first: [] };
}

function createGroups(): Record<Attention, Group> {
  return Object.fromEntries(states.map((state) => [state, createGroup()])) as Record<Attention, Group>;
}

function add(group: Group, { id, name }: Named, shown = name): void {
  group.count += 1;
  if (group.first.length < maxNamedIds) group.first.push(toNamed({ id, name: shown }));
}
