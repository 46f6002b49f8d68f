import { newId } from './clock.ts';
import type { World } from './world.ts';

/** One installation of the app: in a workspace, or in an organisation for all its workspaces. */
export interface Install {
  readonly id: string;
  readonly isOrg: boolean;
  readonly name: string;
  readonly domain: string;
  readonly botUserId: string;
  readonly botId: string;
  token: string;
  active: boolean;
  /** Optional scopes that it was installed without. */
  readonly lacks: Set<string>;
  covers(teamId: string): boolean;
}

export interface Installs {
  byToken(token: string): Install | undefined;
  /** The installation that serves a workspace. */
  forTeam(teamId: string): Install | undefined;
  byId(id: string): Install | undefined;
  /** After a new installation through OAuth: a fresh token where the old one was revoked. */
  activate(install: Install): void;
  readonly all: readonly Install[];
}

/** The installations that may call the Web API. Acme, beta and the organisation corp start installed. */
export function createInstalls(world: World): Installs {
  const { acme, beta, corp } = world.workspaces;
  const all: Install[] = [acme, beta, corp].map((place) => ({
    id: place.id,
    isOrg: 'workspaces' in place,
    name: place.name,
    domain: place.domain,
    botUserId: place.botUserId,
    botId: place.botId,
    token: place.botToken,
    active: true,
    lacks: new Set(),
    covers: (teamId) =>
      'workspaces' in place ? place.workspaces.some((team) => team.id === teamId) : place.id === teamId,
  }));
  return {
    all,
    byToken: (token) => all.find((install) => install.token === token),
    byId: (id) => all.find((install) => install.id === id),
    forTeam: (teamId) => all.find((install) => install.covers(teamId)),
    activate(install) {
      if (install.active) return;
      install.token = `xoxb-simulated-${newId('r').toLowerCase()}`;
      install.active = true;
    },
  };
}
