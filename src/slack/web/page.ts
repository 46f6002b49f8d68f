import { createHash } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { allowSecrets } from '../../secrets/secret.ts';
import { pluralize } from '../../views/blocks/format.ts';
import { renderNotice, style } from '../../views/connect/page.ts';
import type { Egress } from '../send/egress.ts';
import { readBody } from './limits.ts';

/** Plain text unless its headers say otherwise. */
export interface Reply {
  readonly status: number;
  readonly body: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** The kinds of secrets that it may hold. */
  readonly carries?: readonly string[];
}

// A key has a few dozen characters.
const maxBytes = 8 * 1024;

/** Requests of other sites, other types and above 8 kB are not read. */
export async function readPageForm(
  request: IncomingMessage,
  origin: string,
): Promise<URLSearchParams | keyof typeof refusals> {
  if (!isFromOurPage(request, origin)) return 'cross-site';
  const type = request.headers['content-type']?.split(';', 1)[0]?.trim().toLowerCase();
  if (type !== 'application/x-www-form-urlencoded') return 'not-a-form';
  const body = await readBody(request, maxBytes);
  return typeof body === 'string' ? body : new URLSearchParams(body.toString('utf8'));
}

/** Our referrer policy makes the origin `null`; then `Sec-Fetch-Site` decides, which browsers send since 2023. */
function isFromOurPage({ headers }: IncomingMessage, origin: string): boolean {
  const site = headers['sec-fetch-site'];
  if (site !== undefined && site !== 'same-origin') return false;
  if (headers.origin === undefined || headers.origin === origin) return true;
  return headers.origin === 'null' && site === 'same-origin';
}

/** No scripts, no external resources, no framing, no referrer. */
export function pageHeaders(publicUrl = ''): Record<string, string> {
  return {
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': [
      "default-src 'none'",
      `style-src 'sha256-${createHash('sha256').update(style).digest('base64')}'`,
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
    ...(publicUrl.startsWith('https:') ? { 'strict-transport-security': 'max-age=31536000' } : {}),
  };
}

export function plain(status: number, text: string): Reply {
  return { status, body: `${text}\n` };
}

/** An answer with a live secret is replaced by a sentence. */
export function sendReply(
  request: IncomingMessage,
  response: ServerResponse,
  reply: Reply,
  egress?: Pick<Egress, 'replacement'>,
): void {
  if (response.headersSent || response.destroyed) return;
  const blocked = allowSecrets(reply.carries ?? [], () =>
    egress?.replacement('http', [reply.body, reply.headers]),
  );
  const { status, headers, body } = blocked === undefined ? reply : plain(500, blocked);
  // The unread body goes with its connection.
  const { 'content-length': length, 'transfer-encoding': encoding } = request.headers;
  const isUnread = !request.complete && (length !== undefined || encoding !== undefined);
  request.resume();
  response
    .writeHead(status, {
      'content-type': 'text/plain; charset=utf-8',
      'cache-control': 'no-store',
      ...headers,
      ...(isUnread ? { connection: 'close' } : {}),
      'content-length': Buffer.byteLength(body),
    })
    .end(request.method === 'HEAD' ? undefined : body);
}

export function notice(status: number, title: string, message: string, back?: string): Reply {
  return { status, body: renderNotice(title, message, back) };
}

/** The same for every address that is no link. */
export const unknown = notice(
  404,
  'This link does not work',
  'It is incomplete, or older than a day. Copy the whole link, or ask for a new one.',
);

export const methodNotAllowed: Reply = {
  ...notice(405, 'That is not how this page works', 'Open the link again.'),
  headers: { allow: 'GET, HEAD, POST' },
};

export function tooMany(seconds: number): Reply {
  const wait = `Wait ${pluralize(seconds, 'second')}, then open the link once more.`;
  return { ...notice(429, 'Too many visits', wait), headers: { 'retry-after': String(seconds) } };
}

export function checkingNow(form: string): () => Reply {
  return () =>
    notice(409, 'A key is being checked', 'Another window of this page sent one a moment ago.', form);
}

const refusals = {
  'cross-site': [
    403,
    'That did not come from this page',
    'Nothing was read. Use the form of the page itself, in a current browser.',
  ],
  'not-a-form': [415, 'That was not the form', 'Nothing was read. Use the form of the page itself.'],
  'too-large': [413, 'That is too large for a key', 'Nothing was read. Copy the key alone.'],
  'too-slow': [408, 'That took too long', 'Nothing was read. Try again.'],
} as const;

export function refuse(why: keyof typeof refusals, back: string): Reply {
  const [status, title, message] = refusals[why];
  return notice(status, title, message, back);
}
