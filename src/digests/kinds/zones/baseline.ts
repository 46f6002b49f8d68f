import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { attentionReasons, type ZoneSummary } from '../../../api/zones/summary.ts';
import { flattenName, type Named, packIds, unpackIds } from '../../figures/compact-ids.ts';
import { findLimit, type LimitBaseline } from './limits.ts';

/** What a digest remembers of every zone it last reported, by column: three texts, whatever the number of zones. */
export interface ZoneBaseline {
  /** Which zones were asked for. */
  readonly scope: string;
  /** When it was read, as ISO text. */
  readonly at: string;
  /** The first run on this account, as ISO text: earlier figures are of another account. */
  readonly since: string;
  /** See `packIds`. */
  readonly ids: string;
  /** One character a zone: its flags. */
  readonly flags: string;
  /** One line a zone. */
  readonly names: string;
}

/** Why a zone needs attention, and what was reported of its monthly limit. */
const flagNames = [
  'suspended',
  'disabled',
  'near-limit',
  'no-certificate',
  'limit-foretold',
  'limit-reached',
] as const;
type Flag = (typeof flagNames)[number];

// 64 characters that JSON does not escape.
const characters = Array.from({ length: 64 }, (_, bits) =>
  String.fromCharCode(bits < 44 ? 48 + bits : 49 + bits),
);
const bitsOf = new Map(characters.map((character, bits) => [character, bits]));

export function hasFlag(flags: number, flag: Flag): boolean {
  return (flags & (1 << flagNames.indexOf(flag))) !== 0;
}

/** Fifty thousand zones are worked on in pieces, so that deliveries of Slack get their turn. */
export const chunk = 5_000;

/** The flags of each zone now, in their order. */
export async function readFlags(zones: readonly ZoneSummary[], now: Date): Promise<Uint8Array> {
  const flags = new Uint8Array(zones.length);
  for (const [index, zone] of zones.entries()) {
    const limit = findLimit(zone, now);
    const names: Flag[] = attentionReasons(zone);
    if (limit) names.push(limit.reaches ? 'limit-foretold' : 'limit-reached');
    for (const name of names) flags[index] = (flags[index] ?? 0) | (1 << flagNames.indexOf(name));
    if (index % chunk === chunk - 1) await yieldToEventLoop();
  }
  return flags;
}

/** `flags` are those of `zones`, in the same order. */
export async function createZoneBaseline(
  zones: readonly Named[],
  flags: Uint8Array,
  about: Pick<ZoneBaseline, 'scope' | 'at' | 'since'>,
): Promise<ZoneBaseline> {
  const ids = packIds(zones.map(({ id }) => id));
  await yieldToEventLoop();
  const names: string[] = [];
  for (const [index, { name }] of zones.entries()) {
    names.push(flattenName(name));
    if (index % chunk === chunk - 1) await yieldToEventLoop();
  }
  await yieldToEventLoop();
  const written = Array.from(flags, (bits) => characters[bits] ?? '0').join('');
  return { ...about, ids, flags: written, names: names.join('\n') };
}

export interface ZoneBaselineReader {
  readonly count: number;
  readonly placeOf: (id: string) => number | undefined;
  readonly flagsAt: (place: number) => number;
  readonly at: (place: number) => Named;
}

export async function readZoneBaseline(baseline: ZoneBaseline): Promise<ZoneBaselineReader> {
  const ids = unpackIds(baseline.ids);
  await yieldToEventLoop();
  const places = new Map(ids.map((id, place) => [id, place]));
  await yieldToEventLoop();
  // A name has no line break, and an empty baseline no line.
  const names = baseline.names.split('\n');
  return {
    count: ids.length,
    placeOf: (id) => places.get(id),
    flagsAt: (place) => bitsOf.get(baseline.flags.charAt(place)) ?? 0,
    at: (place) => ({ id: ids[place] ?? '', name: names[place] ?? '' }),
  };
}

export function reportedLimit(before: ZoneBaselineReader | undefined, id: string): LimitBaseline {
  const place = before?.placeOf(id);
  if (before === undefined || place === undefined) return 'nothing';
  const flags = before.flagsAt(place);
  if (hasFlag(flags, 'limit-reached')) return 'reached';
  return hasFlag(flags, 'limit-foretold') ? 'foretold' : 'nothing';
}
