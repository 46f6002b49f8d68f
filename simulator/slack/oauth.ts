import { randomBytes } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Route } from './http.ts';
import { appId } from './payloads.ts';
import type { Simulation } from './simulation.ts';
import { Refused } from './web-api/call.ts';
import type { Json } from './world.ts';
import { textOf } from './world.ts';

interface Grant {
  readonly installId: string;
  readonly redirectUri: string;
  readonly scope: string;
  readonly at: number;
}

const lifeMs = 10 * 60 * 1000;
const grants = new WeakMap<Simulation, Map<string, Grant>>();

/**
 * The page where an admin allows the app: a link for each workspace and for the organization. With
 * `team=<T… or E…>` in the address it allows at once and redirects with a one-time code, so a test needs no page;
 * with `cancel=1` it redirects as if the person had cancelled.
 */
export function createAuthorizePage(sim: Simulation): Route {
  const codes = new Map<string, Grant>();
  grants.set(sim, codes);
  return (_request, response, url) => {
    if (url.pathname !== '/oauth/v2/authorize') return false;
    const query = url.searchParams;
    if (query.get('client_id') !== sim.clientId) {
      response.writeHead(400, { 'content-type': 'text/plain' }).end('Invalid client_id parameter');
      return true;
    }
    const redirectUri = query.get('redirect_uri') ?? sim.redirectUrl() ?? '';
    // https://docs.slack.dev/authentication/installing-with-oauth
    if (query.has('cancel') && URL.canParse(redirectUri)) {
      const cancelled = new URL(redirectUri);
      cancelled.searchParams.set('error', 'access_denied');
      cancelled.searchParams.set('state', query.get('state') ?? '');
      response.writeHead(302, { location: cancelled.href }).end();
      return true;
    }
    const install = sim.installs.toInstall(query.get('team') ?? '');
    if (!install) {
      const links = sim.installs.all.map((place) => {
        const address = new URL(url);
        address.searchParams.set('team', place.id);
        return `<li><a href="${escapeHtml(address.pathname + address.search)}">Allow CDN in ${escapeHtml(place.name)}</a></li>`;
      });
      response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' });
      response.end(
        `<!doctype html><title>Install CDN</title><h1>Install CDN</h1><p>Scopes: ${escapeHtml(query.get('scope') ?? '')}</p><ul>${links.join('')}</ul>`,
      );
      return true;
    }
    if (!URL.canParse(redirectUri)) {
      response.writeHead(400, { 'content-type': 'text/plain' }).end('redirect_uri is missing');
      return true;
    }
    const code = randomBytes(16).toString('hex');
    codes.set(code, { installId: install.id, redirectUri, scope: query.get('scope') ?? '', at: sim.now() });
    const back = new URL(redirectUri);
    back.searchParams.set('code', code);
    back.searchParams.set('state', query.get('state') ?? '');
    response.writeHead(302, { location: back.href }).end();
    return true;
  };
}

/** oauth.v2.access: a code for the token of the workspace or organization it was given for, once. */
export function exchangeCode(sim: Simulation, request: IncomingMessage, args: Json): Json {
  const basic = /^Basic (.+)$/.exec(request.headers.authorization ?? '')?.[1];
  const [id, secret] = basic
    ? Buffer.from(basic, 'base64').toString().split(':')
    : [args['client_id'], args['client_secret']];
  // The secret is in no record of calls.
  delete args['client_secret'];
  if (id !== sim.clientId) throw new Refused('invalid_client_id');
  if (secret !== sim.clientSecret) throw new Refused('bad_client_secret');
  const codes = grants.get(sim);
  const code = textOf(args['code']);
  const grant = codes?.get(code);
  codes?.delete(code);
  if (!grant || sim.now() - grant.at > lifeMs) throw new Refused('invalid_code');
  const { redirect_uri: redirectUri } = args;
  if (typeof redirectUri === 'string' && redirectUri !== grant.redirectUri)
    throw new Refused('bad_redirect_uri');
  const install = sim.installs.byId(grant.installId);
  if (!install) throw new Refused('invalid_code');
  sim.installs.activate(install);
  const place = { id: install.id, name: install.name };
  const admin = sim.world.people.find((person) => person.admin && install.covers(person.teamId));
  return {
    app_id: appId,
    access_token: install.token,
    token_type: 'bot',
    scope: grant.scope,
    bot_user_id: install.botUserId,
    team: install.isOrg ? null : place,
    enterprise: install.isOrg ? place : null,
    is_enterprise_install: install.isOrg,
    authed_user: { id: admin?.id ?? 'U0ALICE00' },
  };
}

function escapeHtml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
}
