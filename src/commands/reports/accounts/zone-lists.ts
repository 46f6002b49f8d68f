import type { ZoneSummary } from '../../../api/zones/summary.ts';
import { type Cache, createCache } from '../../../lib/cache.ts';
import { minuteMs } from '../../../lib/time.ts';

export interface ZoneList {
  readonly zones: readonly ZoneSummary[];
  /** Unreadable zones that are left out. */
  readonly skipped: number;
}

/** Every zone that one key sees, at one moment. */
export interface CachedZones extends ZoneList {
  readonly takenAt: Date;
  /** Of the key that a job read it with; undefined where a person's command did. */
  readonly keyVersion?: number;
}

/** By `personKey`. */
export type ZoneLists = Cache<CachedZones>;

/**
 * The zone lists of all people, those that commands show and those that jobs read: one bound for both, since a zone takes
 * about 630 bytes of the heap, whose limit is set where the process is started.
 */
export function createZoneLists({
  now,
  ttlMs = 5 * minuteMs,
  maxZones = 100_000,
}: {
  readonly now: () => Date;
  readonly ttlMs?: number;
  readonly maxZones?: number;
}): ZoneLists {
  return createCache<CachedZones>({ now, ttlMs, maxSize: maxZones, sizeOf: ({ zones }) => zones.length });
}
