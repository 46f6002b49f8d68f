import { expect, test } from 'vitest';
import {
  type AffectedPerson,
  computeEffects,
  describeChange,
  diffPolicies,
  findGains,
  findUnreachableQuorums,
  initialPolicy,
  type Policy,
} from '../../../src/auth/policy/policy.ts';

const somebody = (userId: string, groups: string[] = []): AffectedPerson => ({
  userId,
  groups,
});
const policy = (more: Partial<Policy>): Policy => ({ ...initialPolicy, ...more });

test('every field that differs is named, in words that a script could read', () => {
  const before = policy({ operators: ['U1', 'U2'], caps: { C1: 'read' }, version: 3 });
  const after = policy({
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
  const after = policy({ operators: ['U1'], approverGroups: ['S1'] });
  expect(
    computeEffects(initialPolicy, after, [somebody('U1'), somebody('U2', ['S1']), somebody('U3')]),
  ).toEqual([
    { who: ['U1'], gains: ['export', 'change', 'destroy'], loses: [] },
    { who: ['U2'], gains: ['approve'], loses: [] },
  ]);
});

test('moving somebody from being named into a group that has the role turns no decision', () => {
  const before = policy({ operators: ['U1'] });
  const after = policy({ operatorGroups: ['S1'] });
  expect(computeEffects(before, after, [somebody('U1', ['S1'])])).toEqual([]);
});

test('a person gains what a cap took from them, in some place; caps change nobody elsewhere', () => {
  const before = policy({ operators: ['U1'], caps: { C1: 'none', C2: 'change' } });
  const after = policy({ operators: ['U1'], caps: { C2: 'change', C3: 'read' } });
  expect(computeEffects(before, after, [somebody('U1'), somebody('U2')])).toEqual([]);
  expect(findGains(before, after, somebody('U1'))).toEqual(['read', 'export', 'change', 'destroy']);
  expect(findGains(before, after, somebody('U2'))).toEqual(['read']);
  expect(findGains(after, before, somebody('U1'))).toEqual(['export', 'change', 'destroy']);
});

test('who leaves a role loses it, and people with the same change stand together', () => {
  const before = policy({ operators: ['U1', 'U2'], approvers: ['U2'] });
  const after = policy({ approvers: ['U3', 'U2'] });
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
  const asked = policy({ destroyApprovals: 2, changeApprovals: 1 });
  expect(findUnreachableQuorums(asked, 0).map(({ class: kind }) => kind)).toEqual(['destroy', 'change']);
  expect(findUnreachableQuorums(asked, 1).map(({ class: kind }) => kind)).toEqual(['destroy']);
  expect(findUnreachableQuorums(asked, 2)).toEqual([]);
});
