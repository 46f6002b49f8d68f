import {
  type Actor,
  channelCap,
  computeRights,
  countRequiredApprovals,
  decideApproval,
  type Policy,
  type Right,
} from './policy.ts';

const listFields = [
  'operators',
  'operatorGroups',
  'approvers',
  'approverGroups',
  'exportChannels',
  'postChannels',
] as const;
const valueFields = [
  'approvalChannel',
  'destroyApprovals',
  'changeApprovals',
  'expiryMinutes',
  'exportKeepDays',
  'secondAdmin',
] as const;
export type ListField = (typeof listFields)[number];
export type ValueField = (typeof valueFields)[number];

/** One difference between two policies. */
export type Change =
  | {
      readonly kind: 'list';
      readonly field: ListField;
      readonly added: readonly string[];
      readonly removed: readonly string[];
    }
  /** Channels are strings. */
  | {
      readonly kind: 'value';
      readonly field: ValueField;
      readonly from: string | number | boolean | undefined;
      readonly to: string | number | boolean | undefined;
    }
  /** `admin` = no cap. */
  | { readonly kind: 'cap'; readonly channel: string; readonly from: Right; readonly to: Right };

/** All differences of two policies but their version. */
export function diffPolicies(before: Policy, after: Policy): Change[] {
  const lists = listFields.map((field): Change => {
    const added = after[field].filter((id) => !before[field].includes(id));
    const removed = before[field].filter((id) => !after[field].includes(id));
    return { kind: 'list', field, added, removed };
  });
  const values = valueFields.map(
    (field): Change => ({ kind: 'value', field, from: before[field], to: after[field] }),
  );
  const caps = findCapped(before, after).map((channel): Change => {
    return { kind: 'cap', channel, from: channelCap(before, channel), to: channelCap(after, channel) };
  });
  return [...lists, ...values, ...caps].filter((change) =>
    change.kind === 'list' ? change.added.length + change.removed.length > 0 : change.from !== change.to,
  );
}

/** A change in words and ids, for the audit. */
export function describeChange(change: Change): string {
  switch (change.kind) {
    case 'list': {
      const parts = [...change.added.map((id) => `+${id}`), ...change.removed.map((id) => `-${id}`)];
      return `${change.field}: ${parts.join(' ')}`;
    }
    case 'value':
      return `${change.field}: ${change.from ?? 'none'} -> ${change.to ?? 'none'}`;
    case 'cap': {
      const [from, to] = [change.from, change.to].map((cap) => (cap === 'admin' ? 'uncapped' : cap));
      return `cap of ${change.channel}: ${from} -> ${to}`;
    }
  }
}

/** A person whose rights may change: the facts that decide, before and after. */
export type AffectedPerson = Pick<Actor, 'userId' | 'groups'>;

export type Power = Exclude<Right, 'none' | 'admin'> | 'approve';

type Difference = { readonly gains: readonly Power[]; readonly loses: readonly Power[] };

/** Rights that people gain and lose in a place. */
export interface Effect extends Difference {
  /** User ids; undefined = everyone else. */
  readonly who: readonly string[] | undefined;
  /** Undefined = everywhere that is not capped. */
  readonly channel: string | undefined;
}

/**
 * The decisions that a change of settings alters: runs `decide` before and after, for every named person, everyone else,
 * every class and every capped channel. Assumes that each has a key connected, since settings do not change that.
 */
export function computeEffects(before: Policy, after: Policy, people: readonly AffectedPerson[]): Effect[] {
  const compare = (person: AffectedPerson, channel: string | undefined): Difference => {
    const [had, has] = [findPowers(before, person, channel), findPowers(after, person, channel)];
    return {
      gains: has.filter((power) => !had.includes(power)),
      loses: had.filter((power) => !has.includes(power)),
    };
  };
  return [undefined, ...findCapped(before, after)].flatMap((channel): Effect[] => {
    const others = compare({ userId: '', groups: [] }, channel);
    const differing = people
      .map((person) => ({ person, effect: compare(person, channel) }))
      // In a capped channel list only what differs from everywhere else.
      .filter(({ person, effect }) => {
        const known = channel === undefined ? nothing : withoutApproving(compare(person, undefined));
        return !isSame(effect, others) && !isSame(effect, known);
      });
    const alike = Map.groupBy(differing, ({ effect }) => JSON.stringify(effect));
    return [
      ...(isSame(others, nothing) ? [] : [{ who: undefined, channel, ...others }]),
      ...[...alike.values()].map((group) => ({
        who: group.map(({ person }) => person.userId),
        channel,
        ...(group[0]?.effect ?? nothing),
      })),
    ];
  });
}

function findPowers(policy: Policy, person: AffectedPerson, channel: string | undefined): Power[] {
  const actor: Actor = { ...person, admin: false, foreign: false, linked: true };
  const may = computeRights(policy, actor, channel).may.filter(
    (right) => right !== 'none' && right !== 'admin',
  );
  // Approving is not done in a channel, so no cap applies, and it is listed once.
  return channel === undefined && decideApproval(policy, actor).allowed ? [...may, 'approve'] : may;
}

const nothing: Difference = { gains: [], loses: [] };

function withoutApproving({ gains, loses }: Difference): Difference {
  return {
    gains: gains.filter((power) => power !== 'approve'),
    loses: loses.filter((power) => power !== 'approve'),
  };
}

function isSame(one: Difference, other: Difference): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

function findCapped(before: Policy, after: Policy): string[] {
  return Object.keys({ ...before.caps, ...after.caps }).toSorted();
}

export type Quorum = ReturnType<typeof findUnreachableQuorums>[number];

/** Classes that need more approvals than there are approvers: such a request can only expire. */
export function findUnreachableQuorums(policy: Policy, approvers: number) {
  return (['destroy', 'change'] as const)
    .map((right) => ({ class: right, needed: countRequiredApprovals(policy, right), approvers }))
    .filter(({ needed }) => needed > approvers);
}
