import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import type { Installation } from '../../auth/identity.ts';
import type { AccessEnd } from '../../auth/offboarding.ts';
import { findInstallation } from '../sender.ts';

export interface LifecycleHandlers {
  /** Stores what has ended; an event that arrives again is stored once. */
  readonly store: (eventId: string, ends: readonly AccessEnd[]) => Promise<void>;
  readonly changed: (place: Installation, userId: string) => void;
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

// The first two arrive without a token, and no library deletes the installation.
const lifecycleEvent = z.object({
  event_id: z.string().default(() => randomUUID()),
  event_time: z.number().default(Number.MAX_SAFE_INTEGER),
  event: z.discriminatedUnion('type', [
    z.object({ type: z.literal('app_uninstalled') }),
    z.object({
      type: z.literal('tokens_revoked'),
      tokens: z.object({ bot: z.array(z.string()).default([]) }),
    }),
    z.object({ type: z.literal('team_access_revoked'), team_ids: z.array(z.string()) }),
    z.object({ type: z.literal('user_change'), user: changedUser }),
  ]),
});

/**
 * Stores the end of a person, a workspace or an installation that a delivery tells of. Call before the delivery is
 * acknowledged: where this rejects, Slack must send it again.
 */
export async function storeEnds(body: unknown, { store, changed }: LifecycleHandlers): Promise<void> {
  const seen = lifecycleEvent.safeParse(body).data;
  const installation = seen && findInstallation(body);
  if (!installation) return;
  const { event, event_id: eventId, event_time: at } = seen;
  const { teamId, enterpriseId } = installation;
  const place = { teamId, at, ...(enterpriseId === undefined ? {} : { enterpriseId }) };
  switch (event.type) {
    case 'app_uninstalled':
      return store(eventId, [{ ...place, cause: 'app-uninstalled' }]);
    case 'tokens_revoked':
      return event.tokens.bot.length === 0
        ? undefined
        : store(eventId, [{ ...place, cause: 'tokens-revoked' }]);
    case 'team_access_revoked':
      return store(
        eventId,
        event.team_ids.map((id) => ({ ...place, teamId: id, cause: 'team-access-revoked' })),
      );
    case 'user_change': {
      const { user } = event;
      if (!belongs(user, installation)) return undefined;
      changed(installation, user.id);
      const home = teamId === enterpriseId ? (user.team_id ?? '') : teamId;
      const person = { ...place, teamId: home, userId: user.id };
      return user.deleted ? store(eventId, [{ ...person, cause: 'user-deleted' }]) : undefined;
    }
  }
}

/** Slack also reports visitors, and another organisation may use the same id. */
function belongs(user: z.output<typeof changedUser>, { enterpriseId, teamId: own }: Installation): boolean {
  const { enterprise_user: grid, team_id: teamId, is_stranger: isStranger } = user;
  if (isStranger === true) return false;
  if (enterpriseId !== undefined)
    return grid?.enterprise_id === undefined || grid.enterprise_id === enterpriseId;
  return teamId === undefined || teamId === own || grid?.teams?.includes(own) === true;
}
