import { expect, test } from 'vitest';
import { openCdn } from './raw-client.ts';

const seven = Array.from({ length: 7 }, (_, index) => ({
  Id: index + 1,
  Key: `CANARY-${index}`,
  Roles: ['UserApi'],
}));

test('the list is always an envelope, with keys in plain text and roles', async () => {
  await using world = await openCdn({ zones: 0 });
  expect((await world.main('/apikey')).json()).toEqual({
    Items: world.cdn.data.apiKeys,
    CurrentPage: 1,
    TotalItems: 5,
    HasMoreItems: false,
  });
  expect(world.cdn.data.apiKeys[0]).toEqual({ Id: 77, Key: world.cdn.key, Roles: ['User', 'UserApi'] });
});

test('pages of five, the smallest there are, go on until nothing is left', async () => {
  await using world = await openCdn({ zones: 0, data: { apiKeys: seven } });
  const first = await world.main('/apikey?page=1&perPage=2');
  expect(first.json()).toEqual({
    Items: seven.slice(0, 5),
    CurrentPage: 1,
    TotalItems: 7,
    HasMoreItems: true,
  });
  const second = await world.main('/apikey?page=2&perPage=2');
  expect(second.json()).toEqual({
    Items: seven.slice(5),
    CurrentPage: 2,
    TotalItems: 7,
    HasMoreItems: false,
  });
});

test.each(['page=0', 'page=-1', 'page=2147483648', 'page=x', 'perPage=1001'])(
  '%s is refused with 400',
  async (query) => {
    await using world = await openCdn({ zones: 0 });
    const answer = await world.main(`/apikey?${query}`);
    expect(answer.status).toBe(400);
    expect(answer.json()).toMatchObject({ ErrorKey: 'validation_error' });
  },
);
