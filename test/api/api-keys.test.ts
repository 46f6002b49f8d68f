import { expect, test } from 'vitest';
import { expectApiError, makePage, sendBody, startStubCdn } from './stub-cdn.ts';

test('keys come with id, roles and the last four characters, and never whole', async () => {
  const cdn = await startStubCdn(() =>
    makePage([
      { Id: 77, Key: 'CANARY-0123456789-abcd', Roles: ['User', 'UserApi'], Secret: 'CANARY' },
      { Id: 78, Key: 'short', Roles: null },
      { Id: 79, Key: null, Roles: ['ScopedApiKey', 7] },
      { Id: 80, Key: ['CANARY'], Roles: 'User' },
      null,
    ]),
  );
  const found = await cdn.client().apiKeys.list();
  expect(found).toEqual({
    keys: [
      { id: '77', roles: ['User', 'UserApi'], isOwn: false, tail: 'abcd' },
      { id: '78', roles: undefined, isOwn: false },
      { id: '79', roles: ['ScopedApiKey'], isOwn: false },
      { id: '80', roles: undefined, isOwn: false },
    ],
    skipped: 1,
  });
  expect(JSON.stringify(found)).not.toContain('CANARY');
  expect(cdn.requests.map(({ path, query }) => [path, query])).toEqual([
    ['/apikey', { page: '1', perPage: '1000' }],
  ]);
});

test('further pages are read', async () => {
  const cdn = await startStubCdn(({ query }) =>
    query['page'] === '1'
      ? makePage([{ Id: 1, Roles: [] }], { total: 2, more: true })
      : makePage([{ Id: 2, Roles: [] }], { page: 2, total: 2 }),
  );
  expect((await cdn.client().apiKeys.list()).keys.map(({ id }) => id)).toEqual(['1', '2']);
});

test('a restricted key is refused', async () => {
  const cdn = await startStubCdn((_, response) => sendBody(response, 401, ''));
  expect(await expectApiError(cdn.client().apiKeys.list())).toMatchObject({
    code: 'key_refused',
    operation: 'List API Keys',
  });
});
