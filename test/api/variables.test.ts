import { inspect } from 'node:util';
import { expect, test } from 'vitest';
import { variableBody, variablePath } from '../../src/api/variables.ts';
import { UserError } from '../../src/errors.ts';
import { Secret } from '../../src/secrets/secret.ts';
import { answerAlways } from './stub-cdn.ts';

const path = variablePath('301', '0012');
const answer = { Id: 12, Name: 'FEATURE_X', Required: null, DefaultValue: 'CANARY' };

test('only what changes is sent, and zeros before an id are no part of it', async () => {
  const cdn = await answerAlways(200, answer);
  const { variables } = cdn.client();
  const [none, text] = ['', 'a "quoted" é'].map((value) => new Secret(value));
  await variables.update(path, variableBody({ required: true }));
  await variables.update(path, variableBody({ value: none }), none);
  await variables.update(path, variableBody({ value: text, required: false }), text);
  expect(cdn.requests.map(({ method, path, body }) => [method, path, JSON.parse(body)])).toEqual([
    ['POST', '/compute/script/301/variables/12', { Required: true }],
    ['POST', '/compute/script/301/variables/12', { DefaultValue: '' }],
    ['POST', '/compute/script/301/variables/12', { DefaultValue: 'a "quoted" é', Required: false }],
  ]);
  // Where no value goes along, the body is sent as it was sealed.
  expect(cdn.requests[0]?.body).toBe(variableBody({ required: true }));
  expect(cdn.requests[0]?.headers['content-type']).toBe('application/json');
});

const update = async (status: number, body: unknown) =>
  (await answerAlways(status, body)).client().variables.update(path, variableBody({ required: true }));

test('the value comes back as a secret; an answer without a body is a change that was made', async () => {
  const variable = await update(200, answer);
  expect(variable.defaultValue?.reveal()).toBe('CANARY');
  expect(JSON.stringify(variable) + inspect(variable)).not.toContain('CANARY');
  expect(variable).toMatchObject({ name: 'FEATURE_X' });
  expect(variable).not.toHaveProperty('required');
  expect(await update(204, '')).toEqual({});
});

test.each([
  ['a long value in a message', { message: `${'x'.repeat(10)} is not ${'Canary7 '.repeat(100)}` }],
  ['a value with spaces in a part', { failed: [{ was: 'Canary7 '.repeat(100) }] }],
  ['a value that was there before', { failed: { DefaultValue: 'Canary7 of before' } }],
])('words of a failure hold no value: %s', async (_, words) => {
  const cdn = await answerAlways(200, { ...answer, ...words });
  const value = new Secret('Canary7 '.repeat(100));
  const failure = await cdn
    .client()
    .variables.update(path, variableBody({ value }), value)
    .catch((error: unknown) => error);
  expect(failure).toMatchObject({ code: 'refused', serviceMessage: expect.any(String) });
  expect(inspect(failure)).not.toContain('Canary7');
});

test.each([
  ['no digits', 'abc', '12', { required: true }, 'This is not a script ID.'],
  ['a path', '301', '../12', { required: true }, 'This is not a variable ID.'],
  ['nothing to change', '301', '12', {}, 'Nothing would change.'],
  [
    'a value too long',
    '301',
    '12',
    { value: new Secret('x'.repeat(4097)) },
    'The value has 4097 characters.',
  ],
])('%s is refused before there is anything to send', (_, script, variable, change, message) => {
  const write = (): string[] => [variablePath(script, variable), variableBody(change)];
  expect(write).toThrow(message);
  expect(write).toThrow(UserError);
});
