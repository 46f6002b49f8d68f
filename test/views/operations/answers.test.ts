import { expect, test } from 'vitest';
import { decideApproval, initialPolicy } from '../../../src/auth/policy/policy.ts';
import type { Answer, Operation } from '../../../src/commands/operations/model.ts';
import type { OperationOutcome, VoidReason } from '../../../src/commands/operations/rows.ts';
import { renderAnswer } from '../../../src/views/operations/answers.ts';
import { describeOutcome, describeRequest } from '../../../src/views/operations/describe.ts';
import { readStable } from '../../support/words.ts';

const at = new Date('2026-11-22T10:00:00Z');
const operation: Operation = {
  id: 'abcdefghijkmnpqr',
  tenant: 'T0ACME000',
  kind: 'volume-delete',
  state: 'proposed',
  requester: { enterpriseId: undefined, teamId: 'T0ACME000', userId: 'U0ALICE00' },
  channelId: undefined,
  request: { kind: 'volume-delete', appId: 'app0api00000001', volumeId: 'data' },
  reason: undefined,
  snapshot: null,
  keyFingerprint: '1f2e3d4c',
  policyVersion: 1,
  approvalsNeeded: 2,
  approvals: [{ by: 'U0BOB0000', at }],
  createdAt: at,
  expiresAt: at,
  seal: 'f'.repeat(64),
  movedBy: 'U0BOB0000',
  movedAt: at,
  outcome: undefined,
  approvers: [],
  attemptOf: undefined,
  triedAgainAs: undefined,
};
const inState = (state: Operation['state'], outcome?: OperationOutcome): Operation => ({
  ...operation,
  state,
  outcome,
});

const reasons: readonly VoidReason[] = [
  'changed',
  'key-gone',
  'key-replaced',
  'requester-may-not',
  'more-approvals',
  'approver-may-not',
];

const actor = { userId: 'U0CAROL00', foreign: false, linked: true, admin: true, groups: [] };
const decision = decideApproval(initialPolicy, actor);

test.each<[string, Answer]>([
  ['approved by one of two', { kind: 'approved', operation }],
  ['the last approval', { kind: 'approved', operation: inState('approved') }],
  ['approved twice by one person', { kind: 'twice', operation }],
  ['denied', { kind: 'denied', operation: inState('denied') }],
  ['cancelled', { kind: 'cancelled', operation: inState('cancelled') }],
  ['confirmed as done', { kind: 'confirmed', operation: inState('succeeded') }],
  ['confirmed as not done', { kind: 'confirmed', operation: inState('failed') }],
  ['proposed', { kind: 'proposed', operation }],
  ['not found', { kind: 'not-found' }],
  ['approving one’s own request', { kind: 'own-request', press: 'approve', operation }],
  ['denying one’s own request', { kind: 'own-request', press: 'deny', operation }],
  ['cancelling another’s request', { kind: 'not-requester', press: 'cancel', operation }],
  ['retrying another’s request', { kind: 'not-requester', press: 'retry', operation }],
  ['retried before', { kind: 'already-retried', operation }],
  ['a retry without its value', { kind: 'not-now', why: 'value-gone', operation: inState('failed') }],
  ['a retry in another state', { kind: 'not-now', why: 'state', operation: inState('succeeded') }],
  ['decided before', { kind: 'already', operation: inState('denied', { word: 'denied', reason: 'Needed' }) }],
  ['expired', { kind: 'expired', operation: inState('expired') }],
  ['not allowed', { kind: 'not-allowed', decision, operation }],
  ...reasons.map((why): [string, Answer] => [
    `void: ${why}`,
    { kind: 'void', why, operation: inState('failed') },
  ]),
])('the answer to a press: %s', (_, answer) => {
  const rendered = renderAnswer(answer);
  expect(readStable(rendered)).toMatchSnapshot('words');
  const ids = [...JSON.stringify(rendered.blocks).matchAll(/"action_id":"([^"]+)"/g)].map(([, id]) => id);
  expect(ids).toMatchSnapshot('buttons');
});

test.each<OperationOutcome>([
  { word: 'nothing-deleted' },
  { word: 'not-detached', status: 400, requestId: 'cdn-1' },
  { word: 'key-refused', status: 401 },
  { word: 'key-refused', status: 403, facts: { says: 'No right to volumes' } },
  { word: 'rate-limited', status: 429 },
  { word: 'not-sent' },
  { word: 'process-died' },
  { word: 'requester-gone' },
  { word: 'app-gone' },
  { word: 'taken-back' },
  { word: 'expired' },
  { word: 'done' },
  { word: 'done', instances: ['data-1', 'data-2'], requestId: 'cdn-2' },
  { word: 'not-found', status: 404 },
  { word: 'refused', status: 422, facts: { says: 'The volume is <locked>.', reference: 'REF123' } },
  { word: 'unanswered', status: 502 },
  { word: 'unanswered', status: 500, facts: { says: 'The volume service is <down>' } },
  { word: 'confirmed' },
])('how a deletion ended: $word', (outcome) => {
  expect(describeOutcome(inState('succeeded', outcome))).toMatchSnapshot();
});

const variable = {
  kind: 'variable-update',
  scriptId: '301',
  variableId: '12',
  required: true,
  setsValue: true,
} as const;
const valueOnly = { ...variable, required: undefined };

test.each<[string, typeof variable | typeof valueOnly, OperationOutcome]>([
  ['as asked', variable, { word: 'done', facts: { name: 'FEATURE_X', required: true } }],
  ['not reported', variable, { word: 'done', facts: {} }],
  ['value only', valueOnly, { word: 'done', facts: { name: 'FEATURE_X', required: false } }],
  [
    'other value',
    valueOnly,
    { word: 'differs', facts: { name: 'F<X>', required: true, otherValue: true, otherRule: false } },
  ],
  [
    'other rule',
    variable,
    { word: 'differs', facts: { name: 'FEATURE_X', required: false, otherRule: true } },
  ],
  [
    'refused in a field',
    variable,
    {
      word: 'refused',
      status: 400,
      facts: { says: 'Validation failed' },
      fields: [{ field: 'DefaultValue', message: 'At most 2048 <bytes>.' }, { message: 'Validation failed' }],
    },
  ],
])('how a change ended: %s', (_, request, outcome) => {
  const ended = { ...inState('succeeded', outcome), kind: request.kind, request };
  expect([describeRequest(ended), describeOutcome(ended)]).toMatchSnapshot();
});
