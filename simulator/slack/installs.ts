import { newId } from './clock.ts';
import type { World } from './world.ts';

/** One installation of the app: in a workspace, or in an organization for all its workspaces. */
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
  /** For the page that installs: a workspace of an organization may have an installation of its own beside that. */
  toInstall(id: string): Install | undefined;
  /** After a new installation through OAuth: a fresh token where the old one was revoked. */
  activate(install: Install): void;
  readonly all: readonly Install[];
}

/** The installations that may call the Web API. Acme, beta and the organization corp start installed. */
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
  const byId = (id: string) => all.find((install) => install.id === id);
  return {
    all,
    byToken: (token) => all.find((install) => install.token === token),
    byId,
    toInstall(id) {
      const team = corp.workspaces.find((one) => one.id === id);
      if (!team || byId(id)) return byId(id);
      const { name, domain, botUserId, botId } = team;
      const token = `xoxb-simulated-${id.toLowerCase()}`;
      const covers = (teamId: string): boolean => teamId === id;
      const own = { id, name, domain, botUserId, botId, token, covers, isOrg: false, active: true };
      // Before the organization's: it serves its workspace.
      all.unshift({ ...own, lacks: new Set() });
      return byId(id);
    },
    forTeam: (teamId) => all.find((install) => install.covers(teamId)),
    activate(install) {
      if (install.active) return;
      install.token = `xoxb-simulated-${newId('r').toLowerCase()}`;
      install.active = true;
    },
  };
}
