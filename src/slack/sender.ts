import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import type { Installation, Person } from '../auth/identity.ts';
import type { AccessEnd } from '../auth/offboarding.ts';
import { personInput } from '../commands/steps.ts';

export interface Sender {
  readonly person: Person;
  /** From another organization: everything is refused. Undefined where only their profile says it. */
  readonly foreign: boolean | undefined;
}

/** Of the only bot token, if there is only one. */
export interface OwnWorkspace {
  readonly teamId: string | undefined;
  readonly enterpriseId: string | undefined;
}

const id = z.string().min(1).optional().catch(undefined);
const name = z.string().trim().min(1).max(100).optional().catch(undefined);
const named = z.object({ id }).nullish().catch(undefined);

// Commands are flat forms in which even booleans are strings; interactions nest; events carry authorizations.
const envelope = z.object({
  team_id: id,
  enterprise_id: id,
  user_id: id,
  user_name: name,
  team_domain: name,
  is_enterprise_install: z.union([z.boolean(), z.string()]).optional().catch(undefined),
  team: z.object({ id, enterprise_id: id, domain: name }).nullish().catch(undefined),
  enterprise: named,
  user: z.object({ id, team_id: id, username: name, name }).optional().catch(undefined),
  view: z.object({ app_installed_team_id: id }).optional().catch(undefined),
  event: z
    .object({ type: id, user: z.union([id, named]), user_team: id, source_team: id, team: id })
    .optional()
    .catch(undefined),
  authorizations: z
    .array(z.object({ team_id: id, enterprise_id: id, is_enterprise_install: z.boolean().optional() }))
    .optional()
    .catch(undefined),
});

const stepEvent = z.object({
  event: z.object({
    function: z.object({ input_parameters: z.array(z.object({ name: id, type: id })) }),
    inputs: z.object({ [personInput.name]: z.object({ id, secret: z.string().min(1) }) }),
  }),
});

/** The person who runs a workflow. Nobody, if the app's settings let authors of workflows fill in the input. */
function findStepPerson(body: unknown): string | undefined {
  const seen = stepEvent.safeParse(body).data?.event;
  const declared = seen?.function.input_parameters.find(({ name }) => name === personInput.name);
  return declared?.type === personInput.type ? seen?.inputs[personInput.name].id : undefined;
}

/** Person and installation, from any of Slack's envelopes. Undefined for events that name no user. */
export function readSender(body: unknown, own?: OwnWorkspace): Sender | undefined {
  const seen = envelope.safeParse(body).data;
  if (!seen) return undefined;
  const user = seen.event?.user;
  const isStep = seen.event?.type === 'function_executed';
  const userId = isStep
    ? findStepPerson(body)
    : (seen.user_id ?? seen.user?.id ?? (typeof user === 'string' ? user : user?.id));
  const origin = readOrigin(seen);
  const { enterpriseId } = origin;
  const teamId = origin.teamId ?? seen.user?.team_id ?? enterpriseId;
  if (!userId || !teamId) return undefined;
  const ownTeams = [teamId, enterpriseId, seen.view?.app_installed_team_id];
  // Slack does not say it with commands, steps and the Home tab.
  const team = seen.user?.team_id ?? seen.event?.user_team ?? seen.event?.source_team ?? seen.event?.team;
  const isVisitor = team !== undefined && !ownTeams.includes(team);
  const isElsewhere =
    own?.teamId !== undefined &&
    own.teamId !== teamId &&
    (own.enterpriseId === undefined || own.enterpriseId !== enterpriseId);
  const isUnclear = origin.isWhole || (team === undefined && !isElsewhere);
  const foreign = isUnclear ? undefined : isVisitor || isElsewhere;
  // A person ends with the installation.
  return { person: { enterpriseId: origin.isWhole ? enterpriseId : undefined, teamId, userId }, foreign };
}

/** Of a whole organization, `teamId` may be the organization's id. */
export function findInstallation(body: unknown): Installation | undefined {
  const seen = envelope.safeParse(body).data;
  const { teamId, enterpriseId, isWhole } = seen ? readOrigin(seen) : {};
  const home = teamId ?? enterpriseId;
  return home === undefined ? undefined : { teamId: home, enterpriseId: isWhole ? enterpriseId : undefined };
}

function readOrigin(seen: z.output<typeof envelope>) {
  const authorization = seen.authorizations?.[0];
  const flag = seen.is_enterprise_install ?? authorization?.is_enterprise_install;
  return {
    teamId: seen.team_id ?? seen.team?.id ?? authorization?.team_id,
    enterpriseId:
      seen.enterprise_id ?? seen.enterprise?.id ?? seen.team?.enterprise_id ?? authorization?.enterprise_id,
    isWhole: flag === true || flag === 'true',
  };
}

/** Such as `@alice in acme.slack.com`; needs no scope. */
export function readShownName(body: unknown, person: Person): string {
  const seen = envelope.safeParse(body).data;
  const user = seen?.user_name ?? seen?.user?.username ?? seen?.user?.name;
  const domain = seen?.team_domain ?? seen?.team?.domain;
  return `${user ? `@${user}` : person.userId} in ${domain ? `${domain}.slack.com` : person.teamId}`;
}

export interface LifecycleHandlers {
  /** An event that arrives again is stored once. */
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

// The first two arrive without a token.
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

/** Stores an end of access. Call before the acknowledgement: where this rejects, Slack must send it again. */
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

/** Slack also reports visitors, and ids may repeat in other organizations. */
function belongs(user: z.output<typeof changedUser>, { enterpriseId, teamId: own }: Installation): boolean {
  const { enterprise_user: grid, team_id: teamId, is_stranger: isStranger } = user;
  if (isStranger === true) return false;
  if (enterpriseId !== undefined)
    return grid?.enterprise_id === undefined || grid.enterprise_id === enterpriseId;
  return teamId === undefined || teamId === own || grid?.teams?.includes(own) === true;
}
