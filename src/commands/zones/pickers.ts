import { setTimeout as delay } from 'node:timers/promises';
import type { Option } from '@slack/types';
import type { ZoneSummary } from '../../api/zones/summary.ts';
import { yieldToEventLoop } from '../../lib/time.ts';
import { hasSecret } from '../../secrets/key-in-text.ts';
import { limits } from '../../views/blocks/blocks.ts';
import type { Failure } from '../../views/blocks/failure.ts';
import { maxOptions, menu } from '../../views/blocks/menu.ts';
import type { Context, Picker, With } from '../define.ts';
import { readHost } from './hosts.ts';
import { prefetchZones } from './lookup.ts';
import type { PrefetchedZones } from './zone-cache.ts';
import type { CachedZones } from './zone-lists.ts';

/** A menu with search over the person's zones, or over the apps or scripts that those name. */
export interface ZonePicker<T> {
  readonly id: string;
  /** Inputs of forms that use the menu under their own names. */
  readonly fields?: readonly string[];
  /** Shown if there is nothing at all, and if nothing matches. */
  readonly messages: { readonly none: string; readonly noMatch: string };
  readonly list: (zones: readonly ZoneSummary[]) => readonly T[];
  readonly toCandidate: (thing: T) => Candidate;
  readonly toOption: (thing: T) => Option;
  /** The shape of an id, for ids that no zone names. */
  readonly idShape: RegExp;
}

/** Slack waits three seconds for options, people less: then the answer is what has been read. */
const answerWithinMs = 1_500;
/** Most lists are complete by then, since the form prefetches them; else the CDN's own search is used as well. */
const searchDelayMs = 250;
/** Zones of such a search: the screen of a phone. */
const pageSize = 25;
/** A value in a menu. */
const maxIdLength = limits.option;

/**
 * Answers at once from the person's cached zones. While they are being read, the CDN's own search answers. Typed text can
 * be taken as an id at any time, even if nothing can be read.
 */
export function defineZonePicker<T>(kind: ZonePicker<T>): Picker<'zoneCache'> {
  // An index lives as long as its list.
  const indexes = new WeakMap<CachedZones, Promise<MenuIndex<T>>>();
  const indexOf = (list: CachedZones): Promise<MenuIndex<T>> => {
    const index = indexes.get(list) ?? createMenuIndex(kind.list(list.zones), kind.toCandidate);
    indexes.set(list, index);
    return index;
  };
  const prefetch = (context: With<'zoneCache'>): PrefetchedZones => {
    const soFar = prefetchZones(context);
    // Index the list before the next letter is typed.
    void soFar.coming?.then((outcome) => ('list' in outcome ? indexOf(outcome.list) : undefined));
    return soFar;
  };
  /** The CDN's search may match other members than ours: all its hits are shown, first those that ours finds, too. */
  const findIn = async (zones: readonly ZoneSummary[], words: string) => {
    const index = await createMenuIndex(kind.list(zones), kind.toCandidate);
    const { best, isId } = index.find(words, maxOptions);
    const all = [...new Set([...best, ...index.find('', maxOptions).best])];
    return { best: all, count: all.length, isId };
  };

  return {
    id: kind.id,
    ...(kind.fields ? { fields: kind.fields } : {}),
    needs: 'read',
    prefetch: (context) => void prefetch(context),
    async run(typed, context) {
      const words = readHost(typed);
      const { known, coming } = prefetch(context);
      const isUseful = (zones: readonly ZoneSummary[]) => kind.list(zones).length > 0;
      const { whole, zones, rest }: PickerZones =
        known || !coming ? { whole: known } : await raceSources(coming, words, isUseful, context);
      const { best, count, isId } = whole
        ? (await indexOf(whole)).find(words, maxOptions)
        : await findIn(zones ?? [], words);
      const id = typed.trim().replace(/^#(?=\d+$)/u, '');
      // A key that is pasted here by mistake is not shown again.
      const isNew = kind.idShape.test(id) && id.length <= maxIdLength && !isId && !hasSecret(id);
      return menu(best.map(kind.toOption), {
        more: count - best.length,
        rest,
        none: words === '' ? kind.messages.none : kind.messages.noMatch,
        id: isNew ? id : undefined,
      });
    },
  };
}

/** Ids that zones name, with the names of those zones. Ids that are too long for a menu are left out. */
export function createNameIndex(
  zones: readonly ZoneSummary[],
  idOf: (zone: ZoneSummary) => string | undefined,
): Map<string, string[]> {
  const names = new Map<string, string[]>();
  for (const zone of zones) {
    const id = idOf(zone);
    if (id === undefined || id.length > maxIdLength) continue;
    const known = names.get(id);
    if (known) known.push(zone.name);
    else names.set(id, [zone.name]);
  }
  return names;
}

/** All zones, or some of them and the state of the rest. */
interface PickerZones {
  readonly whole?: CachedZones | undefined;
  readonly zones?: readonly ZoneSummary[];
  readonly rest?: 'coming' | Failure;
}

/** The first source that answers: the whole list, the CDN's own search, or nothing in time. */
async function raceSources(
  coming: NonNullable<PrefetchedZones['coming']>,
  words: string,
  isUseful: (zones: readonly ZoneSummary[]) => boolean,
  context: Context,
): Promise<PickerZones> {
  const over = new AbortController();
  const until = { signal: over.signal };
  const late = delay<PickerZones>(answerWithinMs, { rest: 'coming' }, until);
  const whole = coming.then(
    (outcome): PickerZones => ('list' in outcome ? { whole: outcome.list } : { rest: outcome.failure }),
  );
  const search = async (): Promise<PickerZones> => {
    await delay(searchDelayMs, undefined, until);
    const { pullZones } = await context.cdn(AbortSignal.any([context.signal, over.signal]));
    const { zones } = await pullZones.firstPage({ perPage: pageSize, ...(words ? { search: words } : {}) });
    return isUseful(zones) ? { zones, rest: 'coming' } : late;
  };
  try {
    // A failing search is not reported: the whole list fails for the same reason.
    return await Promise.race([whole, search().catch(() => late), late]);
  } finally {
    over.abort();
  }
}

export interface Candidate {
  readonly id: string;
  /** The best-known name first. */
  readonly names: readonly string[];
}

type MenuIndex<T> = Awaited<ReturnType<typeof createMenuIndex<T>>>;

/** Entries between two pauses: one to two milliseconds. */
const indexBatch = 2_000;

/**
 * Indexes things for a search at every letter: 50 000 in a few milliseconds. Building the index takes ten times that, so
 * it pauses in between.
 */
export async function createMenuIndex<T>(things: readonly T[], candidate: (thing: T) => Candidate) {
  const entries: Entry<T>[] = [];
  for (const [index, thing] of things.entries()) {
    const { id, names } = candidate(thing);
    entries.push({ thing, id: id.toLowerCase(), text: `\n${names.join('\n')}\n`.toLowerCase() });
    if (index % indexBatch === indexBatch - 1) await yieldToEventLoop();
  }
  // Plain comparison: by locale it would take a third of a second.
  entries.sort((a, b) => (a.text < b.text ? -1 : a.text > b.text ? 1 : 0));

  return {
    /**
     * The best matches, equal ones by name, and the number of all. `typed` is in lower case; '' finds everything. `isId`:
     * one of the matches has it as its id.
     */
    find(typed: string, most: number) {
      const toThings = (found: readonly Entry<T>[]): T[] => found.slice(0, most).map(({ thing }) => thing);
      if (typed === '') return { best: toThings(entries), count: entries.length, isId: false };
      const ranks: Entry<T>[][] = [[], [], [], [], [], []];
      let count = 0;
      let isId = false;
      for (const entry of entries) {
        const rank = rankEntry(entry, typed);
        if (rank === undefined) continue;
        count += 1;
        isId ||= entry.id === typed;
        const alike = ranks[rank];
        if (alike && alike.length < most) alike.push(entry);
      }
      return { best: toThings(ranks.flat()), count, isId };
    },
  };
}

interface Entry<T> {
  readonly thing: T;
  readonly id: string;
  /** Each name on a line of its own, so that one search finds equal names, beginnings and parts. */
  readonly text: string;
}

/** 0 is best: the id or name itself; another name; the name's beginning; another's or the id's beginning; any part. */
function rankEntry({ id, text }: Entry<unknown>, typed: string): number | undefined {
  if (id === typed) return 0;
  if (!text.includes(typed)) return id.startsWith(typed) ? 3 : undefined;
  if (text.startsWith(`\n${typed}`)) return text.charAt(typed.length + 1) === '\n' ? 0 : 2;
  if (text.includes(`\n${typed}\n`)) return 1;
  if (text.includes(`\n${typed}`) || id.startsWith(typed)) return 3;
  return text.indexOf(typed) < text.indexOf('\n', 1) ? 4 : 5;
}
