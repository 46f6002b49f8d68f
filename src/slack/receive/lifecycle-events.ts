import type { App } from '@slack/bolt';
import { z } from 'zod';
import type { Person } from '../../auth/identity.ts';
import type { Log } from '../../telemetry/log.ts';
import { findWorkspace, tenantIdOfWorkspace, type Workspace } from '../sender.ts';
import type { InFlight } from './in-flight.ts';

/** Handles the end of a person, a workspace or the whole installation. */
export interface LifecycleHandlers {
  person(person: Person): Promise<void>;
  /** One workspace of an organisation. */
  team(tenant: string, teamId: string): Promise<void>;
  uninstalled(workspace: Workspace, cause: 'app-uninstalled' | 'tokens-revoked'): Promise<void>;
  /** A profile changed: its cached copy is stale. */
  changed(workspace: Workspace, userId: string): void;
}

const changedUser = z.object({
  id: z.string().min(1),
  team_id: z.string().optional(),
  deleted: z.boolean().optional(),
  is_stranger: z.boolean().optional(),
  enterprise_user: z
    .object({ enterprise_id: z.string().optional(), teams: z.array(z.string()).optional() })
    .optional()
    .catch(undefined),
});

/** Listens for the lifecycle events of Slack. Each may arrive twice; the handlers are idempotent. */
export function listenForLifecycleEvents(
  app: App,
  options: { ends: LifecycleHandlers; inFlight: InFlight; log: Log },
): void {
  const { ends, inFlight, log } = options;

  // These two arrive without a token, and no library deletes the installation.
  const end = async (body: unknown, cause: 'app-uninstalled' | 'tokens-revoked'): Promise<void> => {
    const workspace = findWorkspace(body);
    if (!workspace) return;
    await inFlight.run(() => ends.uninstalled(workspace, cause));
    const tenant = tenantIdOfWorkspace(workspace);
    log.info({ tenant, cause }, 'app uninstalled: its token and all keys are destroyed');
  };
  app.event('app_uninstalled', async ({ body }) => end(body, 'app-uninstalled'));
  app.event('tokens_revoked', async ({ body, event }) => {
    if (event.tokens.bot?.length) await end(body, 'tokens-revoked');
  });

  app.event('team_access_revoked', async ({ body, event }) => {
    const workspace = findWorkspace(body);
    if (!workspace) return;
    const tenant = tenantIdOfWorkspace(workspace);
    for (const teamId of event.team_ids) {
      await inFlight.run(() => ends.team(tenant, teamId));
      log.info({ tenant, teamId }, 'app removed from a workspace: the keys of its people are destroyed');
    }
  });

  app.event('user_change', async ({ body, event }) => {
    const workspace = findWorkspace(body);
    const user = changedUser.safeParse(event.user).data;
    if (!workspace || !user || !belongs(user, workspace)) return;
    ends.changed(workspace, user.id);
    if (user.deleted !== true) return;
    const { isEnterpriseInstall, enterpriseId, teamId } = workspace;
    const person = isEnterpriseInstall
      ? { enterpriseId, teamId: teamId ?? user.team_id ?? '', userId: user.id }
      : { teamId: teamId ?? '', userId: user.id };
    await inFlight.run(() => ends.person(person));
    log.info({ tenant: tenantIdOfWorkspace(workspace) }, 'person deactivated: their key is destroyed');
  });
}

/** Slack also reports visitors, and another organisation may use the same id. */
function belongs(user: z.output<typeof changedUser>, workspace: Workspace): boolean {
  const { enterprise_user: grid, team_id: teamId, is_stranger: isStranger } = user;
  const { isEnterpriseInstall, enterpriseId, teamId: own } = workspace;
  if (isStranger === true) return false;
  if (isEnterpriseInstall) return grid?.enterprise_id === undefined || grid.enterprise_id === enterpriseId;
  return own !== undefined && (teamId === undefined || teamId === own || grid?.teams?.includes(own) === true);
}
