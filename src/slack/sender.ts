import { z } from 'zod';
import type { Person } from '../auth/identity.ts';

/** The installation whose token answers: a workspace's own, or its organisation's. */
export interface Workspace {
  readonly teamId: string | undefined;
  readonly enterpriseId: string | undefined;
  readonly isEnterpriseInstall: boolean;
}

export interface Sender {
  readonly person: Person;
  readonly workspace: Workspace;
  /** From another organisation (Slack Connect): everything is refused. */
  readonly foreign: boolean;
}

/** The workspace that one bot token belongs to, where there is only one. */
export interface OwnWorkspace {
  readonly teamId: string | undefined;
  readonly enterpriseId: string | undefined;
}

const id = z.string().min(1).optional().catch(undefined);
const named = z.object({ id }).nullish().catch(undefined);

// Commands are flat forms in which even booleans are strings; interactions nest; events carry authorizations.
const envelope = z.object({
  team_id: id,
  enterprise_id: id,
  user_id: id,
  is_enterprise_install: z.union([z.boolean(), z.string()]).optional().catch(undefined),
  team: z.object({ id, enterprise_id: id }).nullish().catch(undefined),
  enterprise: named,
  user: z.object({ id, team_id: id }).optional().catch(undefined),
  view: z.object({ app_installed_team_id: id }).optional().catch(undefined),
  event: z
    .object({ user: z.union([id, named]) })
    .optional()
    .catch(undefined),
  authorizations: z
    .array(z.object({ team_id: id, enterprise_id: id, is_enterprise_install: z.boolean().optional() }))
    .optional()
    .catch(undefined),
});

/**
 * Who sent a delivery and for which installation it came, in any of Slack's envelopes.
 * Undefined where Slack names no user (events about the workspace itself).
 */
export function readSender(body: unknown, own?: OwnWorkspace): Sender | undefined {
  const seen = envelope.safeParse(body).data;
  if (!seen) return undefined;
  const user = seen.event?.user;
  const userId = seen.user_id ?? seen.user?.id ?? (typeof user === 'string' ? user : user?.id);
  const workspace = workspaceIn(seen);
  const teamId = workspace.teamId ?? seen.user?.team_id ?? workspace.enterpriseId;
  if (!userId || !teamId) return undefined;
  const { enterpriseId } = workspace;
  const homes = [teamId, enterpriseId, seen.view?.app_installed_team_id];
  // In an organisation-wide installation people come from any of its workspaces, and Slack delivers only those.
  const visitor =
    seen.user?.team_id !== undefined && !workspace.isEnterpriseInstall && !homes.includes(seen.user.team_id);
  const elsewhere =
    own?.teamId !== undefined &&
    own.teamId !== teamId &&
    (own.enterpriseId === undefined || own.enterpriseId !== enterpriseId);
  return { person: personIn(workspace, teamId, userId), workspace, foreign: visitor || elsewhere };
}

/** The id that an installation, and everything people kept with it, belongs to. */
export function tenantIdOfWorkspace(workspace: Workspace): string {
  return (workspace.isEnterpriseInstall ? workspace.enterpriseId : workspace.teamId) ?? '';
}

/** What people keep belongs to the installation, and ends with it: an organisation's, or one workspace's. */
function personIn(workspace: Workspace, teamId: string, userId: string): Person {
  return { enterpriseId: workspace.isEnterpriseInstall ? workspace.enterpriseId : undefined, teamId, userId };
}

/** The installation that a delivery came for. */
export function findWorkspace(body: unknown): Workspace | undefined {
  const seen = envelope.safeParse(body).data;
  return seen && workspaceIn(seen);
}

function workspaceIn(seen: z.output<typeof envelope>): Workspace {
  const authorization = seen.authorizations?.[0];
  const flag = seen.is_enterprise_install ?? authorization?.is_enterprise_install;
  return {
    teamId: seen.team_id ?? seen.team?.id ?? authorization?.team_id,
    enterpriseId:
      seen.enterprise_id ?? seen.enterprise?.id ?? seen.team?.enterprise_id ?? authorization?.enterprise_id,
    isEnterpriseInstall: flag === true || flag === 'true',
  };
}

const name = z.string().trim().min(1).max(100).optional().catch(undefined);

// Commands are flat, interactions nest.
const names = z.object({
  user_name: name,
  team_domain: name,
  user: z.object({ username: name, name }).optional().catch(undefined),
  team: z.object({ domain: name }).nullish().catch(undefined),
});

/**
 * Somebody's name and workspace as Slack sends them with a delivery, for a reader who knows neither of the ids:
 * `@alice in acme.slack.com`. No further question to Slack, and no scope.
 */
export function readShownName(body: unknown, person: Person): string {
  const seen = names.safeParse(body).data;
  const user = seen?.user_name ?? seen?.user?.username ?? seen?.user?.name;
  const domain = seen?.team_domain ?? seen?.team?.domain;
  return `${user ? `@${user}` : person.userId} in ${domain ? `${domain}.slack.com` : person.teamId}`;
}
