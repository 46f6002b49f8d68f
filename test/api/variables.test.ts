import { inspect } from 'node:util';
import { expect, test } from 'vitest';
import { variableBody, variablePath } from '../../src/api/variables.ts';
import { UserError } from '../../src/errors.ts';
import { Secret } from '../../src/secrets/secret.ts';
import { expectApiError, sendBody, startStubCdn } from './stub-cdn.ts';

test('only what changes is sent', async () => {
  const cdn = await startStubCdn(() => ({
    Id: 12,
    Name: 'FEATURE_X',
    Required: true,
    DefaultValue: 'CANARY',
  }));
  const { variables } = cdn.client();
  await variables.update(variablePath('301', '12'), variableBody({ required: true }));
  await variables.update(variablePath('301', '12'), variableBody({ value: new Secret('') }), new Secret(''));
  await variables.update(
    variablePath('301', '12'),
    variableBody({ value: new Secret('a "quoted" é'), required: false }),
    new Secret('a "quoted" é'),
  );
  expect(cdn.requests.map(({ method, path, body }) => [method, path, JSON.parse(body)])).toEqual([
    ['POST', '/compute/script/301/variables/12', { Required: true }],
    ['POST', '/compute/script/301/variables/12', { DefaultValue: '' }],
    ['POST', '/compute/script/301/variables/12', { DefaultValue: 'a "quoted" é', Required: false }],
  ]);
  // Where no value goes along, the body is sent as it was sealed.
  expect(cdn.requests[0]?.body).toBe(variableBody({ required: true }));
  expect(cdn.requests[0]?.headers['content-type']).toBe('application/json');
});

test('the value comes back as a secret', async () => {
  const cdn = await startStubCdn(() => ({
    Id: 12,
    Name: 'FEATURE_X',
    Required: null,
    DefaultValue: 'CANARY',
  }));
  const variable = await cdn
    .client()
    .variables.update(variablePath('301', '12'), variableBody({ required: true }));
  expect(variable.defaultValue?.reveal()).toBe('CANARY');
  expect(JSON.stringify(variable) + inspect(variable)).not.toContain('CANARY');
  expect(variable).toMatchObject({ name: 'FEATURE_X' });
  expect(variable).not.toHaveProperty('required');
});

test('zeros before an id are no part of it', () => {
  expect(variablePath('0301', '0012')).toBe(variablePath('301', '12'));
});

test('an answer without a body is a change that was made', async () => {
  const cdn = await startStubCdn((_, response) => void response.writeHead(204).end());
  expect(
    await cdn.client().variables.update(variablePath('301', '12'), variableBody({ required: true })),
  ).toEqual({});
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

test('an unknown variable is not found, in the service’s words', async () => {
  const cdn = await startStubCdn((_, response) =>
    sendBody(response, 404, { ErrorKey: 'not_found', Field: null, Message: 'Script not found' }),
  );
  const error = await expectApiError(
    cdn.client().variables.update(variablePath('301', '12'), variableBody({ required: true })),
  );
  expect(error).toMatchObject({
    code: 'not_found',
    serviceMessage: 'Script not found',
    errorKey: 'not_found',
  });
});
