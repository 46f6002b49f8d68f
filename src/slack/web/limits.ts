import type { IncomingMessage } from 'node:http';
import { isIPv6 } from 'node:net';
import { createCache } from '../../lib/cache.ts';
import { minuteMs } from '../../lib/time.ts';

const readMs = 10_000;
/** Bytes of all bodies that are being read. Above it the largest of them is too large, so that small ones pass. */
const maxBufferedBytes = 16 * 1024 * 1024;

type Body = Buffer | 'too-large' | 'too-slow';

/** The bodies that are being read, in this process, and their bytes together. */
const buffering = new Set<{ bytes: number; readonly end: (body: Body) => void }>();
let buffered = 0;

/** The body of a request, or why it was not read to its end. @throws if the client hung up. */
export function readBody(request: IncomingMessage, maxBytes: number): Promise<Body> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    const take = (chunk: Buffer): void => {
      chunks.push(chunk);
      own.bytes += chunk.length;
      buffered += chunk.length;
      if (own.bytes > maxBytes) own.end('too-large');
      else refuseLargest();
    };
    const own = {
      bytes: 0,
      end(body: Body): void {
        clearTimeout(timer);
        if (buffering.delete(own)) buffered -= own.bytes;
        request.off('data', take);
        chunks.length = 0;
        resolve(body);
      },
    };
    const timer = setTimeout(() => own.end('too-slow'), readMs);
    if (Number(request.headers['content-length'] ?? 0) > maxBytes) return own.end('too-large');
    buffering.add(own);
    request.on('data', take);
    request.on('end', () => own.end(Buffer.concat(chunks)));
    request.on('error', reject);
    request.on('close', () => {
      if (!request.complete) reject(new Error('the client hung up'));
      own.end('too-slow');
    });
  });
}

function refuseLargest(): void {
  if (buffered <= maxBufferedBytes) return;
  [...buffering].toSorted((one, other) => other.bytes - one.bytes)[0]?.end('too-large');
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
