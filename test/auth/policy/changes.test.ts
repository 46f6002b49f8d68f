import { expect, test } from 'vitest';
import {
  type AffectedPerson,
  computeEffects,
  describeChange,
  diffPolicies,
  findUnreachableQuorums,
} from '../../../src/auth/policy/changes.ts';
import { initialPolicy, type Policy } from '../../../src/auth/policy/policy.ts';

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
    { who: ['U1'], channel: undefined, gains: ['export', 'change', 'destroy'], loses: [] },
    { who: ['U2'], channel: undefined, gains: ['approve'], loses: [] },
  ]);
});

test('moving somebody from being named into a group that has the role turns no decision', () => {
  const before = policy({ operators: ['U1'] });
  const after = policy({ operatorGroups: ['S1'] });
  expect(computeEffects(before, after, [somebody('U1', ['S1'])])).toEqual([]);
});

test('a cap is told once for everybody, and for operators where it takes more from them', () => {
  const before = policy({ operators: ['U1', 'U2'] });
  const after = policy({ operators: ['U1', 'U2'], caps: { C1: 'none', C2: 'export' } });
  expect(computeEffects(before, after, [somebody('U1'), somebody('U2')])).toEqual([
    { who: undefined, channel: 'C1', gains: [], loses: ['read'] },
    { who: ['U1', 'U2'], channel: 'C1', gains: [], loses: ['read', 'export', 'change', 'destroy'] },
    { who: ['U1', 'U2'], channel: 'C2', gains: [], loses: ['change', 'destroy'] },
  ]);
});

test('a new operator gains less where a cap stays', () => {
  const before = policy({ caps: { C1: 'change', C2: 'read' } });
  const after = policy({ operators: ['U1'], caps: { C1: 'change', C2: 'read' } });
  expect(computeEffects(before, after, [somebody('U1')])).toEqual([
    { who: ['U1'], channel: undefined, gains: ['export', 'change', 'destroy'], loses: [] },
    { who: ['U1'], channel: 'C1', gains: ['export', 'change'], loses: [] },
  ]);
});

test('more approvals than approvers is said, whatever the class', () => {
  const asked = policy({ destroyApprovals: 2, changeApprovals: 1 });
  expect(findUnreachableQuorums(asked, 0).map(({ class: kind }) => kind)).toEqual(['destroy', 'change']);
  expect(findUnreachableQuorums(asked, 1).map(({ class: kind }) => kind)).toEqual(['destroy']);
  expect(findUnreachableQuorums(asked, 2)).toEqual([]);
});
