import type { IncomingMessage } from 'node:http';
import { isIPv6 } from 'node:net';
import { createCache } from '../../lib/cache.ts';
import { minuteMs } from '../../lib/time.ts';

const readMs = 10_000;

/** The body of a request, or why it was not read to its end. @throws if the client hung up. */
export function readBody(
  request: IncomingMessage,
  maxBytes: number,
): Promise<Buffer | 'too-large' | 'too-slow'> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const timer = setTimeout(() => resolve('too-slow'), readMs);
    if (Number(request.headers['content-length'] ?? 0) > maxBytes) resolve('too-large');
    request.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size <= maxBytes) chunks.push(chunk);
      else resolve('too-large');
    });
    request.on('end', () => resolve(Buffer.concat(chunks)));
    request.on('error', reject);
    request.on('close', () => {
      clearTimeout(timer);
      if (!request.complete) reject(new Error('the client hung up'));
    });
  });
}

export interface RateLimit {
  /** Takes one of the tokens of `key`. If none is left, returns the whole seconds until there is one. */
  take(key: string): number | undefined;
  readonly size: () => number;
}

/** A token bucket for each key. Keeps the `maxKeys` latest keys, so that a flood of new ones cannot fill the memory. */
export function createRateLimit(options: {
  readonly burst: number;
  readonly perMinute: number;
  readonly maxKeys: number;
  readonly now: () => Date;
}): RateLimit {
  const { burst, perMinute, maxKeys: maxEntries, now } = options;
  const buckets = createCache<{ tokens: number; at: number }>({ now, maxEntries });
  return {
    take(key) {
      const at = now().getTime();
      const bucket = buckets.get(key) ?? { tokens: burst, at };
      const gained = (Math.max(0, at - bucket.at) / minuteMs) * perMinute;
      const tokens = Math.min(burst, bucket.tokens + gained);
      const isAllowed = tokens >= 1;
      buckets.set(key, { tokens: isAllowed ? tokens - 1 : tokens, at });
      return isAllowed ? undefined : Math.ceil(((1 - tokens) / perMinute) * 60);
    },
    size: buckets.size,
  };
}

/** A visitor is an IPv4 address, or a /64 network of IPv6, which one customer has. */
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
