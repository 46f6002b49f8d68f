import { isIPv6 } from 'node:net';
import { minuteMs } from '../../lib/time.ts';

export interface RateLimit {
  /** Takes one of what `key` may have; where nothing is left, the whole seconds until there is. */
  take(key: string): number | undefined;
  /** How many keys it remembers. */
  readonly size: () => number;
}

/**
 * So many at once, and so many a minute after that, for each key. It remembers at most `most` keys, the latest ones,
 * so that no flood of new ones fills the memory.
 */
export function createRateLimit(options: {
  readonly burst: number;
  readonly perMinute: number;
  readonly most: number;
  readonly now: () => Date;
}): RateLimit {
  const { burst, perMinute, most } = options;
  const buckets = new Map<string, { left: number; at: number }>();
  return {
    take(key) {
      const at = options.now().getTime();
      const known = buckets.get(key) ?? { left: burst, at };
      const gained = (Math.max(0, at - known.at) / minuteMs) * perMinute;
      const left = Math.min(burst, known.left + gained);
      // Put in anew, so that the first one in the map is the one that was quiet for longest.
      buckets.delete(key);
      buckets.set(key, { left: left >= 1 ? left - 1 : left, at });
      if (buckets.size > most) buckets.delete(buckets.keys().next().value ?? key);
      return left >= 1 ? undefined : Math.ceil(((1 - left) / perMinute) * 60);
    },
    size: () => buckets.size,
  };
}

/** What counts as one visitor: an IPv4 address, or the /64 network that one IPv6 customer has. */
export function findVisitor(address: string | undefined): string {
  if (address === undefined) return 'unknown';
  const four = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/iu.exec(address)?.[1];
  if (four !== undefined || !isIPv6(address)) return four ?? address;
  const [head = '', tail] = address.split('%', 1)[0]?.split('::') ?? [];
  const first = head === '' ? [] : head.split(':');
  const last = tail === undefined || tail === '' ? [] : tail.split(':');
  const zeros = Array.from({ length: Math.max(0, 8 - first.length - last.length) }, () => '0');
  return [...first, ...zeros, ...last].slice(0, 4).join(':');
}
