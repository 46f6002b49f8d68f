import type { OriginError, OriginErrorDay, OriginErrors } from '../api/origin-errors.ts';
import { startOf } from './days.ts';
import type { Counter } from './origin-error-counts.ts';
import type { SeenIds } from './seen-ids.ts';

export interface ReadDay extends OriginErrorDay {
  readonly counter: Counter;
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
  counter: Counter,
  wanted: (entry: OriginError) => boolean = () => true,
): Promise<ReadDay> {
  let repeated = 0;
  const read = await originErrors.forEach(zoneId, new Date(startOf(day)), (entry) => {
    if (!wanted(entry)) return;
    if (entry.id === '' || ids.isNew(entry.id)) counter.add(entry);
    else repeated += 1;
  });
  return { ...read, counter, repeated };
}
