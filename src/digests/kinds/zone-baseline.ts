import { setImmediate as breathe } from 'node:timers/promises';
import { attentionReasons } from '../../api/zones/attention.ts';
import type { ZoneSummary } from '../../api/zones/summary.ts';
import { findNamed, packIds, unpackIds } from '../figures/compact-ids.ts';
import type { Named } from '../figures/figures.ts';
import { findLimit } from '../figures/forecast.ts';

/** What a digest remembers of every zone it last told of, column by column: three texts, whatever their number. */
export interface ZoneBaseline {
  /** Which zones were asked for. */
  readonly scope: string;
  /** When it was found, as ISO text. */
  readonly at: string;
  /** Since when it is this account's, as ISO text: figures from before are somebody else's. */
  readonly since: string;
  /** Packed: digest-roster.ts. */
  readonly ids: string;
  /** A sign a zone: what was wrong with it. */
  readonly marks: string;
  /** A line a zone. */
  readonly names: string;
}

/** What a zone is marked with: what is wrong with it, and what was said of its monthly limit. */
const markNames = [
  'suspended',
  'disabled',
  'near-limit',
  'no-certificate',
  'limit-foretold',
  'limit-reached',
] as const;
type Mark = (typeof markNames)[number];

// Signs that JSON leaves as they are: 64 of them.
const signs = Array.from({ length: 64 }, (_, bits) => String.fromCharCode(bits < 44 ? 48 + bits : 49 + bits));
const bitsOfSign = new Map(signs.map((sign, bits) => [sign, bits]));

export function hasFlag(marks: number, mark: Mark): boolean {
  return (marks & (1 << markNames.indexOf(mark))) !== 0;
}

/** Fifty thousand zones are worked on in pieces, so that deliveries of Slack get their turn. */
const piece = 5_000;

/** What each zone is marked with now, in their order. */
export async function readFlags(zones: readonly ZoneSummary[], now: Date): Promise<Uint8Array> {
  const marks = new Uint8Array(zones.length);
  for (const [index, zone] of zones.entries()) {
    const limit = findLimit(zone, now);
    const names: Mark[] = attentionReasons(zone);
    if (limit) names.push(limit.reaches ? 'limit-foretold' : 'limit-reached');
    for (const name of names) marks[index] = (marks[index] ?? 0) | (1 << markNames.indexOf(name));
    if (index % piece === piece - 1) await breathe();
  }
  return marks;
}

/** Writes the book of some zones, which `marks` belongs to. */
export async function createZoneBaseline(
  zones: readonly Named[],
  marks: Uint8Array,
  about: Pick<ZoneBaseline, 'scope' | 'at' | 'since'>,
): Promise<ZoneBaseline> {
  const ids = packIds(zones.map(({ id }) => id));
  await breathe();
  const names: string[] = [];
  for (const [index, { name }] of zones.entries()) {
    names.push(findNamed(name));
    if (index % piece === piece - 1) await breathe();
  }
  await breathe();
  const written = Array.from(marks, (bits) => signs[bits] ?? '0').join('');
  return { ...about, ids, marks: written, names: names.join('\n') };
}

/** A book that can be looked into. */
export interface ZoneBaselineReader {
  readonly count: number;
  /** Where a zone stands in it. */
  readonly placeOf: (id: string) => number | undefined;
  readonly marksAt: (place: number) => number;
  readonly at: (place: number) => Named;
}

export async function readZoneBaseline(book: ZoneBaseline): Promise<ZoneBaselineReader> {
  const ids = unpackIds(book.ids);
  await breathe();
  const places = new Map(ids.map((id, place) => [id, place]));
  await breathe();
  // A name has no line break, and an empty book no line.
  const names = book.names.split('\n');
  return {
    count: ids.length,
    placeOf: (id) => places.get(id),
    marksAt: (place) => bitsOfSign.get(book.marks.charAt(place)) ?? 0,
    at: (place) => ({ id: ids[place] ?? '', name: names[place] ?? '' }),
  };
}
