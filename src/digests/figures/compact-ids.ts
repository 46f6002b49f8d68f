/** An id with its name (flattened, bounded; may be empty). */
export interface Named {
  readonly id: string;
  readonly name: string;
}

/** How many there are, and the first ten of them. */
export interface NamedGroup {
  readonly count: number;
  readonly first: readonly Named[];
}

const longestName = 60;
/** As many are listed by name; the rest is a number. */
export const maxNamedIds = 10;

export function toNamed({ id, name }: Named): Named {
  return { id, name: flattenName(name) };
}

/** A name that JSON stores without escapes, at most 60 characters. */
export function flattenName(text: string): string {
  const flat = text.replaceAll(/[\p{C}\p{Z}"\\]+/gu, ' ').trim();
  return flat.length > longestName ? flat.slice(0, longestName).replace(/[\uD800-\uDBFF]$/u, '') : flat;
}

export function groupNames(all: readonly Named[]): NamedGroup {
  return { count: all.length, first: all.slice(0, maxNamedIds).map(toNamed) };
}

// Half of what a number holds exactly, so that the distance between two of them is exact too.
const largest = 2 ** 52;

/** Ids in a few characters each, in their order: numbers as the distance to the one before, other ids as they are. */
export function packIds(ids: readonly string[]): string {
  let last = 0;
  return ids
    .map((id) => {
      const number = Number(id);
      if (!Number.isInteger(number) || Math.abs(number) > largest || String(number) !== id) return `=${id}`;
      const distance = number - last;
      last = number;
      return distance.toString(36);
    })
    .join(' ');
}

export function unpackIds(text: string): string[] {
  if (text === '') return [];
  let last = 0;
  return text.split(' ').map((part) => {
    if (part.startsWith('=')) return part.slice(1);
    last += Number.parseInt(part, 36) || 0;
    return String(last);
  });
}
