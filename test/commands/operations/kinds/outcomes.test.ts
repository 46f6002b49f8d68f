import { expect, test } from 'vitest';
import type { CdnClient } from '../../../../src/api/cdn.ts';
import type { Execution } from '../../../../src/commands/operations/kinds/kind.ts';
import { variableUpdate } from '../../../../src/commands/operations/kinds/variable.ts';
import { volumeDeletion } from '../../../../src/commands/operations/kinds/volume.ts';
import { Secret } from '../../../../src/secrets/secret.ts';
import { olivia } from '../ledger-harness.ts';

type Answered = Partial<Omit<Awaited<ReturnType<CdnClient['variables']['update']>>, 'defaultValue'>> & {
  readonly defaultValue?: string;
};

/** How a change of variable 12 ends that the CDN answers so. */
function send(
  { defaultValue, ...answer }: Answered,
  { value, body = '{}', targetName }: { value?: string; body?: string; targetName?: string },
) {
  const variables = {
    update: async () => ({
      ...answer,
      ...(defaultValue === undefined ? {} : { defaultValue: new Secret(defaultValue) }),
    }),
  };
  return variableUpdate.send({
    path: '/compute/script/301/variables/12',
    body,
    value: value === undefined ? undefined : new Secret(value),
    targetName,
    requester: olivia,
    approvedBy: [],
    policyVersion: 1,
    cdn: () => ({ variables }) as unknown as CdnClient,
    policies: { save: () => Promise.reject(new Error('unused')), version: async () => undefined },
  });
}

const set = { value: 'on' };
const rule = { body: '{"Required":true}' };
const whole = { id: '12', name: 'FEATURE_X', required: false, defaultValue: 'on' };
const { id: _, ...withoutId } = whole;
const { name: __, ...withoutName } = whole;

test.each<[told: string, answer: Answered, asked: Parameters<typeof send>[1], word: string]>([
  ['the variable as asked for', whole, set, 'done'],
  ['the variable by the name it had before', whole, { ...set, targetName: 'FEATURE_X' }, 'done'],
  ['nothing', {}, set, 'unconfirmed'],
  ['no id', withoutId, set, 'unconfirmed'],
  ['no name', withoutName, set, 'unconfirmed'],
  ['another name than before', whole, { ...set, targetName: 'OTHER' }, 'unconfirmed'],
  ['no value', { id: '12', name: 'FEATURE_X' }, set, 'unconfirmed'],
  ['another value', { ...whole, defaultValue: 'off' }, set, 'differs'],
  ['another id', { ...whole, id: '13' }, set, 'differs'],
  ['the rule', { id: '12', name: 'FEATURE_X', required: true }, rule, 'done'],
  ['no rule', { id: '12', name: 'FEATURE_X' }, rule, 'unconfirmed'],
  ['another rule', { id: '12', name: 'FEATURE_X', required: false }, rule, 'differs'],
])('an answer that tells %s', async (_, answer, asked, word) => {
  const { state, outcome } = await send(answer, asked);
  expect([outcome.word, state]).toEqual([word, word === 'differs' ? 'unknown' : 'succeeded']);
});

test.each([
  ['no list of instances', undefined, 'unknown', 'unconfirmed'],
  ['no instance', [], 'failed', 'nothing-deleted'],
  ['an instance', ['i-1'], 'succeeded', 'done'],
])('a deletion whose answer has %s', async (_, ids, state, word) => {
  const volumes = { deleteAll: async () => ({ ids, requestId: undefined }) };
  const cdn = () => ({ volumes }) as unknown as CdnClient;
  const execution = { path: '/mc/apps/a/volumes/b', body: null, value: undefined, cdn };
  const settled = await volumeDeletion.send(execution as unknown as Execution);
  expect([settled.state, settled.outcome.word]).toEqual([state, word]);
});

test('the name of another variable is not kept as the name of this one', async () => {
  const { outcome } = await send({ ...whole, id: '13' }, set);
  expect(outcome.facts?.['name']).toBeUndefined();
});
