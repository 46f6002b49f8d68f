/** An id with its name (flattened, bounded; may be empty). */
export type Named = { readonly id: string; readonly name: string };

/** How many there are, and the first ten of them. */
export type NamedGroup = { readonly count: number; readonly first: readonly Named[] };

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
