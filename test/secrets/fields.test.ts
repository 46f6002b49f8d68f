import { expect, test } from 'vitest';
import { zoneMembers } from '../../src/api/zones/members.ts';
import { isSecretField, secretShapes, zoneSecretFields } from '../../src/secrets/fields.ts';

test('the list of secret zone fields is the one that the zone model hides', () => {
  const hidden = zoneMembers.flatMap(([name, , , format]) => (format === 'secret' ? [name] : []));
  expect([...zoneSecretFields].sort()).toEqual(hidden.sort());
});

const secretNames = `ZoneSecurityKey zone_security_key AWSSigningKey AWSSigningSecret LogForwardingToken Certificate
  CertificateKey certificates bot_token client_secret password AccessKey apiKey signingKey private_key
  X-Slack-Signature signature response_url response_urls trigger_id private_metadata initial_value DefaultValue
  databaseUrl connectionString Authorization Proxy-Authorization key Cookie set-cookie passphrase ticket`;

test.each(secretNames.split(/\s+/u))('a member named %s carries a secret', (name) =>
  expect(isSecretField(name, 'value')).toBe(true),
);

test.each(['name', 'keyIds', 'seq', 'channel'])('a member named %s does not', (name) =>
  expect(isSecretField(name, 'value')).toBe(false),
);

test('a flag or nothing is no secret; what was typed into a form is, and a state that is a word is not', () => {
  for (const value of [undefined, null, true]) expect(isSecretField('token', value)).toBe(false);
  for (const name of ['state', 'values']) {
    expect(isSecretField(name, { typed: 'x' })).toBe(true);
    expect(isSecretField(name, 'approved')).toBe(false);
  }
});

const shape = new RegExp(secretShapes.join('|'), 'iu');
const id = '0b1c2d3e-1111-2222-3333-444455556666';

test.each([
  ['xoxb-1-a', 'xoxb-1-a'],
  ['to xoxe.xoxb-1-a.', 'xoxe.xoxb-1-a'],
  ['xapp-1-A', 'xapp-1-A'],
  [`${id}77778888-9999-aaaa-bbbb-ccccddddeeee`, `${id}77778888-9999-aaaa-bbbb-ccccddddeeee`],
  ['0B1C2D3E-1111-2222-333344445555-6666-7777', '0B1C2D3E-1111-2222-333344445555-6666-7777'],
  [id, undefined],
  ['foxb-1-a', undefined],
])('of %s the shape of a secret is %s', (text, found) => {
  expect(shape.exec(text)?.[0]).toBe(found);
});
