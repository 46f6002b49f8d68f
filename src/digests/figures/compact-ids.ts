import type { Named, Some } from './figures.ts';

const longestName = 60;
/** As many are told by their names; more are a number. */
export const maxNamedIds = 10;

/** What somebody called something, fit for being kept: without signs that JSON would blow up. */
export function nameIds({ id, name }: Named): Named {
  return { id, name: findNamed(name) };
}

export function findNamed(text: string): string {
  const flat = text.replaceAll(/[\p{C}\p{Z}"\\]+/gu, ' ').trim();
  return flat.length > longestName ? flat.slice(0, longestName).replace(/[\uD800-\uDBFF]$/u, '') : flat;
}

export function summarizeIds(all: readonly Named[]): Some {
  return { count: all.length, first: all.slice(0, maxNamedIds).map(nameIds) };
}

// Half of what a number holds exactly, so that the distance between two of them is exact too.
const largest = 2 ** 52;

/** Ids in a few characters each, in their order: each as its distance to the one before, what is no such number as it is. */
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
