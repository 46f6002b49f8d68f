/**
 * What an action does to the world, from harmless to far-reaching; decides who may run it (DESIGN §5).
 * `admin` stands apart: it changes the bot's own settings, nothing in the CDN.
 */
export const rights = ['none', 'read', 'export', 'change', 'destroy', 'admin'] as const;
export type Right = (typeof rights)[number];

/** What an admin has said: who is what, what may happen where. Ids only, never names: names can be taken over. */
export interface Policy {
  /** 0 = nobody has said anything yet. */
  readonly version: number;
  readonly operators: readonly string[];
  readonly operatorGroups: readonly string[];
  readonly approvers: readonly string[];
  readonly approverGroups: readonly string[];
  readonly approvalChannel: string | undefined;
  /** Where a signed checkpoint of the audit is posted each day; undefined = nowhere. */
  readonly auditChannel: string | undefined;
  /** How many others have to agree before a deletion runs. */
  readonly destroyApprovals: number;
  /** The same for a change. */
  readonly changeApprovals: number;
  /** How long an approval may be waited for. */
  readonly expiryMinutes: number;
  /** The most that may happen in a channel, by its id. */
  readonly caps: Readonly<Record<string, Right>>;
  /** Where exports may go; empty = anywhere. */
  readonly exportChannels: readonly string[];
  /** After how many days the files of an export are deleted from Slack; 0 = they stay. */
  readonly exportKeepDays: number;
  /** Where digests may go; empty = anywhere. */
  readonly digestChannels: readonly string[];
}

export const initialPolicy: Policy = {
  version: 0,
  operators: [],
  operatorGroups: [],
  approvers: [],
  approverGroups: [],
  approvalChannel: undefined,
  auditChannel: undefined,
  destroyApprovals: 1,
  changeApprovals: 0,
  expiryMinutes: 30,
  caps: {},
  exportChannels: [],
  exportKeepDays: 0,
  digestChannels: [],
};

/** One person as policy sees them. */
export interface Actor {
  readonly userId: string;
  /** From another organisation (Slack Connect). */
  readonly foreign: boolean;
  /** Has linked a CDN key. */
  readonly linked: boolean;
  /** Workspace admin, or named in ADMIN_USER_IDS. */
  readonly admin: boolean;
  /** The user groups they are in, as far as policy names them. */
  readonly groups: readonly string[];
}

interface Step {
  readonly rule: 'organisation' | 'key' | 'role' | 'channel' | 'approval' | 'destination';
  /** In mrkdwn; ids are mentions, nothing foreign is in it. */
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
  /** A stable word: the first rule that refuses, else what allows. */
  readonly reason: Reason;
  /** Every step, also those behind one that refuses, so that nobody mends one only to meet the next. */
  readonly trace: readonly Step[];
}

/**
 * Whether somebody may do something somewhere: role ∩ channel cap ∩ class. Pure and total; what is not granted is
 * refused. Before an admin has said anything, everybody who linked a key may read and nothing else. Admins are no
 * operators by being admins: they can make themselves one, visibly. People of other organisations are told nothing.
 *
 * A cap limits what is done to the CDN from a channel. Settings are not capped: the admin who capped a channel can
 * always take it back.
 */
export function decide(
  policy: Policy,
  actor: Actor,
  channelId: string | undefined,
  action: { readonly needs: Right; readonly name: string },
): Decision {
  const { needs } = action;
  if (actor.foreign) return strangers;
  const home: Judged = { rule: 'organisation', ok: true, says: 'of this organisation', refuses: 'foreign' };
  switch (needs) {
    case 'none':
      return judged('open-to-all', [home]);
    case 'admin':
      return judged('admin', [home, adminStep(actor)]);
    case 'read':
      return judged('own-key', [home, keyStep(actor), capStep(policy, channelId, needs)]);
    case 'export':
    case 'change':
    case 'destroy':
      return judged('operator', [
        home,
        // The role first: connecting a key would not help somebody who has none.
        operatorStep(policy, actor),
        keyStep(actor),
        capStep(policy, channelId, needs),
        ...approvalSteps(policy, needs),
      ]);
  }
}

/** Whether somebody may approve what others ask for. That the requester never counts is for the request to say. */
export function decideApproval(policy: Policy, actor: Actor): Decision {
  if (actor.foreign) return strangers;
  const by = roleBy(actor, policy.approvers, policy.approverGroups);
  return judged('approver', [
    { rule: 'organisation', ok: true, says: 'of this organisation', refuses: 'foreign' },
    {
      rule: 'role',
      ok: by !== undefined,
      says: by === undefined ? 'not an approver' : `an approver, ${by}`,
      refuses: 'not-approver',
    },
  ]);
}

/** Whether exports or digests may go into a channel. */
export function decideDestination(policy: Policy, what: 'export' | 'digest', channelId: string): Decision {
  const named = what === 'export' ? policy.exportChannels : policy.digestChannels;
  if (named.length === 0) {
    return judged('any-channel', [
      { rule: 'destination', ok: true, says: `${what}s may go into any channel`, refuses: 'other-channel' },
    ]);
  }
  const ok = named.includes(channelId);
  const where = named.map((id) => `<#${id}>`).join(', ');
  return judged('named-channel', [
    { rule: 'destination', ok, says: `${what}s may go into ${where} only`, refuses: 'other-channel' },
  ]);
}

/** What somebody is, and what they may do in a channel; undefined = anywhere without a cap. */
export interface Rights {
  readonly operator: boolean;
  readonly approver: boolean;
  readonly admin: boolean;
  /** The classes above `none` that they may run. */
  readonly may: readonly Right[];
}

export function computeRights(policy: Policy, actor: Actor, channelId: string | undefined): Rights {
  const { operators, operatorGroups, approvers, approverGroups } = policy;
  return {
    operator: !actor.foreign && roleBy(actor, operators, operatorGroups) !== undefined,
    approver: !actor.foreign && roleBy(actor, approvers, approverGroups) !== undefined,
    admin: !actor.foreign && actor.admin,
    may: rights.filter(
      (needs) => needs !== 'none' && decide(policy, actor, channelId, { needs, name: needs }).allowed,
    ),
  };
}

/** How many others have to agree before an action of this class runs. */
export function requiredApprovals(policy: Policy, needs: Right): number {
  if (needs === 'destroy') return policy.destroyApprovals;
  return needs === 'change' ? policy.changeApprovals : 0;
}

/** The most that may happen in a channel; `admin` = no cap. */
export function channelCap(policy: Policy, channelId: string | undefined): Right {
  // Own members only: a channel named like a member of every object must not find one.
  const cap =
    channelId !== undefined && Object.hasOwn(policy.caps, channelId) ? policy.caps[channelId] : undefined;
  return cap ?? 'admin';
}

type Judged = Step & { readonly refuses: Reason };

const strangers: Decision = {
  allowed: false,
  reason: 'foreign',
  trace: [{ rule: 'organisation', ok: false, says: 'of another organisation' }],
};

function judged(allows: Reason, steps: readonly Judged[]): Decision {
  const refused = steps.find(({ ok }) => !ok);
  return {
    allowed: refused === undefined,
    reason: refused?.refuses ?? allows,
    trace: steps.map(({ rule, says, ok }) => ({ rule, says, ok })),
  };
}

function keyStep({ linked }: Actor): Judged {
  return {
    rule: 'key',
    ok: linked,
    says: linked ? 'a CDN key is connected' : 'no CDN key is connected',
    refuses: 'no-key',
  };
}

function adminStep({ admin }: Actor): Judged {
  return { rule: 'role', ok: admin, says: admin ? 'an admin' : 'not an admin', refuses: 'not-admin' };
}

function operatorStep(policy: Policy, actor: Actor): Judged {
  const by = roleBy(actor, policy.operators, policy.operatorGroups);
  const nobody = policy.operators.length + policy.operatorGroups.length === 0;
  const not = nobody ? 'not an operator: nobody is one yet' : 'not an operator';
  return {
    rule: 'role',
    ok: by !== undefined,
    says: by === undefined ? not : `an operator, ${by}`,
    refuses: 'not-operator',
  };
}

/** How somebody has a role: by their own id, or by a group they are in. */
function roleBy(actor: Actor, users: readonly string[], groups: readonly string[]): string | undefined {
  if (users.includes(actor.userId)) return 'named in the settings';
  const group = groups.find((id) => actor.groups.includes(id));
  return group === undefined ? undefined : `as a member of <!subteam^${group}>`;
}

function capStep(policy: Policy, channelId: string | undefined, needs: Right): Judged {
  const cap = channelCap(policy, channelId);
  const ok = rights.indexOf(cap) >= rights.indexOf(needs);
  const capped = cap === 'none' ? 'nothing of the CDN is allowed' : `nothing above *${cap}* is allowed`;
  return {
    rule: 'channel',
    ok,
    says: cap === 'admin' ? 'no cap here' : `in <#${channelId ?? ''}> ${capped}`,
    refuses: 'channel-cap',
  };
}

/** Never refuses: it says what comes after the decision. */
function approvalSteps(policy: Policy, needs: Right): Judged[] {
  const needed = requiredApprovals(policy, needs);
  if (needs === 'export') return [];
  const others = needed === 1 ? '1 other person has' : `${needed} other people have`;
  return [
    {
      rule: 'approval',
      ok: true,
      says:
        needed === 0
          ? 'runs without an approval'
          : `then ${others} to approve within ${policy.expiryMinutes} min`,
      refuses: 'not-approver',
    },
  ];
}
