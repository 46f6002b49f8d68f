import { setTimeout } from 'node:timers/promises';
import { WebAPIRateLimitedError, type WebClient } from '@slack/web-api';
import {
  type Group,
  type Installation,
  type MissingScope,
  type People,
  type Profile,
  tenantId,
} from '../auth/identity.ts';
import { type Cache, createCache } from '../lib/cache.ts';
import { minuteMs } from '../lib/time.ts';
import { readTimeZone } from '../lib/time-zone.ts';
import { readCode } from '../outbox/slack-port.ts';
import type { Log } from '../telemetry/log.ts';
import { readSlackError } from './installations.ts';
import { createRateLimit } from './web/limits.ts';

interface PeopleOptions {
  /** User ids; `T…/U…` or `E…/U…` limits one to a workspace or organization. */
  readonly adminIds: readonly string[];
  readonly client: (place: Installation) => Promise<WebClient>;
  readonly now: () => Date;
  readonly log: Log;
}

/** In an organization, the groups are those of its workspace `teamId`. */
export type PeopleOf = (place: Installation) => People;

const profileMs = 5 * minuteMs;
const groupMs = 3 * minuteMs;
const refusalMs = 30_000;
const failureMs = 5_000;
const maxProfiles = 10_000;
const maxGroups = 2_000;
// The client itself would wait 5 s and try again.
const timeoutMs = 2_500;
/** Calls a minute that Slack answers of each method: https://docs.slack.dev/apis/web-api/rate-limits */
const tiers = { 'users.info': 100, 'usergroups.users.list': 20, 'usergroups.list': 20 } as const;

interface Lookup<T> {
  readonly value: T;
  readonly at: number;
  /** In ms; `hard`: not even a fresh read asks, since Slack wants the pause. */
  readonly pause?: { readonly ms: number; readonly hard: boolean };
}

/** Both scopes are optional, and groups a paid feature: without them only people named by id have roles. */
export function createPeople(options: PeopleOptions): PeopleOf {
  const { adminIds, log } = options;
  const now = (): number => options.now().getTime();
  const lookups = <T>(maxEntries: number, ttlMs: number): Cache<Lookup<T>> =>
    createCache({ now: options.now, maxEntries, ttlMs: ({ pause }) => pause?.ms ?? ttlMs });
  const profiles = lookups<Profile | undefined>(maxProfiles, profileMs);
  const members = lookups<readonly string[] | undefined>(maxGroups, groupMs);
  const groupLists = lookups<readonly Group[]>(maxGroups, groupMs);
  const missing = new Map<string, MissingScope>();
  const logged = createCache<true>({ now: options.now, maxEntries: maxGroups });
  // A minute's fresh reads take half of what Slack answers; then one thing is read at most once a minute: somebody who
  // presses ten buttons must not keep others from deciding.
  const budgets = new Map(
    Object.entries(tiers).map(([method, tier]) => {
      const limit = { most: tier / 2, perMs: minuteMs, maxKeys: maxGroups, now: options.now };
      return [method, createRateLimit(limit)] as const;
    }),
  );

  return (installation) => {
    const tenant = tenantId(installation);
    const configuredAdmins = adminIds.flatMap((entry) => {
      const [place, userId] = entry.includes('/') ? entry.split('/', 2) : [tenant, entry];
      return userId !== undefined && (place === tenant || place === installation.teamId) ? [userId] : [];
    });
    const freshReads = new Map<string, Promise<unknown>>();

    const look = async <T>(
      cache: Cache<Lookup<T>>,
      { method, id = '', fresh }: { method: keyof typeof tiers; id?: string; fresh?: boolean | undefined },
      call: (client: WebClient) => Promise<T>,
      failing: { readonly refused: T; readonly unread: T; readonly absent?: T },
    ): Promise<T> => {
      const budget = budgets.get(method);
      const isStale = ({ at, pause }: Lookup<T>): boolean =>
        fresh === true &&
        (pause ? !pause.hard : budget?.find(tenant) === undefined || now() - at >= minuteMs);
      const load = async (): Promise<Lookup<T>> => {
        const at = now();
        budget?.take(tenant);
        const lookup = method === 'users.info' ? 'admins' : 'groups';
        try {
          const late = setTimeout(timeoutMs, undefined, { ref: false }).then(() => {
            throw new Error('Slack did not answer in time');
          });
          const value = await Promise.race([options.client(installation).then(call), late]);
          missing.delete(`${tenant}/${lookup}`);
          return { value, at };
        } catch (error) {
          const askedMs = error instanceof WebAPIRateLimitedError ? error.retryAfter * 1000 : 0;
          const reason = askedMs > 0 ? 'ratelimited' : (readSlackError(error) ?? 'no-answer');
          const meaning = readCode(reason);
          if (meaning === 'absent' || meaning === 'place')
            return { value: failing.absent ?? failing.refused, at };
          // Until an admin changes something; every other failure passes.
          const lasting = meaning === 'lacking';
          reportMissing({ lookup, reason, lasting });
          const pause = { ms: askedMs || (lasting ? refusalMs : failureMs), hard: askedMs > 0 };
          return { value: lasting ? failing.refused : failing.unread, at, pause };
        }
      };
      const read = async (): Promise<T> => (await cache.load(`${tenant}/${id}`, load, { isStale })).value;
      if (!fresh) return read();
      const once = (freshReads.get(method + id) as Promise<T> | undefined) ?? read();
      freshReads.set(method + id, once);
      return once;
    };
    const reportMissing = (found: MissingScope): void => {
      const { lookup, reason, lasting } = found;
      missing.set(`${tenant}/${lookup}`, found);
      const key = `${tenant}/${lookup}/${reason}`;
      if (logged.get(key)) return;
      logged.set(key, true);
      const meanwhile = lasting ? 'treating everyone as non-admin' : 'deciding nothing that needs them';
      log.warn({ tenant, lookup, reason }, `cannot read Slack roles; ${meanwhile}`);
    };

    return {
      configuredAdmins,
      forget: (userId) => profiles.drop(`${tenant}/${userId}`),
      missingScopes: () =>
        (['admins', 'groups'] as const).flatMap((lookup) => missing.get(`${tenant}/${lookup}`) ?? []),
      profile(id, { fresh } = {}) {
        const read = async ({ users }: WebClient) =>
          toProfile((await users.info({ user: id })).user ?? {}, installation);
        const failing = { refused: undefined, unread, absent: unknown };
        return look<Profile | undefined>(profiles, { method: 'users.info', id, fresh }, read, failing);
      },
      members(stored, { fresh } = {}) {
        const { usergroup, team } = findGroup(stored, installation);
        const read = async ({ usergroups }: WebClient) =>
          (await usergroups.users.list({ usergroup, ...team })).users ?? [];
        const about = { method: 'usergroups.users.list', id: stored, fresh } as const;
        return look<readonly string[] | undefined>(members, about, read, { refused: [], unread: undefined });
      },
      groups() {
        const { team } = findGroup('', installation);
        const prefix = team.team_id === undefined ? '' : `${team.team_id}/`;
        const read = async ({ usergroups }: WebClient): Promise<readonly Group[]> =>
          ((await usergroups.list(team)).usergroups ?? []).flatMap(
            ({ id, name, handle, date_delete: deletedAt }) =>
              id && !deletedAt ? [{ id: prefix + id, name: name ?? id, handle: handle ?? id }] : [],
          );
        return look(groupLists, { method: 'usergroups.list', id: prefix }, read, { refused: [], unread: [] });
      },
    };
  };
}

const unread: Profile = { admin: false, foreign: false, deleted: false, timeZone: undefined, unread: true };
/** Somebody whom Slack does not know there is no member. */
const unknown: Profile = { admin: false, foreign: true, deleted: false, timeZone: undefined };

/** In an organization a group is stored as `T…/S…`: its token reads the groups of one named workspace. */
function findGroup(stored: string, { enterpriseId, teamId }: Installation) {
  const [id = '', own = teamId] = stored.split('/').toReversed();
  const isNamed = enterpriseId !== undefined && own !== enterpriseId;
  return { usergroup: id, team: isNamed ? { team_id: own } : {} };
}

type User = NonNullable<Awaited<ReturnType<WebClient['users']['info']>>['user']>;

function toProfile(user: User, { enterpriseId, teamId }: Installation): Profile {
  // An admin of one workspace is not enough for settings of a whole organization.
  const roles = (enterpriseId === undefined ? undefined : user.enterprise_user) ?? user;
  const isAdmin = Boolean(roles.is_admin || roles.is_owner || roles.is_primary_owner);
  const deleted = user.deleted === true;
  // People belong to several workspaces; `team_id` names one.
  const teams = [user.team_id, ...(user.enterprise_user?.teams ?? [])];
  const organisation = enterpriseId === undefined ? undefined : user.enterprise_user?.enterprise_id;
  const isElsewhere =
    organisation === undefined
      ? user.team_id !== undefined && !teams.includes(teamId)
      : organisation !== enterpriseId;
  const foreign = user.is_stranger === true || isElsewhere;
  return {
    admin: isAdmin && !deleted && !foreign && !user.is_bot,
    foreign,
    deleted,
    ...(user.is_bot ? { bot: true } : {}),
    timeZone: readTimeZone(user.tz, user.tz_offset),
  };
}
