import type { IncomingMessage } from 'node:http';
import type { Secret } from '../../secrets/secret.ts';
import type { Log } from '../../telemetry/log.ts';
import { createSignatureCheck } from '../receive/signature.ts';
import { markVerified, oncePerMinute, readBody } from '../web/limits.ts';
import type { Reply } from '../web/page.ts';
import { type CallTool, createProtocol } from './protocol.ts';

const maxBytes = 256 * 1024;
/** What assistants ask for. A stream of events would stay open. */
const methods = new Set([
  'initialize',
  'notifications/initialized',
  'notifications/cancelled',
  'ping',
  'server/discover',
  'tools/list',
  'tools/call',
]);

/**
 * `POST /mcp`: the tools of the bot for Slack's assistant. A request is signed as every request of Slack; a page of a
 * browser, which names its origin, is refused.
 */
export function createMcpEndpoint(options: {
  readonly signingSecret: Secret;
  readonly call: CallTool;
  readonly log: Log;
  readonly now: () => Date;
}) {
  const { call, log, now } = options;
  const signature = createSignatureCheck(options);
  const shouldLog = oncePerMinute(now);
  let protocol: ReturnType<typeof createProtocol> | undefined;

  return async function handle(request: IncomingMessage): Promise<Reply> {
    if (request.headers.origin !== undefined) return refuse(403, 'Not for pages of a browser');
    const isFresh = signature.isFresh(request);
    const read = isFresh ? await readBody(request, maxBytes).catch(() => undefined) : undefined;
    if (isFresh && read === 'too-large') return refuse(413, 'The request is too large');
    if (!Buffer.isBuffer(read) || !signature.isGenuine(request, read)) {
      if (shouldLog('unsigned'))
        log.warn({ status: 401 }, 'request for tools refused: not signed by Slack (logged once a minute)');
      return refuse(401, 'Not signed by Slack');
    }
    markVerified(request);
    const body = parse(read);
    if (body === undefined) return refuse(400, 'Not JSON', -32700);
    if (![body].flat().every((one) => methods.has(readMethod(one))))
      return refuse(400, 'Not a method of this server', -32601);
    protocol ??= createProtocol(call, log);
    const { method = 'POST', headers } = request;
    const named = Object.entries(headers).flatMap(([name, value]) =>
      typeof value === 'string' ? [[name, value]] : [],
    );
    // The library looks at the headers of its own; the address is only a form.
    const asked = new Request('http://localhost/mcp', { method, headers: named as [string, string][] });
    const answer = await (await protocol)(asked, body);
    return { status: answer.status, headers: Object.fromEntries(answer.headers), body: await answer.text() };
  };
}

function parse(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8')) as unknown;
  } catch {
    return undefined;
  }
}

function readMethod(message: unknown): string {
  return typeof message === 'object' && message !== null && 'method' in message ? String(message.method) : '';
}

/** As the protocol tells errors that belong to no request. */
function refuse(status: number, message: string, code = -32600): Reply {
  return {
    status,
    headers: { 'content-type': 'application/json; charset=utf-8' },
    body: JSON.stringify({ jsonrpc: '2.0', error: { code, message }, id: null }),
  };
}
