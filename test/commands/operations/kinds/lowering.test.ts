import { expect, test } from 'vitest';
import { initialPolicy, type Policy } from '../../../../src/auth/policy/policy.ts';
import { findLowering } from '../../../../src/commands/operations/kinds/settings.ts';

const author = { userId: 'U1', groups: ['S1'] };
const none = { fewer: [], gains: [], off: false };
const acts = ['export', 'change', 'destroy'] as const;

test.each<[string, Partial<Policy>, Partial<Policy>, object]>([
  ['fewer approvals for deletions', { destroyApprovals: 2 }, { destroyApprovals: 1 }, { fewer: ['destroy'] }],
  [
    'none for both',
    { changeApprovals: 1 },
    { destroyApprovals: 0, changeApprovals: 0 },
    { fewer: ['destroy', 'change'] },
  ],
  ['naming oneself an operator', {}, { operators: ['U2', 'U1'] }, { gains: acts }],
  ['naming oneself an approver', {}, { approvers: ['U1'] }, { gains: ['approve'] }],
  ['an operator group one is in', {}, { operatorGroups: ['S1'] }, { gains: acts }],
  ['an approver group one is in', {}, { approverGroups: ['S2', 'S1'] }, { gains: ['approve'] }],
  [
    'a cap that goes where one is an operator',
    { operators: ['U1'], caps: { C1: 'export' } },
    { operators: ['U1'] },
    { gains: ['change', 'destroy'] },
  ],
  ['the rule itself', {}, { secondAdmin: false }, { off: true }],
])('%s needs a second admin', (_, before, after, lowers) => {
  const found = findLowering({ ...initialPolicy, ...before }, { ...initialPolicy, ...after }, author);
  expect(found).toEqual({ ...none, ...lowers });
});

test.each<[string, Partial<Policy>, Partial<Policy>]>([
  ['more approvals', {}, { destroyApprovals: 2, changeApprovals: 2 }],
  ['a longer expiry', {}, { expiryMinutes: 1440 }],
  ['naming others', {}, { operators: ['U2'], approvers: ['U3'], approverGroups: ['S2'] }],
  ['a group in place of oneself', { operators: ['U1'] }, { operatorGroups: ['S1'] }],
  ['a cap that goes and lets everybody read', { caps: { C1: 'none' } }, {}],
  ['a cap that comes', { operators: ['U1'] }, { operators: ['U1'], caps: { C1: 'read' } }],
  ['anything where the rule is off', { secondAdmin: false }, { destroyApprovals: 0, approvers: ['U1'] }],
  ['turning the rule on', { secondAdmin: false }, {}],
])('%s does not', (_, before, after) => {
  const found = findLowering({ ...initialPolicy, ...before }, { ...initialPolicy, ...after }, author);
  expect(found).toBeUndefined();
});
