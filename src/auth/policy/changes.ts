import { type Actor, channelCap, computeRights, decideApproval, type Policy, type Right } from './policy.ts';

export type ListField =
  | 'operators'
  | 'operatorGroups'
  | 'approvers'
  | 'approverGroups'
  | 'exportChannels'
  | 'digestChannels';
export type ChannelField = 'approvalChannel' | 'auditChannel';
export type NumberField = 'destroyApprovals' | 'changeApprovals' | 'expiryMinutes' | 'exportKeepDays';

/** One difference between two policies. */
export type Change =
  | {
      readonly kind: 'list';
      readonly field: ListField;
      readonly added: readonly string[];
      readonly removed: readonly string[];
    }
  | { readonly kind: 'number'; readonly field: NumberField; readonly from: number; readonly to: number }
  | {
      readonly kind: 'channel';
      readonly field: ChannelField;
      readonly from: string | undefined;
      readonly to: string | undefined;
    }
  /** `admin` = no cap. */
  | { readonly kind: 'cap'; readonly channel: string; readonly from: Right; readonly to: Right };

const listFields: readonly ListField[] = [
  'operators',
  'operatorGroups',
  'approvers',
  'approverGroups',
  'exportChannels',
  'digestChannels',
];
const channelFields: readonly ChannelField[] = ['approvalChannel', 'auditChannel'];
const numberFields: readonly NumberField[] = [
  'destroyApprovals',
  'changeApprovals',
  'expiryMinutes',
  'exportKeepDays',
];

/** All differences of two policies but their version. */
export function diffPolicies(before: Policy, after: Policy): Change[] {
  const changes: Change[] = [];
  for (const field of listFields) {
    const added = after[field].filter((id) => !before[field].includes(id));
    const removed = before[field].filter((id) => !after[field].includes(id));
    if (added.length + removed.length > 0) changes.push({ kind: 'list', field, added, removed });
  }
  for (const field of channelFields) {
    const [from, to] = [before[field], after[field]];
    if (from !== to) changes.push({ kind: 'channel', field, from, to });
  }
  for (const field of numberFields) {
    const [from, to] = [before[field], after[field]];
    if (from !== to) changes.push({ kind: 'number', field, from, to });
  }
  for (const channel of cappedIn(before, after)) {
    const [from, to] = [channelCap(before, channel), channelCap(after, channel)];
    if (from !== to) changes.push({ kind: 'cap', channel, from, to });
  }
  return changes;
}

/** A change in words and ids, for the audit. */
export function describeChange(change: Change): string {
  switch (change.kind) {
    case 'list': {
      const parts = [...change.added.map((id) => `+${id}`), ...change.removed.map((id) => `-${id}`)];
      return `${change.field}: ${parts.join(' ')}`;
    }
    case 'number':
      return `${change.field}: ${change.from} -> ${change.to}`;
    case 'channel':
      return `${change.field}: ${change.from ?? 'none'} -> ${change.to ?? 'none'}`;
    case 'cap':
      return `cap of ${change.channel}: ${capInWords(change.from)} -> ${capInWords(change.to)}`;
  }
}

function capInWords(cap: Right): string {
  return cap === 'admin' ? 'uncapped' : cap;
}

/** A person whose rights may change: the facts that decide, before and after. */
export interface AffectedPerson {
  readonly userId: string;
  readonly admin: boolean;
  readonly groups: readonly string[];
}

export type Power = Exclude<Right, 'none' | 'admin'> | 'approve';

/** Rights that people gain and lose in a place. */
export interface Effect {
  /** User ids; undefined = everyone else. */
  readonly who: readonly string[] | undefined;
  /** Undefined = everywhere that is not capped. */
  readonly channel: string | undefined;
  readonly gains: readonly Power[];
  readonly loses: readonly Power[];
}

/**
 * The decisions that a change of settings alters: runs `decide` before and after, for every named person, everyone else,
 * every class and every capped channel. Assumes that each has a key connected, since settings do not change that.
 */
export function computeEffects(before: Policy, after: Policy, people: readonly AffectedPerson[]): Effect[] {
  const effects: Effect[] = [];
  for (const channel of [undefined, ...cappedIn(before, after)]) {
    const others = difference(before, after, { userId: '', admin: false, groups: [] }, channel);
    const byEffect = new Map<string, { who: string[]; effect: Gained }>();
    for (const person of people) {
      const effect = difference(before, after, person, channel);
      if (same(effect, others)) continue;
      const key = JSON.stringify(effect);
      const alike = byEffect.get(key);
      if (alike) alike.who.push(person.userId);
      else byEffect.set(key, { who: [person.userId], effect });
    }
    if (others.gains.length + others.loses.length > 0) effects.push({ who: undefined, channel, ...others });
    for (const { who, effect } of byEffect.values()) {
      // In a capped channel list only what differs from everywhere else.
      const everywhere = channel === undefined ? undefined : effectAnywhere(effects, who);
      if (everywhere && same(effect, everywhere)) continue;
      if (channel === undefined && effect.gains.length + effect.loses.length === 0) continue;
      effects.push({ who, channel, ...effect });
    }
  }
  return effects;
}

interface Gained {
  readonly gains: readonly Power[];
  readonly loses: readonly Power[];
}

function difference(
  before: Policy,
  after: Policy,
  person: AffectedPerson,
  channel: string | undefined,
): Gained {
  const [had, has] = [powers(before, person, channel), powers(after, person, channel)];
  return {
    gains: has.filter((power) => !had.includes(power)),
    loses: had.filter((power) => !has.includes(power)),
  };
}

function powers(policy: Policy, person: AffectedPerson, channel: string | undefined): Power[] {
  const actor: Actor = { ...person, foreign: false, linked: true };
  const may = computeRights(policy, actor, channel).may.filter(
    (right) => right !== 'none' && right !== 'admin',
  );
  // Approving is not done in a channel, so no cap applies.
  return channel === undefined && decideApproval(policy, actor).allowed ? [...may, 'approve'] : may;
}

function effectAnywhere(effects: readonly Effect[], who: readonly string[]): Gained | undefined {
  const found = effects.find(
    (effect) => effect.channel === undefined && who.every((id) => effect.who?.includes(id)),
  );
  return found ? { gains: cdnOnly(found.gains), loses: cdnOnly(found.loses) } : { gains: [], loses: [] };
}

/** Approving is listed once, for everywhere. */
function cdnOnly(powers: readonly Power[]): Power[] {
  return powers.filter((power) => power !== 'approve');
}

function same(a: Gained, b: Gained): boolean {
  return a.gains.join() === b.gains.join() && a.loses.join() === b.loses.join();
}

function cappedIn(before: Policy, after: Policy): string[] {
  return [...new Set([...Object.keys(before.caps), ...Object.keys(after.caps)])].sort();
}

export interface Quorum {
  readonly class: 'destroy' | 'change';
  readonly needed: number;
  readonly approvers: number;
}

/** Classes that need more approvals than there are approvers: such a request can only expire. */
export function findUnreachableQuorums(policy: Policy, approvers: number): Quorum[] {
  return (['destroy', 'change'] as const).flatMap((kind) => {
    const needed = kind === 'destroy' ? policy.destroyApprovals : policy.changeApprovals;
    return needed > approvers ? [{ class: kind, needed, approvers }] : [];
  });
}
