import { findGroups, type People, type Person, tenantId } from '../identity.ts';
import type { KeyStore } from '../keys/key-store.ts';
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
  /** Reads again instead of from memory: before something changes. */
  readonly fresh?: boolean;
}

/** Decides for one person; looks up only what a question needs. */
export interface Authorizer {
  policy(options?: ReadOptions): Promise<Policy>;
  /** The facts that decide about them, or about another person of the same organisation. */
  actor(options?: ReadOptions & { readonly userId?: string }): Promise<Actor>;
  /** Calls Slack only for rights above `read`. */
  decide(needs: Right, channelId: string | undefined, options?: ReadOptions): Promise<Decision>;
}

export function createAuthorizer(options: {
  readonly person: Person;
  readonly foreign: boolean;
  readonly policies: Policies;
  readonly people: People;
  readonly keyStore: KeyStore;
  /** Whether the person has a key; called once at most. */
  readonly linked: () => Promise<boolean>;
}): Authorizer {
  const { person, foreign, policies, people, keyStore, linked } = options;
  const self: Actor = { userId: person.userId, foreign, linked: false, admin: false, groups: [] };

  const policy = (fresh?: ReadOptions): Promise<Policy> => policies.current(tenantId(person), fresh);
  const isLinked = async (userId: string): Promise<boolean> =>
    userId === person.userId ? linked() : (await keyStore.describe({ ...person, userId })) !== undefined;
  const isAdmin = async (userId: string, fresh: boolean): Promise<boolean> =>
    people.configuredAdmins.includes(userId) || (await people.profile(userId, { fresh }))?.admin === true;

  return {
    policy,
    async actor({ userId = person.userId, fresh = false } = {}) {
      const own = userId === person.userId;
      if (own && foreign) return self;
      const { operatorGroups, approverGroups } = await policy({ fresh });
      const among = [...new Set([...operatorGroups, ...approverGroups])];
      const [hasKey, admin, groups, profile] = await Promise.all([
        isLinked(userId),
        isAdmin(userId, false),
        findGroups(people, userId, among, { fresh }),
        own ? undefined : people.profile(userId),
      ]);
      return { userId, foreign: profile?.foreign ?? false, linked: hasKey, admin, groups };
    },
    async decide(needs, channelId, { fresh = false } = {}) {
      const { userId } = person;
      if (foreign || needs === 'none') return decide(initialPolicy, self, channelId, needs);
      if (needs === 'admin')
        return decide(initialPolicy, { ...self, admin: await isAdmin(userId, fresh) }, channelId, needs);
      const [rules, hasKey] = await Promise.all([policy({ fresh: fresh || needs !== 'read' }), linked()]);
      const named = needs === 'read' || rules.operators.includes(userId);
      const groups = named ? [] : await findGroups(people, userId, rules.operatorGroups, { fresh });
      return decide(rules, { ...self, linked: hasKey, groups }, channelId, needs);
    },
  };
}

/**
 * Decides whether a person may export into a channel or, without one, into their direct messages: their right there, and
 * whether exports may go there at all. Read afresh, since personal data leaves.
 */
export async function decideExport(authorizer: Authorizer, channel: string | undefined): Promise<Decision> {
  const right = await authorizer.decide('export', channel, { fresh: true });
  if (!right.allowed) return right;
  // Where the settings name channels, direct messages are none of them.
  const there = decideDestination(await authorizer.policy(), 'export', channel ?? 'direct messages');
  return there.allowed ? { ...right, trace: [...right.trace, ...there.trace] } : there;
}

// A group may hold the whole company: upper bound of people who are looked up, in the order of the settings.
const mostCandidates = 200;

/** The people whom the policy names as approvers, themselves or by a group. Deactivated ones are left out. */
export async function findApproverCandidates(people: People, policy: Policy): Promise<Actor[]> {
  const members = await Promise.all(policy.approverGroups.map((id) => people.members(id, { fresh: true })));
  const ids = [...new Set([...policy.approvers, ...members.flat()])].slice(0, mostCandidates);
  const found = await Promise.all(
    ids.map(async (userId): Promise<Actor[]> => {
      const { deleted = false, foreign = false, admin = false } = (await people.profile(userId)) ?? {};
      const groups = policy.approverGroups.filter((_, index) => members[index]?.includes(userId));
      // Approving needs no key.
      return deleted ? [] : [{ userId, foreign, admin, linked: false, groups }];
    }),
  );
  return found.flat();
}

/** The approvals that a request needs, and who could give them. Not `reachable`: it could only expire. */
export function computeQuorum(
  policy: Policy,
  needs: Right,
  candidates: readonly Actor[],
  requesterId: string,
) {
  const needed = countRequiredApprovals(policy, needs);
  const able = findAble(policy, candidates, [requesterId]);
  return { needed, able, reachable: able.length >= needed };
}

/** User ids of the candidates who may approve now, without those in `except`. */
export function findAble(policy: Policy, candidates: readonly Actor[], except: readonly string[]): string[] {
  const able = candidates.filter((actor) => decideApproval(policy, actor).allowed);
  return [...new Set(able.map(({ userId }) => userId))].filter((id) => !except.includes(id));
}
