import { UserError } from '../../errors.ts';
import { findGroups, type People, type Person, tenantId } from '../identity.ts';
import type { KeyStore, LinkedKey } from '../keys/key-store.ts';
import type { Policies } from './policies.ts';
import {
  type Actor,
  countRequiredApprovals,
  type Decision,
  decide,
  decideApproval,
  decideDestination,
  initialPolicy,
  type Policy,
  type Right,
} from './policy.ts';

interface ReadOptions {
  readonly fresh?: boolean;
}

export type Authorizer = ReturnType<typeof createAuthorizer>;

/** Decides for one person, in one delivery or job; looks up only what a question needs, and that once. */
export function createAuthorizer(options: {
  readonly person: Person;
  /** Undefined = nothing says so, and their profile decides. */
  readonly foreign: boolean | undefined;
  /** While Slack gives no profile, a connected key says that they belong here. */
  readonly isKnownByKey?: true;
  /** Whether other organizations read the channel: a person without a profile may belong to one of them. */
  readonly isReadByOthers?: () => Promise<boolean>;
  readonly policies: Policies;
  readonly people: People;
  readonly keyStore: KeyStore;
  readonly linked?: (() => Promise<LinkedKey | undefined>) | undefined;
}) {
  const { person, foreign, policies, people, keyStore } = options;
  const { userId: own } = person;
  const self: Actor = { userId: own, foreign: foreign === true, linked: false, admin: false, groups: [] };

  const policy = readOnce(() => policies.current(tenantId(person)));
  const linked = readOnce(() => keyStore.describe(person), options.linked);
  const isLinked = async (userId: string, fresh: boolean): Promise<boolean> => {
    const key = userId === own ? linked({ fresh }) : keyStore.describe({ ...person, userId });
    return (await key) !== undefined;
  };
  const readProfile = async (userId: string, fresh: boolean) => {
    const isHere = userId === own && foreign === false;
    const isConfigured = people.configuredAdmins.includes(userId);
    const profile = isHere && isConfigured ? undefined : await people.profile(userId, { fresh });
    const mayBeForeign = !isHere && userId === own && !profile && (await options.isReadByOthers?.()) === true;
    const unread = [
      profile?.unread && !isConfigured ? ['admin'] : [],
      (profile?.unread && !isHere) || mayBeForeign ? ['person'] : [],
    ].flat();
    return {
      admin: isConfigured || profile?.admin === true,
      foreign: !isHere && profile?.foreign === true,
      deleted: profile?.deleted === true,
      unread,
    };
  };

  return {
    policy,
    linked,
    async actor({ userId = own, fresh = false }: ReadOptions & { userId?: string } = {}): Promise<Actor> {
      if (userId === own && foreign) return self;
      const { operatorGroups, approverGroups } = await policy({ fresh });
      const among = [...new Set([...operatorGroups, ...approverGroups])];
      const [hasKey, profile, { groups, unread }] = await Promise.all([
        isLinked(userId, fresh),
        readProfile(userId, fresh),
        findGroups(people, userId, among, { fresh }),
      ]);
      return { ...profile, userId, linked: hasKey, groups, unread: [...profile.unread, ...unread] };
    },
    /** Asks Slack for rights above `read` only, if it was asked who they are. */
    async decide(
      needs: Right,
      channelId: string | undefined,
      { fresh = false }: ReadOptions = {},
    ): Promise<Decision> {
      const isRead = foreign === undefined || (!foreign && needs === 'admin');
      const seen: Actor = isRead ? { ...self, ...(await readProfile(own, fresh)) } : self;
      const { unread: missed = [] } = seen;
      const isKnown = options.isKnownByKey && !fresh && isUnread(seen) && (await isLinked(own, fresh));
      const actor = isKnown ? { ...seen, unread: missed.filter((what) => what !== 'person') } : seen;
      if (needs === 'none' || needs === 'admin') return decide(initialPolicy, actor, channelId, needs);
      const [rules, hasKey] = await Promise.all([policy({ fresh }), isLinked(own, fresh)]);
      const named = needs === 'read' || rules.operators.includes(own);
      const { groups, unread } = await findGroups(people, own, named ? [] : rules.operatorGroups, { fresh });
      const read = { linked: hasKey, groups, unread: [...(actor.unread ?? []), ...unread] };
      return decide(rules, { ...actor, ...read }, channelId, needs);
    },
  };
}

function readOnce<T>(read: () => Promise<T>, known = read) {
  let last: Promise<T> | undefined;
  return ({ fresh = false }: ReadOptions = {}): Promise<T> => (last = fresh ? read() : (last ?? known()));
}

const elsewhereHint =
  'Try again in a minute, or in a channel that no other organization reads. Slack’s reason is in the bot’s log.';

/** Nothing is moved or ended by it: people try again, and jobs are retried. */
export class RolesUnknown extends UserError {
  constructor(hint = 'Try again in a minute. If it keeps happening, Slack’s reason is in the bot’s log.') {
    super('Slack can’t say right now who is an admin or in a user group, so this can’t be decided.', hint);
  }
}

/** @throws RolesUnknown where Slack has not answered yet. */
export function assertKnown(decision: Decision): Decision {
  if (decision.reason !== 'unknown') return decision;
  const isAboutHome = decision.trace.some(({ rule, ok }) => rule === 'organisation' && !ok);
  throw new RolesUnknown(isAboutHome ? elsewhereHint : undefined);
}

/** Whether a person may export to, or show an answer in, a place. Read afresh: it cannot be taken back. */
export async function decidePosting(
  authorizer: Authorizer,
  subject: 'export' | 'answer',
  channel: string | undefined,
): Promise<Decision> {
  const needs = subject === 'export' ? 'export' : 'read';
  const right = assertKnown(await authorizer.decide(needs, channel, { fresh: true }));
  if (!right.allowed) return right;
  // Where the settings name channels, direct messages do not count.
  const there = decideDestination(await authorizer.policy(), subject, channel ?? 'direct messages');
  return there.allowed ? { ...right, trace: [...right.trace, ...there.trace] } : there;
}

const profilesAtOnce = 40;

async function* readProfiles(people: People, ids: readonly string[], options?: ReadOptions) {
  for (let from = 0; from < ids.length; from += profilesAtOnce) {
    const some = ids.slice(from, from + profilesAtOnce);
    yield Promise.all(some.map(async (id) => ({ id, profile: await people.profile(id, options) })));
  }
}

// As soon as so many may approve, nobody else is looked up.
const enoughApprovers = 20;

/** The people whom the policy names as approvers, without bots and deactivated ones. @throws RolesUnknown */
export async function findApproverCandidates(people: People, policy: Policy): Promise<Actor[]> {
  const { approvers, approverGroups } = policy;
  const members = await Promise.all(approverGroups.map((id) => people.members(id, { fresh: true })));
  if (members.includes(undefined)) throw new RolesUnknown();
  const ids = [...new Set([...approvers, ...members.flatMap((found) => found ?? [])])];
  const found: Actor[] = [];
  for await (const read of readProfiles(people, ids)) {
    for (const { id: userId, profile } of read) {
      if (profile?.deleted || profile?.bot) continue;
      const { foreign = false, admin = false, unread = false } = profile ?? {};
      const groups = approverGroups.filter((_, index) => members[index]?.includes(userId));
      const actor = { userId, foreign, admin, linked: false, groups };
      found.push(unread ? { ...actor, unread: ['person'] } : actor);
    }
    if (found.some(isUnread) || findAble(policy, found, []).length >= enoughApprovers) break;
  }
  return found;
}

const mostProfiles = 400;

/** Other admins among those configured and those whom the bot has met, since Slack lists none. @throws RolesUnknown */
export async function findOtherAdmins(
  people: People,
  known: readonly string[],
  author: string,
  { fresh = true }: ReadOptions = {},
): Promise<string[]> {
  const candidates = [...new Set([...people.configuredAdmins, ...known])].filter((id) => id !== author);
  // Slack gives a hundred profiles a minute. With more people a second attempt starts from those of the last minutes.
  const options = { fresh: fresh && candidates.length <= profilesAtOnce };
  for await (const found of readProfiles(people, candidates.slice(0, mostProfiles), options)) {
    const givesProfiles = !people.missingScopes().some(({ lookup }) => lookup === 'admins');
    const admins = found.filter(({ id, profile }) => {
      if (!people.configuredAdmins.includes(id)) return profile?.admin === true;
      // A configured id without a profile is nobody's, unless Slack gives none at all.
      return profile ? !profile.unread && !profile.deleted && !profile.foreign : !givesProfiles;
    });
    if (admins.length > 0) return admins.map(({ id }) => id);
    if (found.some(({ profile }) => profile?.unread)) throw new RolesUnknown();
  }
  if (candidates.length > mostProfiles)
    throw new RolesUnknown(
      `No other admin is among the ${mostProfiles} people who were looked up: the team that runs this bot can name one in ADMIN_USER_IDS.`,
    );
  return [];
}

const changedByAdmins: readonly Decision['reason'][] = [
  'not-admin',
  'not-operator',
  'not-approver',
  'channel-cap',
  'other-channel',
];

/** Admins whom the bot knows, where they can change this refusal; none where Slack does not answer. */
export async function findAdmins(
  { reason }: Decision,
  { people, policies, person }: { people: People; policies: Policies; person: Person },
): Promise<string[]> {
  if (!changedByAdmins.includes(reason)) return [];
  const known = [person.userId, ...(await policies.knownPeople(tenantId(person)))];
  try {
    return await findOtherAdmins(people, known, '', { fresh: false });
  } catch (error) {
    if (error instanceof RolesUnknown) return [];
    throw error;
  }
}

function isUnread({ unread = [] }: Actor): boolean {
  return unread.length > 0;
}

/** The approvals that a request needs, and who could give them. @throws RolesUnknown */
export function computeQuorum(policy: Policy, needs: Right, candidates: readonly Actor[], requester: string) {
  const needed = countRequiredApprovals(policy, needs);
  const able = findAble(policy, candidates, [requester]);
  const reachable = able.length >= needed;
  if (!reachable && candidates.some(isUnread)) throw new RolesUnknown();
  return { needed, able, reachable };
}

function findAble(policy: Policy, candidates: readonly Actor[], except: readonly string[]): string[] {
  const able = candidates.filter((actor) => decideApproval(policy, actor).allowed);
  return [...new Set(able.map(({ userId }) => userId))].filter((id) => !except.includes(id));
}
