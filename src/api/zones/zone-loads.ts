import { createCache } from '../../lib/cache.ts';
import { ApiError } from '../http/errors.ts';

/** Waits until a load may hold so many zones. */
export type MakeRoom = (zones: number) => Promise<void>;

/** Zones that all loads together may hold: a zone takes about 630 bytes of the heap. */
const mostZones = 60_000;

export type ZoneLoads<List extends object> = ReturnType<typeof createZoneLoads<List>>;

/**
 * The reads of whole zone lists in this process. Everybody with the same key shares one; all together stay within a bound:
 * a load reserves its zones before it reads them and waits for others. The oldest never waits, so every one ends.
 */
export function createZoneLoads<List extends object>(most = mostZones) {
  // Shares loads and keeps nothing: each result is larger than its bound.
  const loads = createCache<List>({ now: () => new Date(), maxSize: 1, sizeOf: () => 2 });
  // In the order of their beginning.
  const reserved: { zones: number }[] = [];
  let changed = Promise.withResolvers<void>();

  async function reserve(start: (makeRoom: MakeRoom) => Promise<List>): Promise<List> {
    const own = { zones: 0 };
    reserved.push(own);
    const held = () => reserved.reduce((sum, { zones }) => sum + zones, -own.zones);
    try {
      return await start(async (zones) => {
        while (reserved[0] !== own && zones > own.zones && held() + zones > most) await changed.promise;
        own.zones = Math.max(own.zones, zones);
      });
    } finally {
      reserved.splice(reserved.indexOf(own), 1);
      changed.resolve();
      changed = Promise.withResolvers();
    }
  }

  return {
    /**
     * The result of `start`, or of the load of this account that is under way. A caller who gives up leaves it to the
     * others; the last one takes it along. @throws ApiError `cancelled` where `signal` aborts first.
     */
    async read(
      account: string,
      start: (signal: AbortSignal, makeRoom: MakeRoom) => Promise<List>,
      signal: AbortSignal = new AbortController().signal,
    ): Promise<List> {
      const load = (until: AbortSignal) => reserve((makeRoom) => start(until, makeRoom));
      return loads.load(account, load, { signal }).catch((error: unknown) => {
        if (!signal.aborted) throw error;
        throw new ApiError({ code: 'cancelled', operation: 'List Pull Zones', sent: true });
      });
    },
  };
}
