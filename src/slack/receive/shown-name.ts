import { z } from 'zod';
import type { Person } from '../../auth/identity.ts';

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
