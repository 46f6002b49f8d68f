import type { GroupBuilder } from './groups.ts';
import type { OriginError, OriginErrorDetails } from './origin-errors.ts';

/** One entry as people see it. */
export interface Sample extends Omit<OriginErrorDetails, 'errorCode' | 'statusCode'> {
  readonly id: string;
  readonly at: number | undefined;
  readonly errorCode: string | undefined;
  readonly statusCode: number | undefined;
  readonly serverZone: string | undefined;
}

const samplesShown = 5;

/** The newest entries of all. */
export interface Newest {
  readonly add: (entry: OriginError) => void;
  readonly all: () => readonly OriginError[];
}

export function createNewest(): Newest {
  const newest: OriginError[] = [];
  return {
    add(entry) {
      if (newest.length < samplesShown) newest.push(entry);
      // The oldest of them makes way.
      else if (atOf(entry) > atOf(newest[0])) newest[0] = entry;
      else return;
      newest.sort((a, b) => atOf(a) - atOf(b));
    },
    all: () => newest,
  };
}

/**
 * The newest of the largest group of each code, so that every kind of trouble is seen; then of the other groups, of
 * all. `groups`: the largest first.
 */
export function takeSamples(groups: readonly GroupBuilder[], newest: Newest): Sample[] {
  const largest = new Map(groups.toReversed().map((group) => [group.errorCode, group.sample]));
  const codes = new Set(groups.map(({ errorCode }) => errorCode));
  const chosen = new Set([...codes].slice(0, samplesShown).flatMap((code) => largest.get(code) ?? []));
  for (const { sample } of groups.slice(0, samplesShown)) chosen.add(sample);
  for (const entry of newest.all().toSorted((a, b) => atOf(b) - atOf(a))) chosen.add(entry);
  return [...chosen]
    .slice(0, samplesShown)
    .sort((a, b) => atOf(b) - atOf(a))
    .map((entry) => {
      const { id, at, errorCode, statusCode, serverZone } = entry;
      return { ...entry.details(), id, at, errorCode, statusCode, serverZone };
    });
}

function atOf(entry: OriginError | undefined): number {
  return entry?.at ?? Number.NEGATIVE_INFINITY;
}
