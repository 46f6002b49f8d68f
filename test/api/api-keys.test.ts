import { expect, test } from 'vitest';
import { makePage, startStubCdn } from './stub-cdn.ts';

test('keys come with id, roles and the last four characters, and never whole', async () => {
  const cdn = await startStubCdn(() =>
    makePage([
      { Id: 77, Key: 'CANARY-0123456789-abcd', Roles: ['User', 'UserApi'], Secret: 'CANARY' },
      { Id: 78, Key: 'short', Roles: null },
      { Id: 79, Key: null, Roles: ['ScopedApiKey', 7] },
      { Id: 80, Key: ['CANARY'], Roles: 'User' },
      { Id: 81, Key: null, Roles: [null, 7] },
      null,
    ]),
  );
  const found = await cdn.client().apiKeys.list();
  expect(found).toEqual({
    keys: [
      { id: '77', roles: ['User', 'UserApi'], isOwn: false, tail: 'abcd' },
      { id: '78', roles: undefined, isOwn: false },
      { id: '79', roles: ['ScopedApiKey'], isOwn: undefined },
      { id: '80', roles: undefined, isOwn: undefined },
      { id: '81', roles: undefined, isOwn: undefined },
    ],
    skipped: 1,
  });
  expect(JSON.stringify(found)).not.toContain('CANARY');
  expect(cdn.requests.map(({ path, query }) => [path, query])).toEqual([
    ['/apikey', { page: '1', perPage: '1000' }],
  ]);
});

test('keys that the service counts and does not send are missing ones', async () => {
  const cdn = await startStubCdn(() => makePage([{ Id: 77, Key: null, Roles: null }], { total: 4 }));
  const { keys, skipped } = await cdn.client().apiKeys.list();
  expect([keys.length, skipped]).toEqual([1, 3]);
});
