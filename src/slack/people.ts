import { setTimeout } from 'node:timers/promises';
import type { WebClient } from '@slack/web-api';
import type { Group, MissingScope, People, Profile } from '../auth/identity.ts';
import { type Cache, createCache } from '../lib/cache.ts';
import { minuteMs } from '../lib/time.ts';
import type { Log } from '../telemetry/log.ts';
import { readSlackError } from './installations.ts';
import { tenantIdOfWorkspace, type Workspace } from './sender.ts';

interface PeopleOptions {
  /** From ADMIN_USER_IDS: a user id, or `T…/U…` (`E…/U…`) to limit it to one workspace or organisation. */
  readonly adminIds: readonly string[];
  readonly client: (workspace: Workspace) => Promise<WebClient>;
  readonly now: () => Date;
  readonly log: Log;
}

export type PeopleOf = (workspace: Workspace) => People;

const profileMs = 5 * minuteMs;
const groupMs = 3 * minuteMs;
// How long a failed look-up is not repeated, so that the next command does not wait for Slack again.
const failureMs = 30_000;
const maxProfiles = 10_000;
const maxGroups = 2_000;
// A skeleton or an answer waits for this; the client itself would wait 5 s and try again.
const timeoutMs = 2_500;

interface Lookup<T> {
  readonly value: T;
  readonly failed?: true;
}

/**
 * Reads from Slack who is an admin and who is in which group, cached for minutes. `users:read` and `usergroups:read` are
 * optional scopes, and user groups a paid feature: without them only people named by id have roles.
 */
export function createPeople(options: PeopleOptions): PeopleOf {
  const { adminIds, now, log } = options;
  const lookups = <T>(maxEntries: number, ttlMs: number): Cache<Lookup<T>> =>
    createCache({ now, maxEntries, ttlMs: ({ failed }) => (failed ? failureMs : ttlMs) });
  const profiles = lookups<Profile | undefined>(maxProfiles, profileMs);
  const members = lookups<readonly string[]>(maxGroups, groupMs);
  const groupLists = lookups<readonly Group[]>(maxGroups, groupMs);
  const missing = new Map<string, MissingScope>();
  const logged = createCache<true>({ now, maxEntries: maxGroups });

  const reportMissing = (tenant: string, lookup: MissingScope['lookup'], reason = 'no-answer'): void => {
    missing.set(`${tenant}/${lookup}`, { lookup, reason });
    const key = `${tenant}/${lookup}/${reason}`;
    if (logged.get(key)) return;
    logged.set(key, true);
    log.warn({ tenant, lookup, reason }, 'cannot read Slack roles; treating everyone as non-admin');
  };

  return (workspace) => {
    const tenant = tenantIdOfWorkspace(workspace);
    // The token of an organisation reads the groups of one workspace.
    const team =
      workspace.isEnterpriseInstall && workspace.teamId !== undefined && workspace.teamId !== tenant
        ? { team_id: workspace.teamId }
        : {};
    const scope = `${tenant}/${team.team_id ?? ''}`;
    const configuredAdmins = adminIds.flatMap((entry) => {
      const [place, userId] = entry.includes('/') ? entry.split('/', 2) : [tenant, entry];
      return userId !== undefined && (place === tenant || place === workspace.teamId) ? [userId] : [];
    });
    const readGroups = async ({ usergroups }: WebClient): Promise<readonly Group[]> =>
      ((await usergroups.list(team)).usergroups ?? []).flatMap(
        ({ id, name, handle, date_delete: deletedAt }) =>
          id && !deletedAt ? [{ id, name: name ?? id, handle: handle ?? id }] : [],
      );
    /** Slack's answer; `otherwise` if it fails. The codes in `absent` are an answer too: there is no such thing. */
    const ask = async <T>(
      lookup: MissingScope['lookup'],
      call: (client: WebClient) => Promise<T>,
      otherwise: T,
      absent: readonly string[] = [],
    ): Promise<Lookup<T>> => {
      try {
        const late = setTimeout(timeoutMs, undefined, { ref: false }).then(() => {
          throw new Error('Slack did not answer in time');
        });
        const value = await Promise.race([options.client(workspace).then(call), late]);
        missing.delete(`${tenant}/${lookup}`);
        return { value };
      } catch (error) {
        const reason = readSlackError(error);
        if (reason !== undefined && absent.includes(reason)) return { value: otherwise };
        reportMissing(tenant, lookup, reason);
        return { value: otherwise, failed: true };
      }
    };

    return {
      configuredAdmins,
      forget: (userId) => profiles.drop(`${tenant}/${userId}`),
      missingScopes: () =>
        (['admins', 'groups'] as const).flatMap((lookup) => missing.get(`${tenant}/${lookup}`) ?? []),
      async profile(userId, fresh) {
        const read = async ({ users }: WebClient): Promise<Profile | undefined> =>
          toProfile((await users.info({ user: userId })).user ?? {}, workspace);
        const load = () => ask('admins', read, undefined, ['user_not_found', 'user_not_visible']);
        return (await profiles.load(`${tenant}/${userId}`, load, fresh)).value;
      },
      async members(groupId, fresh) {
        const read = async ({ usergroups }: WebClient): Promise<readonly string[]> =>
          (await usergroups.users.list({ usergroup: groupId, ...team })).users ?? [];
        const load = () => ask('groups', read, [], ['no_such_subteam', 'subteam_disabled']);
        return (await members.load(`${scope}/${groupId}`, load, fresh)).value;
      },
      async groups() {
        return (await groupLists.load(scope, () => ask('groups', readGroups, []))).value;
      },
    };
  };
}

type User = NonNullable<Awaited<ReturnType<WebClient['users']['info']>>['user']>;

function toProfile(user: User, workspace: Workspace): Profile {
  // Settings of an organisation-wide installation hold for all its workspaces: an admin of one workspace is not enough.
  const roles = workspace.isEnterpriseInstall && user.enterprise_user ? user.enterprise_user : user;
  const isAdmin = Boolean(roles.is_admin || roles.is_owner || roles.is_primary_owner);
  const deleted = user.deleted === true;
  const isElsewhere =
    !workspace.isEnterpriseInstall &&
    user.team_id !== undefined &&
    user.team_id !== workspace.teamId &&
    // Within an organisation people belong to several workspaces; `team_id` names one of them.
    !user.enterprise_user?.teams?.includes(workspace.teamId ?? '');
  const foreign = user.is_stranger === true || isElsewhere;
  return {
    admin: isAdmin && !deleted && !foreign && !user.is_bot,
    foreign,
    deleted,
    timeZone: user.tz || undefined,
  };
}
