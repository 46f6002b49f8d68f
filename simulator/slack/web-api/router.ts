import type { IncomingMessage } from 'node:http';
import { type Route, readArguments, readBody, sendJson } from '../http.ts';
import type { Install } from '../installs.ts';
import { exchangeCode } from '../oauth.ts';
import type { Call, Simulation } from '../simulation.ts';
import type { Json } from '../world.ts';
import { appMethods } from './app.ts';
import { type Method, Refused } from './call.ts';
import { chatMethods, historyMethods } from './chat.ts';
import { fileMethods } from './files.ts';
import { functionMethods } from './functions.ts';
import { peopleMethods } from './people.ts';
import { createTiers } from './tiers.ts';
import { viewMethods } from './views.ts';

const methods = new Map<string, Method>(
  [appMethods, chatMethods, fileMethods, functionMethods, historyMethods, peopleMethods, viewMethods].flatMap(
    (family) => Object.entries(family),
  ),
);

/** The scope of a method that an app may be installed without. */
const optionalScopes: Readonly<Record<string, string>> = {
  'conversations.history': 'channels:history',
  'conversations.replies': 'channels:history',
  'files.completeUploadExternal': 'files:write',
  'conversations.open': 'im:write',
  'conversations.info': 'channels:read',
  'conversations.list': 'channels:read',
  'users.info': 'users:read',
  'usergroups.list': 'usergroups:read',
  'usergroups.users.list': 'usergroups:read',
};

/** The Web API at `/api/<method>`: form-encoded or JSON, the token in the header or the body. */
export function createWebApi(sim: Simulation, scopes: readonly string[] = []): Route {
  const findWait = createTiers(sim.now);
  return async (request, response, url) => {
    if (!url.pathname.startsWith('/api/')) return false;
    const method = url.pathname.slice('/api/'.length);
    const args = readArguments(request, (await readBody(request)).toString(), url);
    const date = { date: new Date(sim.now()).toUTCString() };
    const token = tokenOf(request, args);
    // Neither tests nor logs get to see a token.
    delete args['token'];
    const call: Call = { method, token: kindOf(sim, token), args, at: sim.now(), ok: false };
    const install = token === undefined ? undefined : sim.installs.byToken(token);
    if (install) call.teamId = install.id;
    sim.calls.push(call);
    sim.changed();
    const retryAfter = findWait(call.teamId ?? '', method);
    const limited = retryAfter === undefined ? undefined : { status: 429, retryAfter, error: 'ratelimited' };
    const fault = limited ?? (await sim.script.interfere(method, args));
    if (fault) {
      call.error = fault.error;
      const headers: Record<string, string> =
        fault.retryAfter === undefined ? {} : { 'retry-after': String(fault.retryAfter) };
      sendJson(response, { ok: false, error: fault.error }, fault.status, { ...headers, ...date });
      return true;
    }
    const answer = await perform(sim, request, call, install);
    call.ok = answer['ok'] === true;
    if (!call.ok) call.error = String(answer['error']);
    await sim.script.answering(method, args);
    if (sim.script.drops(method)) request.socket.destroy();
    else {
      const granted = scopes.filter((scope) => install?.lacks.has(scope) === false);
      const scoped = granted.length > 0 ? { 'x-oauth-scopes': granted.join(',') } : {};
      sendJson(response, answer, 200, { ...scoped, ...date });
    }
    return true;
  };
}

async function perform(
  sim: Simulation,
  request: IncomingMessage,
  call: Call,
  install: Install | undefined,
): Promise<Json> {
  try {
    return { ok: true, ...(await answerOf(sim, request, call, install)) };
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    const { code, messages } = error;
    return {
      ok: false,
      error: code,
      ...(messages.length > 0 ? { errors: messages, response_metadata: { messages } } : {}),
    };
  }
}

async function answerOf(
  sim: Simulation,
  request: IncomingMessage,
  call: Call,
  install: Install | undefined,
): Promise<Json> {
  if (call.method === 'oauth.v2.access') return exchangeCode(sim, request, call.args);
  if (call.method === 'api.test') return {};
  const method = methods.get(call.method);
  if (!method && call.method !== 'apps.connections.open') throw new Refused('unknown_method');
  if (call.token === 'none') throw new Refused('not_authed');
  if (call.token === 'wrong') throw new Refused('invalid_auth');
  if (call.method === 'apps.connections.open') {
    if (call.token !== 'app') throw new Refused('not_allowed_token_type');
    // At the address by which it was asked: a relay in front is in front of the socket too.
    return { url: sim.socket.ticket(sim.socketBase ?? `http://${request.headers.host}`) };
  }
  if (!install || !method) throw new Refused('not_allowed_token_type');
  if (!install.active) throw new Refused(call.method === 'auth.test' ? 'account_inactive' : 'token_revoked');
  const scope = optionalScopes[call.method];
  if (scope !== undefined && install.lacks.has(scope)) throw new Refused('missing_scope');
  const { team_id: team } = call.args;
  if (typeof team === 'string' && team !== '' && team !== install.id && !install.covers(team)) {
    sim.problem(`${call.method}: the token of ${install.id} was used with team_id ${team}`);
    throw new Refused('team_access_not_granted');
  }
  return await method({ sim, install, method: call.method, args: call.args });
}

function tokenOf(request: IncomingMessage, args: Json): string | undefined {
  const bearer = /^Bearer (.+)$/.exec(request.headers.authorization ?? '')?.[1];
  return bearer ?? (typeof args['token'] === 'string' && args['token'] !== '' ? args['token'] : undefined);
}

function kindOf(sim: Simulation, token: string | undefined): Call['token'] {
  if (token === undefined) return 'none';
  if (token === sim.appToken) return 'app';
  return sim.installs.byToken(token) ? 'bot' : 'wrong';
}
