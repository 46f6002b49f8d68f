import { z } from 'zod';
import { mentionGroup } from '../identity.ts';

/** The class of an action, from harmless to far-reaching. `admin` stands apart: it changes the bot's own settings. */
export const rights = ['none', 'read', 'export', 'change', 'destroy', 'admin'] as const;
export type Right = (typeof rights)[number];

export const assistantModes = ['off', 'reading', 'proposing'] as const;

const ids = z.array(z.string()).readonly();
const count = z.number().int().nonnegative();

/** The settings as they are stored. Ids only, never names: names can be taken over. */
export const policyBody = z.object({
  operators: ids,
  operatorGroups: ids,
  approvers: ids,
  approverGroups: ids,
  approvalChannel: z.string().optional(),
  destroyApprovals: count,
  changeApprovals: count,
  expiryMinutes: count.positive(),
  caps: z.record(z.string(), z.enum(rights)).readonly(),
  /** Channels that exports may go to, and those that digests and shared answers may be posted to; empty = any. */
  exportChannels: ids,
  postChannels: ids,
  exportKeepDays: count,
  secondAdmin: z.boolean().default(true),
  assistant: z.enum(assistantModes).optional(),
});

export type Policy = Readonly<z.output<typeof policyBody>> & { readonly version: number };

export const initialPolicy: Policy = {
  version: 0,
  operators: [],
  operatorGroups: [],
  approvers: [],
  approverGroups: [],
  destroyApprovals: 1,
  changeApprovals: 0,
  expiryMinutes: 30,
  caps: {},
  exportChannels: [],
  postChannels: [],
  secondAdmin: true,
  exportKeepDays: 0,
};

export function readAssistant({ assistant = 'off' }: Policy): (typeof assistantModes)[number] {
  return assistant;
}

export interface Actor {
  readonly userId: string;
  /** From another organization (Slack Connect). */
  readonly foreign: boolean;
  readonly deleted?: boolean;
  readonly linked: boolean;
  readonly admin: boolean;
  readonly groups: readonly string[];
  /** What Slack did not say: ids of groups, `admin`, or `person`. */
  readonly unread?: readonly string[];
}

interface Step {
  readonly rule: 'organisation' | 'key' | 'role' | 'channel' | 'approval' | 'destination';
  /** In mrkdwn; ids are mentions, and nothing of it was typed. */
  readonly says: string;
  readonly ok: boolean;
}

export type Reason =
  | 'open-to-all'
  | 'own-key'
  | 'operator'
  | 'admin'
  | 'approver'
  | 'any-channel'
  | 'named-channel'
  | 'foreign'
  | 'deactivated'
  /** Slack did not say what decides: decided again later. */
  | 'unknown'
  | 'no-key'
  | 'not-operator'
  | 'not-admin'
  | 'not-approver'
  | 'channel-cap'
  | 'other-channel';

export interface Decision {
  readonly allowed: boolean;
  /** The first rule that refuses, else `unknown`, else the one that allows. */
  readonly reason: Reason;
  /** Every step, also those after one that refuses, so that all can be fixed at once. */
  readonly trace: readonly Step[];
}

/**
 * Whether a person may run an action in a channel: role ∩ channel cap ∩ class. Pure and total; denies by default. Admins are
 * not operators. Settings are not capped, so that an admin can always undo a cap.
 */
export function decide(policy: Policy, actor: Actor, channelId: string | undefined, needs: Right): Decision {
  if (actor.foreign) return deniedForeign;
  const home = homeStep(actor);
  if (needs === 'none') return judge('open-to-all', [home]);
  if (needs === 'admin') return judge('admin', [home, adminStep(actor)]);
  const own = [keyStep(actor), capStep(policy, channelId, needs)];
  if (needs === 'read') return judge('own-key', [home, ...own]);
  // The role first: connecting a key does not help a person without one.
  const role = roleStep('operator', actor, policy.operators, policy.operatorGroups);
  return judge('operator', [home, role, ...own, ...approvalSteps(policy, needs)]);
}

/** Whether a person may approve requests; the ledger checks that they are not the requester. */
export function decideApproval(policy: Policy, actor: Actor): Decision {
  if (actor.foreign) return deniedForeign;
  const role = roleStep('approver', actor, policy.approvers, policy.approverGroups);
  return judge('approver', [homeStep(actor), role]);
}

export function decideDestination(
  { exportChannels, postChannels }: Policy,
  subject: 'export' | 'digest' | 'answer',
  channelId: string,
): Decision {
  const named = subject === 'export' ? exportChannels : postChannels;
  const anywhere = named.length === 0;
  const where = anywhere ? 'any channel' : `${named.map((id) => `<#${id}>`).join(', ')} only`;
  const isOk = anywhere || named.includes(channelId);
  return judge(anywhere ? 'any-channel' : 'named-channel', [
    step('destination', isOk, `${subject}s may go into ${where}`, 'other-channel'),
  ]);
}

export type Rights = ReturnType<typeof computeRights>;

/** A person's roles, and the classes that they may run in a channel; undefined = without a cap. */
export function computeRights(policy: Policy, actor: Actor, channelId: string | undefined) {
  const isHere = !actor.foreign && !actor.deleted;
  return {
    operator: isHere && roleStep('operator', actor, policy.operators, policy.operatorGroups).ok,
    approver: decideApproval(policy, actor).allowed,
    admin: isHere && actor.admin,
    may: rights.filter((needs) => needs !== 'none' && decide(policy, actor, channelId, needs).allowed),
  };
}

export function countRequiredApprovals({ destroyApprovals, changeApprovals }: Policy, needs: Right): number {
  return { destroy: destroyApprovals, change: changeApprovals }[needs as string] ?? 0;
}

/** The highest class that may run in a channel; `admin` = no cap. */
export function channelCap(policy: Policy, channelId: string | undefined): Right {
  // Own members only: an id like `constructor` must not find one.
  const isCapped = channelId !== undefined && Object.hasOwn(policy.caps, channelId);
  return (isCapped && policy.caps[channelId]) || 'admin';
}

type JudgedStep = Step & { readonly refuses: Reason };

function step(rule: Step['rule'], ok: boolean, says: string, refuses: Reason): JudgedStep {
  return { rule, ok, says, refuses };
}

function homeStep({ deleted, unread }: Actor): JudgedStep {
  if (unread?.includes('person')) return unknown('organisation', 'which organization this person belongs to');
  const says = deleted ? 'deactivated in Slack' : 'a member';
  return step('organisation', !deleted, says, 'deactivated');
}

const deniedForeign = judge('foreign', [
  step('organisation', false, 'a member of another organization', 'foreign'),
]);

const unknown = (rule: Step['rule'], what: string): JudgedStep =>
  step(rule, false, `Slack does not say right now ${what}`, 'unknown');

function judge(allows: Reason, steps: readonly JudgedStep[]): Decision {
  const refusing = steps.filter(({ ok }) => !ok);
  const refused = refusing.find(({ refuses }) => refuses !== 'unknown') ?? refusing[0];
  return {
    allowed: refused === undefined,
    reason: refused?.refuses ?? allows,
    trace: steps.map(({ rule, says, ok }) => ({ rule, says, ok })),
  };
}

function adminStep({ admin, unread }: Actor): JudgedStep {
  if (unread?.includes('admin')) return unknown('role', 'who is an admin');
  return step('role', admin, admin ? 'an admin' : 'needs an admin', 'not-admin');
}

const keyStep = ({ linked }: Actor): JudgedStep =>
  step('key', linked, linked ? 'a CDN key is connected' : 'no CDN key is connected', 'no-key');

function roleStep(
  role: 'operator' | 'approver',
  { userId, groups: own, unread }: Actor,
  users: readonly string[],
  groups: readonly string[],
): JudgedStep {
  const has = (by: string): JudgedStep => step('role', true, `an ${role}, ${by}`, `not-${role}`);
  if (users.includes(userId)) return has('named in the settings');
  const group = groups.find((id) => own.includes(id));
  if (group !== undefined) return has(`as a member of ${mentionGroup(group)}`);
  const unreadGroup = groups.find((id) => unread?.includes(id));
  if (unreadGroup !== undefined) return unknown('role', `who is in ${mentionGroup(unreadGroup)}`);
  const isNobody = role === 'operator' && users.length + groups.length === 0;
  return step(
    'role',
    false,
    `needs the ${role} role${isNobody ? ', which nobody has yet' : ''}`,
    `not-${role}`,
  );
}

function capStep(policy: Policy, channelId: string | undefined, needs: Right): JudgedStep {
  const cap = channelCap(policy, channelId);
  const capped = cap === 'none' ? 'nothing of the CDN is allowed' : `nothing above *${cap}* is allowed`;
  const says = cap === 'admin' ? 'no restrictions' : `in <#${channelId ?? ''}> ${capped}`;
  return step('channel', rights.indexOf(cap) >= rights.indexOf(needs), says, 'channel-cap');
}

/** Never refuses: it tells what follows the decision. */
function approvalSteps(policy: Policy, needs: Right): JudgedStep[] {
  if (needs === 'export') return [];
  const needed = countRequiredApprovals(policy, needs);
  const count = needed === 1 ? '1 approval' : `${needed} approvals`;
  const says = needed === 0 ? 'runs without an approval' : `needs ${count}`;
  return [step('approval', true, says, 'not-approver')];
}

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
