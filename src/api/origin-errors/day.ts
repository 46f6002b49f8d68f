import type { OriginErrorCounter } from './counts.ts';
import type { OriginError, OriginErrorDay, OriginErrors } from './origin-errors.ts';
import type { SeenIds } from './seen-ids.ts';

export interface ReadDay extends OriginErrorDay {
  readonly counter: OriginErrorCounter;
  readonly repeated: number;
}

/**
 * Counts the entries of one zone on one UTC day while they arrive, those that came twice once. Those that are not
 * `wanted` are left out, and so from what `add` is given.
 *
 * @throws ApiError
 */
export async function readDay(
  originErrors: OriginErrors,
  zoneId: string,
  day: string,
  ids: SeenIds,
  counter: OriginErrorCounter,
  wanted: (entry: OriginError) => boolean = () => true,
): Promise<ReadDay> {
  let repeated = 0;
  const read = await originErrors.forEach(zoneId, day, (entry) => {
    if (!wanted(entry)) return;
    if (entry.id === '' || ids.isNew(entry.id)) counter.add(entry);
    else repeated += 1;
  });
  return { ...read, counter, repeated };
}
