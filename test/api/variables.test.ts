import { inspect } from 'node:util';
import { expect, test } from 'vitest';
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
  await variables.update('301', '12', { required: true });
  await variables.update('301', '12', { defaultValue: new Secret('') });
  await variables.update('301', '12', { defaultValue: new Secret('a "quoted" é'), required: false });
  expect(cdn.requests.map(({ method, path, body }) => [method, path, JSON.parse(body)])).toEqual([
    ['POST', '/compute/script/301/variables/12', { Required: true }],
    ['POST', '/compute/script/301/variables/12', { DefaultValue: '' }],
    ['POST', '/compute/script/301/variables/12', { DefaultValue: 'a "quoted" é', Required: false }],
  ]);
  expect(cdn.requests[0]?.headers['content-type']).toBe('application/json');
});

test('the value comes back as a secret', async () => {
  const cdn = await startStubCdn(() => ({
    Id: 12,
    Name: 'FEATURE_X',
    Required: null,
    DefaultValue: 'CANARY',
  }));
  const variable = await cdn.client().variables.update('301', '12', { required: true });
  expect(variable.defaultValue?.reveal()).toBe('CANARY');
  expect(JSON.stringify(variable) + inspect(variable)).not.toContain('CANARY');
  expect(variable).toMatchObject({ id: '12', name: 'FEATURE_X' });
  expect(variable).not.toHaveProperty('required');
});

test('an answer without a body is a change that was made', async () => {
  const cdn = await startStubCdn((_, response) => void response.writeHead(204).end());
  expect(await cdn.client().variables.update('301', '12', { required: true })).toEqual({ id: '12' });
});

test.each([
  ['no digits', 'abc', '12', { required: true }, 'This is not a script id.'],
  ['a path', '301', '../12', { required: true }, 'This is not a variable id.'],
  ['nothing to change', '301', '12', {}, 'Nothing would change.'],
  [
    'a value too long',
    '301',
    '12',
    { defaultValue: new Secret('x'.repeat(4097)) },
    'The value has 4097 characters.',
  ],
])('%s is refused before anything is sent', async (_, script, variable, change, message) => {
  const cdn = await startStubCdn(() => ({}));
  await expect(cdn.client().variables.update(script, variable, change)).rejects.toThrow(message);
  await expect(cdn.client().variables.update(script, variable, change)).rejects.toThrow(UserError);
  expect(cdn.requests).toEqual([]);
});

test('an unknown variable is not found, in the service’s words', async () => {
  const cdn = await startStubCdn((_, response) =>
    sendBody(response, 404, { ErrorKey: 'not_found', Field: null, Message: 'Script not found' }),
  );
  const error = await expectApiError(cdn.client().variables.update('301', '12', { required: true }));
  expect(error).toMatchObject({
    code: 'not_found',
    serviceMessage: 'Script not found',
    errorKey: 'not_found',
  });
});
