import {
  type Actor,
  channelCap,
  computeRights,
  countRequiredApprovals,
  decideApproval,
  type Policy,
  policyBody,
  type Right,
  readAssistant,
} from './policy.ts';

type Field = Exclude<keyof Policy, 'version' | 'caps'>;
export type ListField = { [Name in Field]: Policy[Name] extends readonly string[] ? Name : never }[Field];
export type ValueField = Exclude<Field, ListField>;

export type Change =
  | {
      readonly kind: 'list';
      readonly field: ListField;
      readonly added: readonly string[];
      readonly removed: readonly string[];
    }
  /** A string is a channel, but for the assistant's mode. */
  | {
      readonly kind: 'value';
      readonly field: ValueField;
      readonly from: string | number | boolean | undefined;
      readonly to: string | number | boolean | undefined;
    }
  | { readonly kind: 'cap'; readonly channel: string; readonly from: Right; readonly to: Right };

export function diffPolicies(before: Policy, after: Policy): Change[] {
  const { caps: _, ...shape } = policyBody.shape;
  const [lists, values] = [[] as Change[], [] as Change[]];
  for (const field of Object.keys(shape) as Field[]) {
    const [from, to] = [readValue(before, field), readValue(after, field)];
    if (Array.isArray(from) && Array.isArray(to)) {
      const [added, removed] = [without(to, from), without(from, to)];
      const change: Change = { kind: 'list', field: field as ListField, added, removed };
      if (added.length + removed.length > 0) lists.push(change);
    } else if (from !== to) values.push({ kind: 'value', field, from, to } as Change);
  }
  const caps = findCapped(before, after).map((channel) => {
    return {
      kind: 'cap',
      channel,
      from: channelCap(before, channel),
      to: channelCap(after, channel),
    } as const;
  });
  return [...lists, ...values, ...caps.filter(({ from, to }) => from !== to)];
}

function readValue(policy: Policy, field: Field) {
  return field === 'assistant' ? readAssistant(policy) : policy[field];
}

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

export type AffectedPerson = Pick<Actor, 'userId' | 'groups'>;

export type Power = Exclude<Right, 'none' | 'admin'> | 'approve';

/** Rights that people gain and lose wherever nothing is capped. */
export interface Effect {
  readonly who: readonly string[];
  readonly gains: readonly Power[];
  readonly loses: readonly Power[];
}

export function computeEffects(before: Policy, after: Policy, people: readonly AffectedPerson[]): Effect[] {
  const effects = people.map((person) => {
    const [had, has] = [findPowers(before, person), findPowers(after, person)];
    return { who: person.userId, gains: without(has, had), loses: without(had, has) };
  });
  const alike = Map.groupBy(effects, ({ gains, loses }) => `${gains.join()}/${loses.join()}`);
  alike.delete('/');
  return [...alike.values()].map((group) => ({
    who: group.map(({ who }) => who),
    gains: group[0]?.gains ?? [],
    loses: group[0]?.loses ?? [],
  }));
}

/** The rights that a person gains in some place: also through a group, or where a cap goes. */
export function findGains(before: Policy, after: Policy, person: AffectedPerson): Power[] {
  const places = [undefined, ...findCapped(before, after)];
  const gained = places.flatMap((place) =>
    without(findPowers(after, person, place), findPowers(before, person, place)),
  );
  return [...new Set(gained)];
}

/** What a person may do who has a key connected, since settings do not change that. */
function findPowers(policy: Policy, person: AffectedPerson, channel?: string): Power[] {
  const actor: Actor = { ...person, admin: false, foreign: false, linked: true };
  const may = computeRights(policy, actor, channel).may.filter(
    (right) => right !== 'none' && right !== 'admin',
  );
  return decideApproval(policy, actor).allowed ? [...may, 'approve'] : may;
}

function without<T>(all: readonly T[], others: readonly T[]): T[] {
  return all.filter((one) => !others.includes(one));
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
