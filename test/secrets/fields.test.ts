import { expect, test } from 'vitest';
import { zoneMembers } from '../../src/api/zones/members.ts';
import { isSecretField, zoneSecretFields } from '../../src/secrets/fields.ts';

test('the list of secret zone fields is the one that the zone model hides', () => {
  const hidden = zoneMembers.flatMap(([name, , , format]) => (format === 'secret' ? [name] : []));
  expect([...zoneSecretFields].sort()).toEqual(hidden.sort());
});

test.each([
  'ZoneSecurityKey',
  'zone_security_key',
  'bot_token',
  'X-Slack-Signature',
  'accessKey',
  'password',
])('a member named %s carries a secret', (name) => expect(isSecretField(name, 'value')).toBe(true));

test.each(['name', 'keyIds', 'seq', 'channel'])('a member named %s does not', (name) =>
  expect(isSecretField(name, 'value')).toBe(false),
);
