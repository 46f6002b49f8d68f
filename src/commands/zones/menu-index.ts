import { yieldToEventLoop } from '../../lib/time.ts';

export interface Candidate {
  readonly id: string;
  /** The one that people know it by first, then others. */
  readonly names: readonly string[];
}

export interface Found<T> {
  /** The best first, those that match alike by name. */
  readonly best: readonly T[];
  /** How many match altogether. */
  readonly count: number;
  /** Whether one of them has what was typed as its id. */
  readonly isId: boolean;
}

export interface MenuIndex<T> {
  /** `typed` in lower case; empty finds everything. */
  readonly find: (typed: string, most: number) => Found<T>;
}

/** What is made ready at a stretch: one to two milliseconds. */
const batch = 2_000;

/**
 * Makes things ready to be searched at every letter: 50 000 in a few milliseconds. Making it takes ten times that,
 * so others get their turn meanwhile.
 */
export async function createMenuIndex<T>(
  things: readonly T[],
  candidate: (thing: T) => Candidate,
): Promise<MenuIndex<T>> {
  const entries: Entry<T>[] = [];
  for (const [index, thing] of things.entries()) {
    const { id, names } = candidate(thing);
    entries.push({ thing, id: id.toLowerCase(), text: `\n${names.join('\n')}\n`.toLowerCase() });
    if (index % batch === batch - 1) await yieldToEventLoop();
  }
  // Plain comparison, of text that begins with the name: by language it would take a third of a second.
  entries.sort((a, b) => (a.text < b.text ? -1 : a.text > b.text ? 1 : 0));

  return {
    find(typed, most) {
      if (typed === '')
        return { best: entries.slice(0, most).map(entryThing), count: entries.length, isId: false };
      const ranks: Entry<T>[][] = [[], [], [], [], [], []];
      let count = 0;
      let isId = false;
      for (const entry of entries) {
        const rank = rankOf(entry, typed);
        if (rank === undefined) continue;
        count += 1;
        isId ||= entry.id === typed;
        const alike = ranks[rank];
        if (alike && alike.length < most) alike.push(entry);
      }
      return { best: ranks.flat().slice(0, most).map(entryThing), count, isId };
    },
  };
}

interface Entry<T> {
  readonly thing: T;
  readonly id: string;
  /** Each name on a line of its own, so that one look tells whether a name is, begins with or has what was typed. */
  readonly text: string;
}

/** 0 is best: the id or the name itself, another name, how a name begins, how another or the id does, any part. */
function rankOf({ id, text }: Entry<unknown>, typed: string): number | undefined {
  if (id === typed) return 0;
  if (!text.includes(typed)) return id.startsWith(typed) ? 3 : undefined;
  if (text.startsWith(`\n${typed}`)) return text.charAt(typed.length + 1) === '\n' ? 0 : 2;
  if (text.includes(`\n${typed}\n`)) return 1;
  if (text.includes(`\n${typed}`) || id.startsWith(typed)) return 3;
  return text.indexOf(typed) < text.indexOf('\n', 1) ? 4 : 5;
}

function entryThing<T>({ thing }: Entry<T>): T {
  return thing;
}
