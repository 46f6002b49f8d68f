import type { WebClient } from '@slack/web-api';
import type { Group, MissingScope, People, Profile } from '../auth/people.ts';
import { minuteMs } from '../lib/time.ts';
import type { Log } from '../telemetry/log.ts';
import { readSlackError } from './installations.ts';
import { tenantIdOfWorkspace, type Workspace } from './sender.ts';

export interface PeopleOptions {
  /** From ADMIN_USER_IDS: a user id, or `T…/U…` (`E…/U…`) where it counts in one workspace or organisation only. */
  readonly adminIds: readonly string[];
  readonly client: (workspace: Workspace) => Promise<WebClient>;
  readonly now: () => Date;
  readonly log: Log;
}

export type PeopleOf = (workspace: Workspace) => People;

const profileMs = 5 * minuteMs;
const groupMs = 3 * minuteMs;
// After an answer that did not come, the next command must not wait for another one.
const blindMs = 30_000;
const mostProfiles = 10_000;
const mostGroups = 2_000;
// A skeleton or an answer waits for this; the client itself would wait 5 s and try again.
const patienceMs = 2_500;

/**
 * Who is an admin and who is in which group, asked of Slack and kept for minutes. `users:read` and `usergroups:read`
 * are optional scopes, and user groups a paid feature: without them only the people that are named by id count.
 */
export function createPeople(options: PeopleOptions): PeopleOf {
  const { adminIds, now, log } = options;
  const profiles = remembered<Profile>(mostProfiles, profileMs, now);
  const members = remembered<readonly string[]>(mostGroups, groupMs, now);
  const lists = remembered<readonly Group[]>(mostGroups, groupMs, now);
  const blinds = new Map<string, MissingScope>();
  const told = new Set<string>();

  const blinded = (tenant: string, lookup: MissingScope['lookup'], error: unknown): void => {
    const reason = readSlackError(error) ?? 'no-answer';
    blinds.set(`${tenant}/${lookup}`, { lookup, reason });
    const once = `${tenant}/${lookup}/${reason}`;
    if (told.has(once)) return;
    if (told.size >= mostGroups) told.clear();
    told.add(once);
    log.warn({ tenant, lookup, reason }, 'Slack does not tell who is admin or member: nobody is by it');
  };

  return (workspace) => {
    const tenant = tenantIdOfWorkspace(workspace);
    // A token of a whole organisation asks for one workspace's groups.
    const team =
      workspace.isEnterpriseInstall && workspace.teamId !== undefined && workspace.teamId !== tenant
        ? { team_id: workspace.teamId }
        : {};
    const scope = `${tenant}/${team.team_id ?? ''}`;
    const configuredAdmins = adminIds.flatMap((entry) => {
      const [place, userId] = entry.includes('/') ? entry.split('/', 2) : [tenant, entry];
      return userId !== undefined && (place === tenant || place === workspace.teamId) ? [userId] : [];
    });
    const ask = async <T>(
      lookup: MissingScope['lookup'],
      call: (client: WebClient) => Promise<T>,
    ): Promise<T> => {
      const client = await options.client(workspace);
      const answer = await inTime(call(client));
      blinds.delete(`${tenant}/${lookup}`);
      return answer;
    };

    return {
      configuredAdmins,
      forget: (userId) => profiles.drop(`${tenant}/${userId}`),
      missingScopes: () =>
        (['admins', 'groups'] as const).flatMap((lookup) => {
          const blind = blinds.get(`${tenant}/${lookup}`);
          return blind ? [blind] : [];
        }),
      profile: (userId) =>
        profiles.get(`${tenant}/${userId}`, false, async () => {
          try {
            const { user } = await ask('admins', (client) => client.users.info({ user: userId }));
            return { value: profileOf(user ?? {}, workspace) };
          } catch (error) {
            // An id that Slack does not know is an answer; anything else is not.
            const reason = readSlackError(error);
            if (reason === 'user_not_found' || reason === 'user_not_visible') return { value: undefined };
            blinded(tenant, 'admins', error);
            return { value: undefined, lifeMs: blindMs };
          }
        }),
      members: async (groupId, { fresh = false } = {}) =>
        (await members.get(`${scope}/${groupId}`, fresh, async () => {
          try {
            const { users = [] } = await ask('groups', (client) =>
              client.usergroups.users.list({ usergroup: groupId, ...team }),
            );
            return { value: users };
          } catch (error) {
            // A group that was deleted or disabled has no members.
            const reason = readSlackError(error);
            if (reason === 'no_such_subteam' || reason === 'subteam_disabled') return { value: [] };
            blinded(tenant, 'groups', error);
            return { value: [], lifeMs: blindMs };
          }
        })) ?? [],
      groups: async () =>
        (await lists.get(scope, false, async () => {
          try {
            const { usergroups = [] } = await ask('groups', (client) => client.usergroups.list(team));
            return {
              value: usergroups.flatMap(({ id, name, handle, date_delete: gone }) =>
                id && !gone ? [{ id, name: name ?? id, handle: handle ?? id }] : [],
              ),
            };
          } catch (error) {
            blinded(tenant, 'groups', error);
            return { value: [], lifeMs: blindMs };
          }
        })) ?? [],
    };
  };
}

type User = NonNullable<Awaited<ReturnType<WebClient['users']['info']>>['user']>;

function profileOf(user: User, workspace: Workspace): Profile {
  // The settings of an organisation-wide installation hold for all its workspaces, so an admin of one is not enough.
  const rank = workspace.isEnterpriseInstall && user.enterprise_user ? user.enterprise_user : user;
  const high = Boolean(rank.is_admin || rank.is_owner || rank.is_primary_owner);
  const deleted = user.deleted === true;
  const elsewhere =
    !workspace.isEnterpriseInstall &&
    user.team_id !== undefined &&
    user.team_id !== workspace.teamId &&
    // Within an organisation people belong to several workspaces; `team_id` names one of them.
    !user.enterprise_user?.teams?.includes(workspace.teamId ?? '');
  const foreign = user.is_stranger === true || elsewhere;
  return {
    admin: high && !deleted && !foreign && !user.is_bot,
    foreign,
    deleted,
    timeZone: user.tz || undefined,
  };
}

async function inTime<T>(call: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error('Slack did not answer in time')), patienceMs);
  });
  try {
    return await Promise.race([call, late]);
  } finally {
    clearTimeout(timer);
  }
}

interface Looked<T> {
  readonly value: T | undefined;
  readonly lifeMs?: number;
}

/** Values by key for a while, the oldest dropped first; those who ask at the same time share one look-up. */
function remembered<T>(most: number, lifeMs: number, now: () => Date) {
  const kept = new Map<string, { readonly value: T | undefined; readonly until: number }>();
  const running = new Map<string, Promise<T | undefined>>();
  return {
    drop(key: string): void {
      kept.delete(key);
      running.delete(key);
    },
    get(key: string, fresh: boolean, look: () => Promise<Looked<T>>): Promise<T | undefined> {
      const found = kept.get(key);
      if (found && !fresh && now().getTime() < found.until) return Promise.resolve(found.value);
      const under = running.get(key);
      // One that began before `fresh` was asked for may have read what holds no more.
      if (under && !fresh) return under;
      const started = look()
        .then((looked) => {
          kept.delete(key);
          if (kept.size >= most) kept.delete(kept.keys().next().value ?? key);
          kept.set(key, { value: looked.value, until: now().getTime() + (looked.lifeMs ?? lifeMs) });
          return looked.value;
        })
        .finally(() => {
          if (running.get(key) === started) running.delete(key);
        });
      running.set(key, started);
      return started;
    },
  };
}
