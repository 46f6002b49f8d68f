import { expect, test } from 'vitest';
import { volumePath } from '../../src/api/apps.ts';
import { UserError } from '../../src/errors.ts';
import { expectApiError, sendBody, startStubCdn } from './stub-cdn.ts';

test.each([
  ['the ids of what was deleted', { ids: ['vi-1', 'vi-2'] }, ['vi-1', 'vi-2']],
  ['an empty list where there was nothing', { ids: [] }, []],
  ['undefined where the service does not say', { ids: null }, undefined],
  ['undefined for an empty object', {}, undefined],
])('the answer is %s', async (_, body, ids) => {
  const cdn = await startStubCdn(() => body);
  expect(await cdn.client().volumes.deleteAll(volumePath('app0api00000001', 'my-data-volume'))).toEqual({
    ids,
  });
  expect(cdn.requests).toMatchObject([
    { method: 'DELETE', path: '/mc/apps/app0api00000001/volumes/my-data-volume', body: '' },
  ]);
});

test('an answer without a body is a deletion that was made', async () => {
  const cdn = await startStubCdn((_, response) => void response.writeHead(204).end());
  expect(await cdn.client().volumes.deleteAll(volumePath('a', 'v'))).toEqual({ ids: undefined });
});

test('a web page as the answer leaves open what happened', async () => {
  const cdn = await startStubCdn((_, response) => sendBody(response, 200, '<html>'));
  expect(await expectApiError(cdn.client().volumes.deleteAll(volumePath('a', 'v')))).toMatchObject({
    code: 'unexpected',
    sent: true,
  });
  expect(cdn.requests).toHaveLength(1);
});

test.each([
  [400, 'refused'],
  [401, 'refused'],
  [403, 'refused'],
  [404, 'not_found'],
  [409, 'refused'],
  [500, 'unavailable'],
] as const)('HTTP %i is %s', async (status, code) => {
  const cdn = await startStubCdn((_, response) =>
    sendBody(response, status, { title: 'No', status, detail: 'Because.' }),
  );
  expect(await expectApiError(cdn.client().volumes.deleteAll(volumePath('a', 'v')))).toMatchObject({
    code,
    serviceMessage: 'Because.',
  });
});

test.each([
  ['..', 'v'],
  ['a', '..'],
  ['a', ''],
  ['a/../b', 'v'],
  ['a', '%2e%2e'],
])('the ids %j and %j lead nowhere else', (app, volume) => {
  expect(() => volumePath(app, volume)).toThrow(UserError);
});
