import { expect, test } from 'vitest';
import { canaryMark } from '../../simulator/cdn/canaries.ts';
import { personKey } from '../../src/auth/identity.ts';
import { Secret } from '../../src/secrets/secret.ts';
import { describeRole } from '../../src/views/api-keys.ts';
import { alice, buttons, createCommandHarness, readText } from '../support/command-harness.ts';

test('keys come with id, masked tail and roles in words, the reader’s own first', async () => {
  await using office = await createCommandHarness({ zones: 3 });
  office.cdn.data.apiKeys.reverse();
  const [answer] = await office.person().run('keys');
  expect(answer?.text).toBe('5 API keys, yours is 77.');
  const tail = office.cdn.key.slice(-4);
  const lines = readText(answer).split('\n');
  expect(lines[1]).toBe(`:point_right: *77* \`…${tail}\` · account, account API · *yours*`);
  expect(lines).toContain('*81* (hidden) · no roles');
  expect(lines.some((line) => line.endsWith('sub-user API: compute, sub-user API: storage'))).toBe(true);
});

test('no key is ever in the answer, not even the reader’s own', async () => {
  await using office = await createCommandHarness({ zones: 3 });
  const answers = await office.person().run('keys');
  const everything = JSON.stringify(answers);
  expect(everything).not.toContain(canaryMark);
  expect(everything).not.toContain(office.cdn.key);
  expect(everything).not.toContain(office.cdn.restrictedKey);
});

test('a restricted key is told that only this is closed to it', async () => {
  await using office = await createCommandHarness({ zones: 3 });
  const person = office.person();
  office.linked.set(personKey(alice), new Secret(office.cdn.restrictedKey));
  await expect(person.run('keys')).rejects.toMatchObject({
    message: 'Your key may not list API keys. It works for zones, so it is a restricted one.',
    offer: 'connect',
  });
});

test('a key that was deleted is told so, not called restricted', async () => {
  await using office = await createCommandHarness({ zones: 3 });
  const person = office.person();
  office.linked.set(personKey(alice), new Secret('deleted-key-0123456789'));
  await expect(person.run('keys')).rejects.toMatchObject({
    code: 'key_refused',
    operation: 'List Pull Zones',
  });
});

test.each([0, 1, 60, 61, 2500])('%d keys fit into one message', async (many) => {
  await using office = await createCommandHarness({ zones: 3 });
  const roles = Array.from({ length: 30 }, (_, index) => `SubuserAPI${'&<'.repeat(20)}${index}`);
  office.cdn.data.apiKeys.length = 0;
  for (let id = 1; id <= many; id += 1) office.cdn.data.apiKeys.push({ Id: id, Key: null, Roles: roles });
  const [answer] = await office.person().run('keys');
  expect(answer?.text).toMatch(many === 0 ? /^no API keys\./ : /yours is not among them\.$/);
  expect(answer?.files?.length ?? 0).toBe(many > 60 ? 1 : 0);
  const content = answer?.files?.[0]?.content;
  const lines = content instanceof Uint8Array ? new TextDecoder().decode(content).trim().split('\n') : [];
  expect(lines).toHaveLength(many > 60 ? many + 1 : 0);
});

test('refreshing takes the list’s place, and sends its file only where it is another one', async () => {
  await using office = await createCommandHarness({ zones: 3 });
  const { apiKeys } = office.cdn.data;
  for (let id = 100; id < 170; id += 1) apiKeys.push({ Id: id, Key: null, Roles: ['User'] });
  const person = office.person();
  const [answer] = await person.run('keys');
  expect(answer?.files).toHaveLength(1);
  const [again] = await person.press(...(buttons(answer).get('Refresh') ?? ['', '']));
  expect(again?.text).toBe(answer?.text);
  expect(again?.files).toBeUndefined();
  apiKeys.pop();
  const [fewer] = await person.press(...(buttons(again).get('Refresh') ?? ['', '']));
  expect(fewer?.text).toBe('74 API keys, yours is 77.');
  expect(fewer?.files).toHaveLength(1);
});

test.each([
  ['User', 'account'],
  ['SubuserAPIPullZones', 'sub-user API: pull zones'],
  ['SubuserDns', 'sub-user: DNS'],
  ['SubuserAPI', 'sub-user API'],
  ['Brand<New>Role', 'Brand&lt;New&gt;Role'],
])('the role %s reads %s', (name, words) => {
  expect(describeRole(name)).toBe(words);
});
