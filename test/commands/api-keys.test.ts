import { expect, test } from 'vitest';
import { personKey } from '../../src/auth/identity.ts';
import { Secret } from '../../src/secrets/secret.ts';
import { findMarks } from '../support/canary/markers.ts';
import { alice, createCommandHarness, readText } from '../support/command-harness.ts';
import { readStable } from '../support/words.ts';

test('keys come with id, masked tail and roles as the CDN names them, the reader’s own first', async () => {
  await using harness = await createCommandHarness({ zones: 3 });
  harness.cdn.data.apiKeys.reverse();
  const [answer] = await harness.person().run('keys');
  expect(answer?.text).toMatchSnapshot('in short');
  expect(readStable(answer, { tail: harness.cdn.key.slice(-4) })).toMatchSnapshot('answer');
  expect(findMarks(JSON.stringify(answer), [harness.cdn.key, harness.cdn.restrictedKey])).toEqual([]);
});

test('a restricted key is told that only this is closed to it', async () => {
  await using harness = await createCommandHarness({ zones: 3 });
  const person = harness.person();
  harness.linked.set(personKey(alice), new Secret(harness.cdn.restrictedKey));
  const refusal = person.run('keys');
  await expect(refusal).rejects.toMatchObject({ offer: 'connect' });
  await expect(refusal).rejects.toThrowErrorMatchingSnapshot();
});

test('a key that was deleted is told so, not called restricted', async () => {
  await using harness = await createCommandHarness({ zones: 3 });
  const person = harness.person();
  harness.linked.set(personKey(alice), new Secret('deleted-key-0123456789'));
  await expect(person.run('keys')).rejects.toMatchObject({
    code: 'key_refused',
    operation: expect.stringMatching(/Pull Zones$/),
  });
});

test.each([0, 1, 60, 2500])('%d keys fit into one message', async (many) => {
  await using harness = await createCommandHarness({ zones: 3 });
  const roles = Array.from({ length: 12 }, (_, index) => `&<${index}`);
  harness.cdn.data.apiKeys.length = 0;
  for (let id = 1; id <= many; id += 1) harness.cdn.data.apiKeys.push({ Id: id, Key: null, Roles: roles });
  const [answer] = await harness.person().run('keys');
  expect(answer?.text).toMatchSnapshot();
  expect(readText(answer).match(/^• /gmu) ?? []).toHaveLength(Math.min(many, 5));
  expect(answer?.files?.length ?? 0).toBe(many > 5 ? 1 : 0);
  const content = answer?.files?.[0]?.content;
  const lines = content instanceof Uint8Array ? new TextDecoder().decode(content).trim().split('\n') : [];
  expect(lines).toHaveLength(many > 5 ? many + 1 : 0);
});

test.each([
  ['the key of another is not reported', { Id: 7, Key: null }, 'the CDN does not say which is yours'],
  ['one cannot be read', { Id: 'x', Key: 'k' }, 'the CDN does not say which is yours'],
  ['all are those of others', { Id: 7, Key: 'k' }, 'yours is not among them'],
])('where %s, yours is missing only for certain', async (_, other, expected) => {
  await using harness = await createCommandHarness({ zones: 3 });
  const keys = [{ Id: 1, Key: 'of somebody else', Roles: [] }, { Roles: [], ...other } as never];
  harness.cdn.data.apiKeys.splice(0, Infinity, ...keys);
  const [answer] = await harness.person().run('keys');
  expect(answer?.text).toContain(expected);
});

test.each([[null], [[]], [['SubuserAPIPullZones', 'Brand<New>Role']]])(
  'the roles %j are shown as they came',
  async (roles) => {
    await using harness = await createCommandHarness({ zones: 3 });
    harness.cdn.data.apiKeys.splice(0, Infinity, { Id: 7, Key: null, Roles: roles as string[] });
    const [answer] = await harness.person().run('keys');
    expect(readText(answer).split('\n')[1]).toMatchSnapshot();
  },
);
