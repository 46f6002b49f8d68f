import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { mentionGroup } from '../../../src/auth/identity.ts';
import {
  type Actor,
  type AffectedPerson,
  assistantModes,
  channelCap,
  computeEffects,
  computeRights,
  countRequiredApprovals,
  decide,
  decideApproval,
  decideDestination,
  describeChange,
  diffPolicies,
  findGains,
  findUnreachableQuorums,
  initialPolicy,
  type Policy,
  policyBody,
  type Reason,
  type Right,
  readAssistant,
  rights,
} from '../../../src/auth/policy/policy.ts';

const channel = 'C0OPS0000';
const classes: readonly Right[] = ['none', 'read', 'export', 'change', 'destroy', 'admin'];
const caps = ['none', 'read', 'export', 'change', 'destroy', 'uncapped'] as const;
type Cap = (typeof caps)[number];
const roles = ['reader', 'operator', 'operator by group', 'approver', 'admin', 'admin and operator'] as const;
type Role = (typeof roles)[number];

/*
 * The decision table of docs/approvals.md, by hand. Read: under a cap (row), may a class (column) happen at all?
 */
const happensUnder: Record<Cap, Record<Right, 'yes' | 'no'>> = {
  //          looks        logs out       edits          deletes         needs no CDN
  none: { read: 'no', export: 'no', change: 'no', destroy: 'no', none: 'yes', admin: 'yes' },
  read: { read: 'yes', export: 'no', change: 'no', destroy: 'no', none: 'yes', admin: 'yes' },
  export: { read: 'yes', export: 'yes', change: 'no', destroy: 'no', none: 'yes', admin: 'yes' },
  change: { read: 'yes', export: 'yes', change: 'yes', destroy: 'no', none: 'yes', admin: 'yes' },
  destroy: { read: 'yes', export: 'yes', change: 'yes', destroy: 'yes', none: 'yes', admin: 'yes' },
  uncapped: { read: 'yes', export: 'yes', change: 'yes', destroy: 'yes', none: 'yes', admin: 'yes' },
};

/* What a role brings with a key; without one only what needs no CDN is left of it. */
const withKey: Record<Role, readonly Right[]> = {
  reader: ['none', 'read'],
  operator: ['none', 'read', 'export', 'change', 'destroy'],
  'operator by group': ['none', 'read', 'export', 'change', 'destroy'],
  approver: ['none', 'read'],
  admin: ['none', 'read', 'admin'],
  'admin and operator': ['none', 'read', 'export', 'change', 'destroy', 'admin'],
};
const table = roles.flatMap((role) =>
  caps.flatMap((cap) =>
    classes.flatMap((needs) =>
      [true, false].flatMap((linked) =>
        [true, false].map((foreign) => {
          const brings = withKey[role].includes(needs) && (linked || ['none', 'admin'].includes(needs));
          const allowed = !foreign && brings && happensUnder[cap][needs] === 'yes';
          return { role, cap, needs, linked, foreign, allowed };
        }),
      ),
    ),
  ),
);

function policyFor(role: Role, cap: Cap): Policy {
  return {
    ...initialPolicy,
    operators: role === 'operator' || role === 'admin and operator' ? ['U1'] : ['U9'],
    operatorGroups: ['S1'],
    approvers: role === 'approver' ? ['U1'] : [],
    caps: cap === 'uncapped' ? {} : { [channel]: cap },
  };
}

function actorFor(role: Role, linked: boolean, foreign: boolean): Actor {
  return {
    userId: 'U1',
    linked,
    foreign,
    admin: role === 'admin' || role === 'admin and operator',
    groups: role === 'operator by group' ? ['S1'] : ['S2'],
  };
}

test('every combination is decided as the table says', () => {
  const wrong = table.filter(({ role, cap, needs, linked, foreign, allowed }) => {
    const decision = decide(policyFor(role, cap), actorFor(role, linked, foreign), channel, needs);
    return decision.allowed !== allowed || decision.trace.every(({ ok }) => ok) !== allowed;
  });
  expect(wrong).toEqual([]);
});

test.each<[string, Partial<Actor>, Partial<Policy>, Right, Reason]>([
  ['foreign before all else', { foreign: true, admin: true }, {}, 'none', 'foreign'],
  ['what needs nothing', { linked: false }, {}, 'none', 'open-to-all'],
  ['reading with a key', {}, {}, 'read', 'own-key'],
  ['reading without one', { linked: false }, {}, 'read', 'no-key'],
  ['no role before no key', { linked: false }, {}, 'destroy', 'not-operator'],
  ['a role without a key', { linked: false }, { operators: ['U1'] }, 'destroy', 'no-key'],
  ['an operator', {}, { operators: ['U1'] }, 'destroy', 'operator'],
  ['admins are no operators', { admin: true }, {}, 'change', 'not-operator'],
  ['settings', {}, {}, 'admin', 'not-admin'],
  ['settings for admins', { admin: true, linked: false }, { caps: { [channel]: 'none' } }, 'admin', 'admin'],
  ['a capped channel', {}, { operators: ['U1'], caps: { [channel]: 'change' } }, 'destroy', 'channel-cap'],
])('the reason is a stable word: %s', (_, actor, policy, needs, reason) => {
  const who = { ...actorFor('reader', true, false), ...actor };
  expect(decide({ ...initialPolicy, ...policy }, who, channel, needs).reason).toBe(reason);
});

test.each<[string, Partial<Actor>, Partial<Policy>, Right, Reason]>([
  ['an unread group may hold them', { unread: ['S1'] }, { operatorGroups: ['S1'] }, 'change', 'unknown'],
  ['they are named', { unread: ['S1'] }, { operators: ['U1'], operatorGroups: ['S1'] }, 'change', 'operator'],
  [
    'another group holds them',
    { unread: ['S1'], groups: ['S2'] },
    { operatorGroups: ['S1', 'S2'] },
    'change',
    'operator',
  ],
  ['another group is unread', { unread: ['S3'] }, { operatorGroups: ['S1'] }, 'change', 'not-operator'],
  ['another rule refuses', { unread: ['S1'], linked: false }, { operatorGroups: ['S1'] }, 'change', 'no-key'],
  ['reading needs no group', { unread: ['S1', 'admin'] }, { operatorGroups: ['S1'] }, 'read', 'own-key'],
  ['an unread profile may be an admin’s', { unread: ['admin'] }, {}, 'admin', 'unknown'],
  ['the person is unread', { unread: ['person'] }, {}, 'none', 'unknown'],
  ['deactivated', { deleted: true, admin: true }, { operators: ['U1'] }, 'change', 'deactivated'],
])('what Slack does not say is unknown only where it decides: %s', (_, actor, policy, needs, reason) => {
  const who = { ...actorFor('reader', true, false), groups: [], ...actor };
  const decision = decide({ ...initialPolicy, ...policy }, who, channel, needs);
  expect(decision.reason).toBe(reason);
  expect(decision.allowed).toBe(['operator', 'own-key'].includes(reason));
});

test('whoever may be in an unread group may perhaps approve, unless they are deactivated', () => {
  const policy = { ...initialPolicy, approverGroups: ['S1'] };
  const who = { ...actorFor('reader', true, false), unread: ['S1'] };
  expect(decideApproval(policy, who).reason).toBe('unknown');
  expect(decideApproval(policy, { ...who, deleted: true }).reason).toBe('deactivated');
});

test('the trace goes on behind a step that refuses, so that nobody mends one only to meet the next', () => {
  const policy = { ...initialPolicy, caps: { [channel]: 'read' as const }, destroyApprovals: 2 };
  const { trace } = decide(policy, actorFor('reader', false, false), channel, 'destroy');
  expect(trace.map(({ rule, says, ok }) => `${ok ? 'ok' : 'no'} ${rule}: ${says}`)).toMatchInlineSnapshot(`
    [
      "ok organisation: a member",
      "no role: needs the operator role, which nobody has yet",
      "no key: no CDN key is connected",
      "no channel: in <#C0OPS0000> nothing above *read* is allowed",
      "ok approval: needs 2 approvals",
    ]
  `);
  const capped = decide(
    { ...policy, caps: { [channel]: 'none' } },
    actorFor('reader', true, false),
    channel,
    'read',
  );
  expect(capped.trace.at(-1)?.says).toMatchInlineSnapshot(`"in <#C0OPS0000> nothing of the CDN is allowed"`);
});

test('a group of an organization is mentioned by its own id', () => {
  expect(['S1', 'T1/S1'].map(mentionGroup)).toEqual(['<!subteam^S1>', '<!subteam^S1>']);
});

test('people of other organizations are told nothing of the policy', () => {
  const policy = policyFor('operator', 'read');
  const visitor = actorFor('operator', true, true);
  const traces = new Set(
    classes.map((needs) => JSON.stringify(decide(policy, visitor, channel, needs).trace)),
  );
  expect([...traces]).toMatchInlineSnapshot(`
    [
      "[{"rule":"organisation","says":"a member of another organization","ok":false}]",
    ]
  `);
});

test('without a channel (the Home tab, a conversation with the bot) nothing is capped', () => {
  const policy = policyFor('operator', 'none');
  const actor = actorFor('operator', true, false);
  expect(decide(policy, actor, undefined, 'destroy').allowed).toBe(true);
  expect(decide(policy, actor, 'C0OTHER00', 'destroy').allowed).toBe(true);
});

describe('approvals and destinations', () => {
  const policy: Policy = {
    ...initialPolicy,
    approvers: ['U1'],
    approverGroups: ['S1'],
    exportChannels: ['C1'],
  };
  test.each<[string, Partial<Actor>, boolean]>([
    ['named', {}, true],
    ['by group', { userId: 'U2', groups: ['S1'] }, true],
    ['neither', { userId: 'U2' }, false],
    ['an admin who is neither', { userId: 'U2', admin: true }, false],
    ['named, of another organization', { foreign: true }, false],
  ])('who may approve: %s', (_, actor, allowed) => {
    expect(decideApproval(policy, { ...actorFor('reader', true, false), ...actor }).allowed).toBe(allowed);
  });

  test('exports go to the channels that are named, digests anywhere while none is', () => {
    expect(decideDestination(policy, 'export', 'C1').allowed).toBe(true);
    expect(decideDestination(policy, 'export', 'C2')).toMatchObject({
      allowed: false,
      reason: 'other-channel',
    });
    expect(decideDestination(policy, 'digest', 'C2').allowed).toBe(true);
  });

  test('a deletion needs one approval until an admin says otherwise, a change none', () => {
    expect(classes.map((needs) => countRequiredApprovals(initialPolicy, needs))).toEqual([0, 0, 0, 0, 1, 0]);
  });
});

test('what a stored policy does not say is the safe side: a second admin, no assistant, and a request that ends', () => {
  const { version: _, secondAdmin: __, ...stored } = initialPolicy;
  expect(policyBody.parse(stored).secondAdmin).toBe(true);
  expect(initialPolicy.secondAdmin).toBe(true);
  expect(readAssistant(initialPolicy)).toBe('off');
  expect(policyBody.safeParse({ ...stored, expiryMinutes: 0 }).success).toBe(false);
});

test.each([{ foreign: true }, { deleted: true }])('nobody has a role who is %j', (gone) => {
  const policy = { ...initialPolicy, operators: ['U1'], approvers: ['U1'] };
  const who = { ...actorFor('admin', true, false), ...gone };
  const nothing = { operator: false, approver: false, admin: false, may: [] };
  expect(computeRights(policy, who, undefined)).toEqual(nothing);
  const roles = [true, false].map((admin) =>
    computeRights(policy, { ...who, foreign: false, deleted: false, admin }, undefined),
  );
  expect(roles.map(({ admin }) => admin)).toEqual([true, false]);
});

describe('properties', () => {
  const id = fc.constantFrom('U1', 'U2', 'S1', 'S2', 'C1', '__proto__', 'constructor', 'toString', '');
  const ids = fc.uniqueArray(id);
  const right = fc.constantFrom(...rights);
  const policies = fc.record<Policy>({
    version: fc.nat(),
    operators: ids,
    operatorGroups: ids,
    approvers: ids,
    approverGroups: ids,
    approvalChannel: fc.option(id, { nil: undefined }),
    destroyApprovals: fc.nat(5),
    changeApprovals: fc.nat(5),
    expiryMinutes: fc.integer({ min: 1, max: 1440 }),
    exportKeepDays: fc.nat({ max: 365 }),
    caps: fc.dictionary(id, right),
    exportChannels: ids,
    postChannels: ids,
    secondAdmin: fc.boolean(),
    assistant: fc.constantFrom(undefined, ...assistantModes),
  });
  const actors = fc.record<Actor>({
    userId: id,
    foreign: fc.boolean(),
    linked: fc.boolean(),
    admin: fc.boolean(),
    groups: ids,
  });
  const channels = fc.option(id, { nil: undefined });

  test('it is total: whatever is asked gets a decision whose steps explain it', () => {
    fc.assert(
      fc.property(policies, actors, channels, right, (policy, actor, where, needs) => {
        const decision = decide(policy, actor, where, needs);
        expect(decision.trace.length).toBeGreaterThan(0);
        expect(decision.trace.every(({ ok }) => ok)).toBe(decision.allowed);
        expect(decide(policy, actor, where, needs)).toEqual(decision);
      }),
    );
  });

  test('no channel has a cap that nobody gave it', () => {
    for (const name of ['__proto__', 'constructor', 'toString'])
      expect(channelCap(initialPolicy, name)).toBe('admin');
  });
});

const somebody = (userId: string, groups: string[] = []): AffectedPerson => ({
  userId,
  groups,
});
const settingsWith = (more: Partial<Policy>): Policy => ({ ...initialPolicy, ...more });

test('every field that differs is named, in words that a script could read', () => {
  const before = settingsWith({ operators: ['U1', 'U2'], caps: { C1: 'read' }, version: 3 });
  const after = settingsWith({
    operators: ['U2', 'U3'],
    caps: { C2: 'none' },
    approvalChannel: 'C9',
    destroyApprovals: 2,
    postChannels: ['C4'],
    version: 4,
  });
  expect(diffPolicies(before, after).map(describeChange)).toEqual([
    'operators: +U3 -U1',
    'postChannels: +C4',
    'approvalChannel: none -> C9',
    'destroyApprovals: 1 -> 2',
    'cap of C1: read -> uncapped',
    'cap of C2: uncapped -> none',
  ]);
  expect(diffPolicies(before, { ...before, version: 9 })).toEqual([]);
});

test('who becomes an operator gains what an operator may, an approver to approve', () => {
  const after = settingsWith({ operators: ['U1'], approverGroups: ['S1'] });
  expect(
    computeEffects(initialPolicy, after, [somebody('U1'), somebody('U2', ['S1']), somebody('U3')]),
  ).toEqual([
    { who: ['U1'], gains: ['export', 'change', 'destroy'], loses: [] },
    { who: ['U2'], gains: ['approve'], loses: [] },
  ]);
});

test('moving somebody from being named into a group that has the role turns no decision', () => {
  const before = settingsWith({ operators: ['U1'] });
  const after = settingsWith({ operatorGroups: ['S1'] });
  expect(computeEffects(before, after, [somebody('U1', ['S1'])])).toEqual([]);
});

test('a person gains what a cap took from them, in some place; caps change nobody elsewhere', () => {
  const before = settingsWith({ operators: ['U1'], caps: { C1: 'none', C2: 'change' } });
  const after = settingsWith({ operators: ['U1'], caps: { C2: 'change', C3: 'read' } });
  expect(computeEffects(before, after, [somebody('U1'), somebody('U2')])).toEqual([]);
  expect(findGains(before, after, somebody('U1'))).toEqual(['read', 'export', 'change', 'destroy']);
  expect(findGains(before, after, somebody('U2'))).toEqual(['read']);
  expect(findGains(after, before, somebody('U1'))).toEqual(['export', 'change', 'destroy']);
});

test('who leaves a role loses it, and people with the same change stand together', () => {
  const before = settingsWith({ operators: ['U1', 'U2'], approvers: ['U2'] });
  const after = settingsWith({ approvers: ['U3', 'U2'] });
  expect(
    computeEffects(
      before,
      after,
      ['U1', 'U2', 'U3'].map((id) => somebody(id)),
    ),
  ).toEqual([
    { who: ['U1', 'U2'], gains: [], loses: ['export', 'change', 'destroy'] },
    { who: ['U3'], gains: ['approve'], loses: [] },
  ]);
});

test('more approvals than approvers is said, whatever the class', () => {
  const asked = settingsWith({ destroyApprovals: 2, changeApprovals: 1 });
  expect(findUnreachableQuorums(asked, 0).map(({ class: kind }) => kind)).toEqual(['destroy', 'change']);
  expect(findUnreachableQuorums(asked, 1).map(({ class: kind }) => kind)).toEqual(['destroy']);
  expect(findUnreachableQuorums(asked, 2)).toEqual([]);
});
