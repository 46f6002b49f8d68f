import { expect, test } from 'vitest';
import type { Kind, OperationOutcome } from '../../../src/commands/operations/kinds/kind.ts';
import { type VariableRequest, variableUpdate } from '../../../src/commands/operations/kinds/variable.ts';
import { volumeDeletion } from '../../../src/commands/operations/kinds/volume.ts';
import { findTargetName } from '../../../src/commands/operations/model.ts';
import type { Json } from '../../../src/lib/canonical-json.ts';
import { renderAnswer, type ShownAnswer } from '../../../src/views/operations/approvals.ts';
import {
  describeOutcome,
  describeState,
  type ShownOperation,
  type VoidReason,
  voidReasons,
} from '../../../src/views/operations/describe.ts';
import { readStable } from '../../support/words.ts';

const at = new Date('2026-11-22T10:00:00Z');

/** An operation of a kind, with the words that the kind has for it. */
function show<Request>(
  kind: Kind<Request>,
  request: Request,
  state: ShownOperation['state'],
  outcome?: OperationOutcome,
  snapshot: Json = null,
): ShownOperation {
  const told = { name: findTargetName(snapshot, outcome), snapshot };
  return {
    id: 'abcdefghijkmnpqr',
    state,
    requester: { userId: 'U0ALICE00' },
    reason: undefined,
    via: undefined,
    words: {
      what: kind.describe(request, told),
      consequences: { text: 'The impact was not stored.' },
      outcome: outcome && kind.describeOutcome?.(outcome, request, told),
      again: kind.again?.(request),
      isDestructive: true,
      labels: undefined,
    },
    keyFingerprint: '1f2e3d4c',
    approvalsNeeded: 2,
    approvals: [{ by: 'U0BOB0000' }],
    createdAt: at,
    expiresAt: at,
    seal: 'f'.repeat(64),
    movedBy: 'U0BOB0000',
    movedAt: at,
    outcome,
  };
}

const deletion = { appId: 'app0api00000001', volumeId: 'data' };
const inState = (state: ShownOperation['state'], outcome?: OperationOutcome): ShownOperation =>
  show(volumeDeletion, deletion, state, outcome);
const operation = inState('proposed');

const reasons = Object.keys(voidReasons) as VoidReason[];

test.each<[string, ShownAnswer]>([
  ['approved by one of two', { kind: 'approved', operation }],
  ['the last approval', { kind: 'approved', operation: inState('approved') }],
  ['approved twice by one person', { kind: 'twice', operation }],
  ['denied', { kind: 'denied', operation: inState('denied') }],
  ['cancelled', { kind: 'cancelled', operation: inState('cancelled') }],
  ['confirmed as done', { kind: 'confirmed', operation: inState('succeeded') }],
  ['confirmed as not done', { kind: 'confirmed', operation: inState('failed') }],
  ['not found', { kind: 'not-found' }],
  ['approving one’s own request', { kind: 'own-request', press: 'approve', operation }],
  ['denying one’s own request', { kind: 'own-request', press: 'deny', operation }],
  ['cancelling another’s request', { kind: 'not-requester', press: 'cancel', operation }],
  ['decided before', { kind: 'already', operation: inState('denied', { word: 'denied', reason: 'Needed' }) }],
  ['expired', { kind: 'expired', operation: inState('expired') }],
  ...reasons.map((why): [string, ShownAnswer] => [
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
  { word: 'unconfirmed' },
  { word: 'done', instances: ['data-1', 'data-2'], requestId: 'cdn-2' },
  { word: 'not-found', status: 404 },
  { word: 'refused', status: 422, facts: { says: 'The volume is <locked>.', reference: 'REF123' } },
  { word: 'unanswered', status: 502 },
  { word: 'unanswered', status: 500, facts: { says: 'The volume service is <down>' } },
  { word: 'confirmed' },
])('how a deletion ended: $word', (outcome) => {
  expect(describeOutcome(inState('succeeded', outcome))).toMatchSnapshot();
});

const variable: VariableRequest = { scriptId: '301', variableId: '12', required: true, setsValue: true };
const valueOnly = { ...variable, required: undefined };

test.each<[string, VariableRequest, OperationOutcome, asked?: Json]>([
  ['another name', variable, { word: 'unconfirmed', facts: { name: 'OTHER' } }, { name: 'FEATURE_X' }],
  ['as asked', variable, { word: 'done', facts: { name: 'FEATURE_X', required: true } }],
  ['not confirmed', variable, { word: 'unconfirmed', facts: {} }],
  ['another variable', valueOnly, { word: 'differs', facts: { otherId: true } }],
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
])('how a change ended: %s', (_, request, outcome, asked) => {
  const ended = show(variableUpdate, request, 'succeeded', outcome, asked);
  expect([ended.words.what, describeState(ended), describeOutcome(ended)]).toMatchSnapshot();
});
