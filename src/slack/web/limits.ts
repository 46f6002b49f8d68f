import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { isIPv6, type Socket } from 'node:net';
import { createCache } from '../../lib/cache.ts';
import { listAddressParts } from '../../lib/ip.ts';
import { minuteMs } from '../../lib/time.ts';
import type { Log } from '../../telemetry/log.ts';

const readMs = 10_000;
const maxAllocatedBytes = 16 * 1024 * 1024;
const firstAllocation = 1024;

type Body = Buffer | 'too-large' | 'too-slow';

/** The oldest first. */
const arriving = new Set<{ readonly end: (body: Body) => void }>();
let allocatedBytes = 0;

/**
 * One buffer that doubles: tiny chunks cost no more than large ones. When all bodies take too much, the oldest ends.
 */
export function readBody(request: IncomingMessage, maxBytes: number): Promise<Body> {
  return new Promise((resolve, reject) => {
    let buffer = Buffer.alloc(0);
    let length = 0;
    const grow = (needed: number): void => {
      const capacity = Math.max(needed, Math.min(maxBytes, buffer.length * 2), firstAllocation);
      const larger = Buffer.allocUnsafeSlow(capacity);
      buffer.copy(larger, 0, 0, length);
      allocatedBytes += capacity - buffer.length;
      buffer = larger;
    };
    const append = (chunk: Buffer): void => {
      const needed = length + chunk.length;
      if (needed > maxBytes) return own.end('too-large');
      if (needed > buffer.length) grow(needed);
      chunk.copy(buffer, length);
      length = needed;
      for (const oldest of arriving) {
        if (allocatedBytes <= maxAllocatedBytes) break;
        oldest.end('too-large');
      }
    };
    const own = {
      end(body: Body): void {
        clearTimeout(timer);
        if (arriving.delete(own)) allocatedBytes -= buffer.length;
        request.off('data', append);
        buffer = Buffer.alloc(0);
        resolve(body);
      },
    };
    const timer = setTimeout(() => own.end('too-slow'), readMs);
    if (Number(request.headers['content-length'] ?? 0) > maxBytes) return own.end('too-large');
    arriving.add(own);
    request.on('data', append);
    request.on('end', () => own.end(buffer.subarray(0, length)));
    request.on('error', reject);
    request.on('close', () => {
      if (!request.complete) reject(new Error('the client hung up'));
      own.end('too-slow');
    });
  });
}

/** Whose latest request was signed by Slack, or came from the bot's own page. */
const verified = new WeakSet<Socket>();

/** So that strangers cannot displace its connection. */
export function markVerified({ socket }: IncomingMessage): void {
  verified.add(socket);
}

/** A younger one may still bring a genuine request. */
const strangerMs = 1_000;

/** Node calls `onIncoming` before it makes anything for the answer. */
interface Parser {
  onIncoming: (request: IncomingMessage, ...rest: unknown[]) => number;
}

/** Ends the quietest stranger to make room, verified ones only while idle; a pipelined request ends its connection. */
export function limitConnections(
  server: Server,
  { max, now = () => performance.now() }: { readonly max: number; readonly now?: () => number },
): void {
  /** The longest quiet first. */
  const quietSince = new Map<Socket, number>();
  const busy = new Set<Socket>();

  const close = (socket: Socket): void => {
    quietSince.delete(socket);
    socket.destroy();
  };
  const makeRoom = (newcomer: Socket): void => {
    let stranger: Socket | undefined;
    let idle: Socket | undefined;
    for (const socket of quietSince.keys()) {
      if (!verified.has(socket)) stranger ??= socket;
      else if (!busy.has(socket)) idle ??= socket;
      if (stranger && idle) break;
    }
    const isOld = stranger && now() - (quietSince.get(stranger) ?? 0) > strangerMs;
    close((isOld ? stranger : (idle ?? stranger)) ?? newcomer);
  };

  server.on('connection', (socket: Socket & { parser?: Parser }) => {
    if (quietSince.size >= max) makeRoom(socket);
    const { parser } = socket;
    if (!parser || socket.destroyed) return;
    quietSince.set(socket, now());
    socket.once('close', () => {
      quietSince.delete(socket);
      busy.delete(socket);
    });
    const begin = parser.onIncoming;
    parser.onIncoming = (...args) => {
      if (busy.has(socket)) close(socket);
      // The parser goes on to the end of its piece, at no further cost.
      if (socket.destroyed) return 0;
      busy.add(socket);
      verified.delete(socket);
      return begin(...args);
    };
  });
  server.on('request', ({ socket }: IncomingMessage, response: ServerResponse) => {
    response.once('close', () => {
      busy.delete(socket);
      if (quietSince.delete(socket)) quietSince.set(socket, now());
    });
  });
}

/** `find` and `take` return the seconds until there is room, or undefined where there is. */
export function createRateLimit(options: {
  readonly most: number;
  readonly perMs: number;
  readonly maxKeys: number;
  readonly now: () => Date;
}) {
  const { most, perMs, maxKeys: maxEntries, now } = options;
  const uses = createCache<readonly number[]>({ now, maxEntries, ttlMs: perMs });
  const look = (key: string, isUse: boolean): number | undefined => {
    const at = now().getTime();
    // A clock that is set back neither frees a key nor blocks it for longer.
    const recent = (uses.get(key) ?? [])
      .filter((used) => used > at - perMs)
      .map((used) => Math.min(used, at));
    const [oldest = at] = recent;
    const hasRoom = recent.length < most;
    if (isUse) uses.set(key, hasRoom ? [...recent, at] : recent);
    return hasRoom ? undefined : Math.ceil((oldest + perMs - at) / 1000);
  };
  return {
    find: (key: string) => look(key, false),
    take: (key: string) => look(key, true),
    size: uses.size,
  };
}

/** An IPv4 address, or a /64 network of IPv6, which one customer has. */
export function findVisitor(address: string | undefined): string {
  if (address === undefined) return 'unknown';
  const four = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/iu.exec(address)?.[1];
  if (four !== undefined || !isIPv6(address)) return four ?? address;
  return listAddressParts(address.replace(/%.*/u, '')).slice(0, 4).join(':');
}

/** True at most once a minute for a key, for the 10,000 latest keys. */
export function oncePerMinute(now: () => Date): (key: string) => boolean {
  const limit = createRateLimit({ most: 1, perMs: minuteMs, maxKeys: 10_000, now });
  return (key) => limit.take(key) === undefined;
}

export type ThrottledLog = Pick<Log, 'info' | 'warn' | 'error'>;

/** Logs a message once a minute, with the `count` since its last line: strangers, floods and outages write no line for each request. */
export function throttleLog(log: Log, now: () => Date): ThrottledLog {
  const shouldLog = oncePerMinute(now);
  const counts = new Map<string, number>();
  const at =
    (level: keyof ThrottledLog): Log['warn'] =>
    (fields, message) => {
      const count = (counts.get(message) ?? 0) + 1;
      const isDue = shouldLog(message);
      counts.set(message, isDue ? 0 : count);
      if (isDue) log[level]({ ...fields, count }, `${message} (logged once a minute)`);
    };
  return { info: at('info'), warn: at('warn'), error: at('error') };
}
