import { expect, test } from 'vitest';
import type { MissingScope, People, Profile } from '../../../src/auth/identity.ts';
import {
  computeQuorum,
  findApproverCandidates,
  findOtherAdmins,
  RolesUnknown,
} from '../../../src/auth/policy/authorizer.ts';
import { initialPolicy } from '../../../src/auth/policy/policy.ts';

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

const others = (count: number) => Array.from({ length: count }, (_, index) => `U1${index}`);
const profilesOf = (ids: readonly string[]) => Object.fromEntries(ids.map((id) => [id, {}]));

test('an admin behind a hundred others is found, and nobody after them is read', async () => {
  const ids = [...others(100), 'U2ADMIN', ...others(300).slice(100)];
  const people = peopleWith({ ...profilesOf(ids), U2ADMIN: { admin: true } });
  expect(await findOtherAdmins(people, ids, 'U')).toEqual(['U2ADMIN']);
  expect(people.read).toHaveLength(120);
});

test('where Slack stops to answer before an admin is found it is unknown, and it is not asked on', async () => {
  const ids = others(300);
  const people = peopleWith({ ...profilesOf(ids), [ids[45] ?? '']: { unread: true } });
  await expect(findOtherAdmins(people, ids, 'U')).rejects.toThrow(RolesUnknown);
  expect(people.read).toHaveLength(80);
});

test('where all others were read and none is an admin there is none; with more than are read it is unknown', async () => {
  const people = peopleWith(profilesOf(others(401)));
  expect(await findOtherAdmins(people, others(400), 'U')).toEqual([]);
  await expect(findOtherAdmins(people, others(401), 'U')).rejects.toThrow(RolesUnknown);
  expect(people.read).toHaveLength(800);
});

const needsTwo = { ...initialPolicy, approverGroups: ['S1'], destroyApprovals: 2 };

function peopleOfGroup(profiles: Record<string, Partial<Profile>>, members: readonly string[]): People {
  return { ...peopleWith(profiles), members: async () => members };
}

test('approvers behind a hundred who are gone are found', async () => {
  const ids = [...others(100), 'U2A', 'U2B'];
  const gone = Object.fromEntries(others(100).map((id) => [id, { deleted: true }]));
  const candidates = await findApproverCandidates(
    peopleOfGroup({ ...gone, U2A: {}, U2B: {} }, ids),
    needsTwo,
  );
  expect(computeQuorum(needsTwo, 'destroy', candidates, 'U').able).toEqual(['U2A', 'U2B']);
});

test('an approver whom Slack does not tell of is neither able nor missing', async () => {
  const ask = (known: Record<string, Partial<Profile>>, ids: readonly string[]) =>
    findApproverCandidates(peopleOfGroup(known, ids), needsTwo);
  const unread = { unread: true } as const;
  const few = await ask({ U1: {}, U2: unread }, ['U1', 'U2']);
  expect(() => computeQuorum(needsTwo, 'destroy', few, 'U')).toThrow(RolesUnknown);
  const enough = await ask({ U1: {}, U2: unread, U3: {} }, ['U1', 'U2', 'U3']);
  expect(computeQuorum(needsTwo, 'destroy', enough, 'U').able).toEqual(['U1', 'U3']);
});
