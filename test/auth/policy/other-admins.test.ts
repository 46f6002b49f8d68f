import { expect, test } from 'vitest';
import type { MissingScope, People, Profile } from '../../../src/auth/identity.ts';
import { findOtherAdmins, RolesUnknown } from '../../../src/auth/policy/authorizer.ts';

const member: Profile = { admin: false, foreign: false, deleted: false, timeZone: undefined };

/** Slack as the look-up finds it; ids without a profile are nobody's. */
function peopleWith(
  profiles: Record<string, Partial<Profile>>,
  configuredAdmins: readonly string[] = [],
  missing: readonly MissingScope[] = [],
): People & { readonly read: string[] } {
  const read: string[] = [];
  return {
    read,
    configuredAdmins,
    profile: async (id, options) => {
      if (options?.fresh) read.push(id);
      return profiles[id] && { ...member, ...profiles[id] };
    },
    members: async () => [],
    groups: async () => [],
    forget: () => undefined,
    missingScopes: () => missing,
  };
}

test('those are admins whom the configuration or a profile of now says so, never the author', async () => {
  const people = peopleWith({ U1: { admin: true }, U2: { admin: true }, U3: {}, U4: {} }, ['U4']);
  expect(await findOtherAdmins(people, ['U1', 'U2', 'U3'], 'U1')).toEqual(['U4', 'U2']);
  expect(people.read).toEqual(['U4', 'U2', 'U3']);
});

test('deactivated people, those of other organisations and mistyped ids are none', async () => {
  const people = peopleWith({ U1: { deleted: true }, U2: { foreign: true } }, ['U1', 'U2', 'U9']);
  expect(await findOtherAdmins(people, [], 'U5')).toEqual([]);
});

test('where Slack gives no profiles at all the configured ones are', async () => {
  const missing = [{ lookup: 'admins', reason: 'missing_scope', lasting: true }] as const;
  expect(await findOtherAdmins(peopleWith({}, ['U1'], missing), ['U2'], 'U5')).toEqual(['U1']);
});

test('where Slack does not answer it is unknown, unless another admin is found', async () => {
  const silent = { unread: true } as const;
  await expect(findOtherAdmins(peopleWith({ U1: silent }, ['U1']), [], 'U5')).rejects.toThrow(RolesUnknown);
  const people = peopleWith({ U1: silent, U2: { admin: true } });
  expect(await findOtherAdmins(people, ['U1', 'U2'], 'U5')).toEqual(['U2']);
});

test('a large workspace costs a bounded number of profiles', async () => {
  const people = peopleWith({});
  await findOtherAdmins(
    people,
    Array.from({ length: 500 }, (_, index) => `U${index}`),
    'U',
  );
  expect(people.read).toHaveLength(40);
});
