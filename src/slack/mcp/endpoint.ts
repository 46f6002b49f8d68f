import type { IncomingMessage } from 'node:http';
import type { ClientTokens } from '../../auth/keys/client-tokens.ts';
import { minuteMs } from '../../lib/time.ts';
import type { Secret } from '../../secrets/secret.ts';
import type { Log } from '../../telemetry/log.ts';
import { createSignatureCheck } from '../receive/signature.ts';
import { createRateLimit, findVisitor, markVerified, oncePerMinute, readBody } from '../web/limits.ts';
import type { Reply } from '../web/page.ts';
import type { Caller } from './call.ts';
import { type CallTool, createProtocol } from './protocol.ts';

const maxBytes = 256 * 1024;
/** What assistants ask for. A stream of events would stay open. */
const methods = new Set(
  'initialize notifications/initialized notifications/cancelled ping server/discover tools/list tools/call'.split(
    ' ',
  ),
);

/**
 * `POST /mcp`: the tools of the bot for Slack's assistant, whose requests are signed as every request of Slack, and for
 * clients with a token of a person. A page of a browser, which names its origin, is refused.
 */
export function createMcpEndpoint(options: {
  readonly signingSecret: Secret;
  readonly call: CallTool;
  readonly clientTokens: Pick<ClientTokens, 'find'>;
  readonly log: Log;
  readonly now: () => Date;
}) {
  const { call, clientTokens, log, now } = options;
  const signature = createSignatureCheck(options);
  const shouldLog = oncePerMinute(now);
  let protocol: ReturnType<typeof createProtocol> | undefined;
  // Each token, also a wrong one, costs a look-up.
  const visits = createRateLimit({ most: 300, perMs: minuteMs, maxKeys: 1_000, now });

  const findClient = async (request: IncomingMessage, token: string): Promise<Caller | undefined> => {
    const isTooMany = visits.take(findVisitor(request.socket.remoteAddress)) !== undefined;
    const found = isTooMany ? undefined : await clientTokens.find(token);
    if (!found) return undefined;
    const { userId: user_id, teamId: team_id, enterpriseId: enterprise_id } = found.person;
    return { user_id, team_id, enterprise_id, client: found.name };
  };

  return async function handle(request: IncomingMessage): Promise<Reply> {
    if (request.headers.origin !== undefined) return refuse(403, 'Not for pages of a browser');
    const bearer = /^Bearer (\S{20,100})$/u.exec(request.headers.authorization ?? '')?.[1];
    const client = bearer === undefined ? undefined : await findClient(request, bearer);
    const isFresh = client !== undefined || (bearer === undefined && signature.isFresh(request));
    const read = isFresh ? await readBody(request, maxBytes).catch(() => undefined) : undefined;
    if (isFresh && read === 'too-large') return refuse(413, 'The request is too large');
    if (!Buffer.isBuffer(read) || !(client || signature.isGenuine(request, read))) {
      if (shouldLog('unsigned'))
        log.warn(
          { status: 401 },
          'request for tools refused: not signed by Slack, no valid token (logged once a minute)',
        );
      return {
        ...refuse(401, 'Not signed by Slack, and no valid token'),
        headers: { ...json, 'www-authenticate': 'Bearer' },
      };
    }
    markVerified(request);
    const body = parse(read);
    if (body === undefined) return refuse(400, 'Not JSON', -32700);
    if (![body].flat().every((one) => methods.has(readMethod(one))))
      return refuse(400, 'Not a method of this server', -32601);
    protocol ??= createProtocol(call, log).catch((error: unknown) => {
      protocol = undefined;
      throw error;
    });
    const { method = 'POST', headers } = request;
    const named = Object.entries(headers).flatMap(([name, value]) =>
      typeof value === 'string' ? [[name, value]] : [],
    );
    // The library reads its own headers; the address is only a formality.
    const asked = new Request('http://localhost/mcp', { method, headers: named as [string, string][] });
    const answer = await (await protocol)(asked, body, client);
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
  return typeof message === 'object' &&
    message !== null &&
    'method' in message &&
    typeof message.method === 'string'
    ? message.method
    : '';
}

const json = { 'content-type': 'application/json; charset=utf-8' };

/** As the protocol tells errors that belong to no request. */
function refuse(status: number, message: string, code = -32600): Reply {
  return {
    status,
    headers: json,
    body: JSON.stringify({ jsonrpc: '2.0', error: { code, message }, id: null }),
  };
}
