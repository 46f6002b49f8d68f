import { setTimeout as delay } from 'node:timers/promises';
import type { Option } from '@slack/types';
import type { ZoneSummary } from '../../api/zones/summary.ts';
import { yieldToEventLoop } from '../../lib/time.ts';
import { hasSecret } from '../../secrets/key-in-text.ts';
import { limits } from '../../views/blocks/blocks.ts';
import { maxOptions, menu } from '../../views/blocks/menu.ts';
import type { Context, Picker } from '../define.ts';
import { readHost } from './hosts.ts';
import { prefetchZones } from './lookup.ts';
import type { CachedZones } from './zone-cache.ts';

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

/** Slack waits three seconds for options, people less. */
const answerWithinMs = 1_500;
/** A value in a menu. */
const maxIdLength = limits.option;

/**
 * Answers from the person's zones, or says that they are still being read. Typed text can be taken as an id at any time, even
 * if nothing can be read.
 */
export function defineZonePicker<T>(kind: ZonePicker<T>): Picker {
  // An index lives as long as its list.
  const indexes = new WeakMap<CachedZones, Promise<MenuIndex<T>>>();
  const indexOf = (list: CachedZones): Promise<MenuIndex<T>> => {
    const index = indexes.get(list) ?? createMenuIndex(kind.list(list.zones), kind.toCandidate);
    indexes.set(list, index);
    return index;
  };
  const load = async (context: Context) => {
    const zones = prefetchZones(context);
    if ('known' in zones) return { index: await indexOf(zones.known) };
    const outcome = await zones.coming;
    return 'list' in outcome ? { index: await indexOf(outcome.list) } : { rest: outcome.failure };
  };
  return {
    id: kind.id,
    ...(kind.fields ? { fields: kind.fields } : {}),
    needs: 'read',
    prefetch: (context) => void load(context),
    async run(typed, context) {
      const words = readHost(typed);
      const late = delay(answerWithinMs, { rest: 'coming' as const }, { ref: false });
      const { index, rest } = {
        index: undefined,
        rest: undefined,
        ...(await Promise.race([load(context), late])),
      };
      const { best, count, isId } = index?.find(words, maxOptions) ?? { best: [], count: 0, isId: false };
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

export interface Candidate {
  readonly id: string;
  /** The best-known name first. */
  readonly names: readonly string[];
}

type MenuIndex<T> = Awaited<ReturnType<typeof createMenuIndex<T>>>;

/** Entries between two pauses: one to two milliseconds. */
const indexBatch = 2_000;

/** Indexes things for a search at every letter: 50 000 in a few milliseconds, where building the index takes ten times that. */
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
      const ranks: T[][] = [[], [], [], [], [], []];
      let count = 0;
      let isId = false;
      for (const entry of entries) {
        const rank = rankEntry(entry, typed);
        if (rank === undefined) continue;
        count += 1;
        isId ||= entry.id === typed;
        const alike = ranks[rank];
        if (alike && alike.length < most) alike.push(entry.thing);
      }
      return { best: ranks.flat().slice(0, most), count, isId };
    },
  };
}

interface Entry<T> {
  readonly thing: T;
  readonly id: string;
  /** Each name on a separate line, so that one search finds equal names, prefixes and parts. */
  readonly text: string;
}

/** 0 is best: the id or name itself; another name; the name's beginning; another's or the id's beginning; any part. */
function rankEntry({ id, text }: Entry<unknown>, typed: string): number | undefined {
  if (typed === '' || id === typed) return 0;
  if (!text.includes(typed)) return id.startsWith(typed) ? 3 : undefined;
  if (text.startsWith(`\n${typed}`)) return text.charAt(typed.length + 1) === '\n' ? 0 : 2;
  if (text.includes(`\n${typed}\n`)) return 1;
  if (text.includes(`\n${typed}`) || id.startsWith(typed)) return 3;
  return text.indexOf(typed) < text.indexOf('\n', 1) ? 4 : 5;
}
