import { z } from 'zod';

/**
 * The class of an action, from harmless to far-reaching; decides who may run it. `admin` stands apart: it changes the
 * bot's own settings, nothing in the CDN.
 */
export const rights = ['none', 'read', 'export', 'change', 'destroy', 'admin'] as const;
export type Right = (typeof rights)[number];

const ids = z.array(z.string()).readonly();
const count = z.number().int().nonnegative();

/** The settings as they are stored. Ids only, never names: names can be taken over. */
export const policyBody = z.object({
  operators: ids,
  operatorGroups: ids,
  approvers: ids,
  approverGroups: ids,
  approvalChannel: z.string().optional(),
  /** The channel of the daily signed audit checkpoint; undefined = none is posted. */
  auditChannel: z.string().optional(),
  /** Approvals by others that a deletion needs. */
  destroyApprovals: count,
  /** Approvals by others that a change needs. */
  changeApprovals: count,
  /** After this a request that waits for approval expires. */
  expiryMinutes: count.positive(),
  /** The highest class that may run in a channel, by its id. */
  caps: z.record(z.string(), z.enum(rights)).readonly(),
  /** Channels that exports may go to; empty = any. */
  exportChannels: ids,
  /** Days after which the files of an export are deleted from Slack; 0 = never. */
  exportKeepDays: count,
  /** Channels that digests may go to; empty = any. */
  digestChannels: ids,
});

/** The settings of a workspace or organisation. Version 0 = never saved. */
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
  exportKeepDays: 0,
  digestChannels: [],
};

/** The facts about a person that policy decides by. */
export interface Actor {
  readonly userId: string;
  /** From another organisation (Slack Connect). */
  readonly foreign: boolean;
  /** Has linked a CDN key. */
  readonly linked: boolean;
  /** Workspace admin, or named in ADMIN_USER_IDS. */
  readonly admin: boolean;
  /** Their user groups, of those that the policy names. */
  readonly groups: readonly string[];
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
  | 'no-key'
  | 'not-operator'
  | 'not-admin'
  | 'not-approver'
  | 'channel-cap'
  | 'other-channel';

export interface Decision {
  readonly allowed: boolean;
  /** The first rule that refuses, else the one that allows. */
  readonly reason: Reason;
  /** Every step, also those after one that refuses, so that all can be fixed at once. */
  readonly trace: readonly Step[];
}

/**
 * Decides whether a person may run an action in a channel: role ∩ channel cap ∩ class. Pure and total; denies by default.
 * Without settings, people with a key may read and nothing else. Admins are not operators: they can make themselves one,
 * visibly. People of other organisations see no step of the decision.
 *
 * A cap limits actions on the CDN in a channel. Settings are not capped, so that an admin can always undo a cap.
 */
export function decide(policy: Policy, actor: Actor, channelId: string | undefined, needs: Right): Decision {
  if (actor.foreign) return deniedForeign;
  switch (needs) {
    case 'none':
      return judge('open-to-all', [home]);
    case 'admin':
      return judge('admin', [
        home,
        step('role', actor.admin, actor.admin ? 'an admin' : 'not an admin', 'not-admin'),
      ]);
    case 'read':
      return judge('own-key', [home, keyStep(actor), capStep(policy, channelId, needs)]);
    case 'export':
    case 'change':
    case 'destroy':
      return judge('operator', [
        home,
        // The role first: connecting a key does not help a person without one.
        roleStep('operator', actor, policy.operators, policy.operatorGroups),
        keyStep(actor),
        capStep(policy, channelId, needs),
        ...approvalSteps(policy, needs),
      ]);
  }
}

/** Decides whether a person may approve requests of others. Whether they are the requester is checked by the ledger. */
export function decideApproval(policy: Policy, actor: Actor): Decision {
  if (actor.foreign) return deniedForeign;
  const { approvers, approverGroups } = policy;
  return judge('approver', [home, roleStep('approver', actor, approvers, approverGroups)]);
}

/** Decides whether exports or digests may go into a channel. */
export function decideDestination(policy: Policy, subject: 'export' | 'digest', channelId: string): Decision {
  const named = subject === 'export' ? policy.exportChannels : policy.digestChannels;
  const anywhere = named.length === 0;
  const where = anywhere ? 'any channel' : `${named.map((id) => `<#${id}>`).join(', ')} only`;
  const ok = anywhere || named.includes(channelId);
  return judge(anywhere ? 'any-channel' : 'named-channel', [
    step('destination', ok, `${subject}s may go into ${where}`, 'other-channel'),
  ]);
}

/** A person's roles, and the classes above `none` that they may run in a channel; undefined = where there is no cap. */
export type Rights = ReturnType<typeof computeRights>;

export function computeRights(policy: Policy, actor: Actor, channelId: string | undefined) {
  const { operators, operatorGroups } = policy;
  return {
    operator: !actor.foreign && findRole(actor, operators, operatorGroups) !== undefined,
    approver: decideApproval(policy, actor).allowed,
    admin: !actor.foreign && actor.admin,
    may: rights.filter((needs) => needs !== 'none' && decide(policy, actor, channelId, needs).allowed),
  };
}

/** Approvals by others that an action of this class needs. */
export function countRequiredApprovals(policy: Policy, needs: Right): number {
  if (needs === 'destroy') return policy.destroyApprovals;
  return needs === 'change' ? policy.changeApprovals : 0;
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

const home = step('organisation', true, 'of this organisation', 'foreign');
const deniedForeign = judge('foreign', [step('organisation', false, 'of another organisation', 'foreign')]);

function judge(allows: Reason, steps: readonly JudgedStep[]): Decision {
  const refused = steps.find(({ ok }) => !ok);
  return {
    allowed: refused === undefined,
    reason: refused?.refuses ?? allows,
    trace: steps.map(({ rule, says, ok }) => ({ rule, says, ok })),
  };
}

function keyStep({ linked }: Actor): JudgedStep {
  return step('key', linked, linked ? 'a CDN key is connected' : 'no CDN key is connected', 'no-key');
}

function roleStep(
  role: 'operator' | 'approver',
  actor: Actor,
  users: readonly string[],
  groups: readonly string[],
): JudgedStep {
  const by = findRole(actor, users, groups);
  const isNobody = role === 'operator' && users.length + groups.length === 0;
  const not = `not an ${role}${isNobody ? ': nobody is one yet' : ''}`;
  return step('role', by !== undefined, by === undefined ? not : `an ${role}, ${by}`, `not-${role}`);
}

/** How a person has a role: by their own id or by a group of theirs; undefined = they do not. */
function findRole(actor: Actor, users: readonly string[], groups: readonly string[]): string | undefined {
  if (users.includes(actor.userId)) return 'named in the settings';
  const group = groups.find((id) => actor.groups.includes(id));
  return group === undefined ? undefined : `as a member of <!subteam^${group}>`;
}

function capStep(policy: Policy, channelId: string | undefined, needs: Right): JudgedStep {
  const cap = channelCap(policy, channelId);
  const ok = rights.indexOf(cap) >= rights.indexOf(needs);
  const capped = cap === 'none' ? 'nothing of the CDN is allowed' : `nothing above *${cap}* is allowed`;
  const says = cap === 'admin' ? 'no cap here' : `in <#${channelId ?? ''}> ${capped}`;
  return step('channel', ok, says, 'channel-cap');
}

/** Never refuses: it tells what follows the decision. */
function approvalSteps(policy: Policy, needs: Right): JudgedStep[] {
  if (needs === 'export') return [];
  const needed = countRequiredApprovals(policy, needs);
  const others = needed === 1 ? '1 other person has' : `${needed} other people have`;
  const says =
    needed === 0
      ? 'runs without an approval'
      : `then ${others} to approve within ${policy.expiryMinutes} min`;
  return [step('approval', true, says, 'not-approver')];
}
