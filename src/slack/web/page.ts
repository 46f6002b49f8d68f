import type { IncomingMessage, ServerResponse } from 'node:http';
import { isIPv6 } from 'node:net';
import { createCache } from '../../lib/cache.ts';
import { minuteMs } from '../../lib/time.ts';
import { pluralize } from '../../views/blocks/text.ts';
import { pageNotice } from '../../views/connect/page.ts';

/** The answer of a page. */
export interface Page {
  readonly status: number;
  readonly html: string;
  readonly headers?: Readonly<Record<string, string>>;
}

export type FormRefusal = 'cross-site' | 'not-a-form' | 'too-large' | 'too-slow';

// A key has a few dozen characters.
const maxBytes = 8 * 1024;
const readMs = 10_000;

/** The fields of a form that the bot's own page sent. Requests of other sites, other types and above 8 kB are not read. */
export async function readPageForm(
  request: IncomingMessage,
  origin: string,
): Promise<URLSearchParams | FormRefusal> {
  if (!isFromOurPage(request, origin)) return 'cross-site';
  const type = request.headers['content-type']?.split(';', 1)[0]?.trim().toLowerCase();
  if (type !== 'application/x-www-form-urlencoded') return 'not-a-form';
  if (Number(request.headers['content-length'] ?? 0) > maxBytes) return 'too-large';
  const body = await readBody(request);
  return typeof body === 'string' ? body : new URLSearchParams(body.toString('utf8'));
}

/**
 * Browsers name the origin of a form. Because of the page's referrer policy it is `null`; then `Sec-Fetch-Site` decides,
 * which all browsers have sent since 2023.
 * https://developer.mozilla.org/docs/Web/HTTP/Reference/Headers/Sec-Fetch-Site
 */
function isFromOurPage({ headers }: IncomingMessage, origin: string): boolean {
  const site = headers['sec-fetch-site'];
  if (site !== undefined && site !== 'same-origin') return false;
  if (headers.origin === undefined || headers.origin === origin) return true;
  return headers.origin === 'null' && site === 'same-origin';
}

function readBody(request: IncomingMessage): Promise<Buffer | 'too-large' | 'too-slow'> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const timer = setTimeout(() => resolve('too-slow'), readMs);
    request.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size <= maxBytes) chunks.push(chunk);
      else resolve('too-large');
    });
    request.on('end', () => resolve(Buffer.concat(chunks)));
    request.on('error', reject);
    request.on('close', () => {
      clearTimeout(timer);
      if (!request.complete) reject(new Error('the visitor hung up'));
    });
  });
}

/**
 * The headers of every page: no caching, no scripts, no external resources, no framing, no referrer.
 */
export function pageHeaders(options: {
  readonly https: boolean;
  /** `sha256-…` of the one style sheet. */
  readonly styleHash: string;
}): Record<string, string> {
  return {
    'content-type': 'text/html; charset=utf-8',
    'cache-control': 'no-store',
    'content-security-policy': [
      "default-src 'none'",
      `style-src '${options.styleHash}'`,
      "form-action 'self'",
      "frame-ancestors 'none'",
      "base-uri 'none'",
    ].join('; '),
    'referrer-policy': 'no-referrer',
    'x-content-type-options': 'nosniff',
    'x-frame-options': 'DENY',
    'x-robots-tag': 'noindex, nofollow',
    'cross-origin-opener-policy': 'same-origin',
    'cross-origin-resource-policy': 'same-origin',
    ...(options.https ? { 'strict-transport-security': 'max-age=31536000' } : {}),
  };
}

export function sendPage(
  request: IncomingMessage,
  response: ServerResponse,
  page: Page,
  headers: Readonly<Record<string, string>>,
): void {
  if (response.headersSent || response.destroyed) return;
  // What was refused unread is thrown away, and the connection with it.
  const { 'content-length': length, 'transfer-encoding': encoding } = request.headers;
  const unread = !request.complete && (length !== undefined || encoding !== undefined);
  request.resume();
  response
    .writeHead(page.status, {
      ...headers,
      ...page.headers,
      ...(unread ? { connection: 'close' } : {}),
      'content-length': Buffer.byteLength(page.html),
    })
    .end(request.method === 'HEAD' ? undefined : page.html);
}

/** A page with one message. `back` is the address of the form, relative to the page. */
export function notice(status: number, title: string, message: string, back?: string): Page {
  return { status, html: pageNotice({ title, problem: { message }, back }) };
}

/** The same answer for every address that is no link, so that it reveals nothing. */
export const unknown = notice(
  404,
  'This link leads nowhere',
  'It is incomplete, or older than a day. Copy the whole link, or ask for a new one.',
);

export const methodNotAllowed: Page = {
  ...notice(405, 'That is not how this page works', 'Open the link again.'),
  headers: { allow: 'GET, HEAD, POST' },
};

export const alreadyRenewed: Page = {
  ...notice(429, 'A new link was sent already', 'Look at your direct messages from the bot.'),
  headers: { 'retry-after': '60' },
};

export function stillWorks(token: string): Page {
  return notice(409, 'This link still works', 'There is no need for a new one.', `../${token}`);
}

export function tooMany(seconds: number): Page {
  const page = notice(
    429,
    'Too many visits',
    `Wait ${pluralize(seconds, 'second')}, then open the link once more.`,
  );
  return { ...page, headers: { 'retry-after': String(seconds) } };
}

export function checkingNow(token: string): () => Page {
  return () =>
    notice(409, 'A key is being checked', 'Another window of this page sent one a moment ago.', token);
}

/** The page for a refused form. */
export function refuse(why: FormRefusal, back: string): Page {
  switch (why) {
    case 'cross-site':
      return notice(
        403,
        'That did not come from this page',
        'Nothing was read. Use the form of the page itself, in a current browser.',
        back,
      );
    case 'not-a-form':
      return notice(415, 'That was no form', 'Nothing was read. Use the form of the page itself.', back);
    case 'too-large':
      return notice(413, 'That is too large for a key', 'Nothing was read. Copy the key alone.', back);
    case 'too-slow':
      return notice(408, 'That took too long', 'Nothing was read. Try again.', back);
  }
}

/** mrkdwn as plain text. */
export function toPlainText(mrkdwn: string): string {
  return mrkdwn
    .replaceAll(/[`*]/g, '')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&amp;', '&');
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
