import { describe, expect, test } from 'vitest';
import { createAudit, verifyChain } from '../../../src/auth/audit/audit.ts';
import type { MissingScope, People, Profile } from '../../../src/auth/identity.ts';
import { createKeyStore } from '../../../src/auth/keys/key-store.ts';
import { createSealer } from '../../../src/auth/keys/sealing.ts';
import {
  assertKnown,
  computeQuorum,
  createAuthorizer,
  decidePosting,
  findAdmins,
  findApproverCandidates,
  findOtherAdmins,
  RolesUnknown,
} from '../../../src/auth/policy/authorizer.ts';
import { createPolicies, type Policies } from '../../../src/auth/policy/policies.ts';
import { type Actor, decideApproval, initialPolicy, type Policy } from '../../../src/auth/policy/policy.ts';
import { Secret } from '../../../src/secrets/secret.ts';
import type { Database } from '../../../src/store/database.ts';
import { prepareEngines } from '../../support/engines.ts';
import { createKeyring } from '../keyring/keyrings.ts';

const engines = await prepareEngines();
const { embedded } = engines;
const now = (): Date => new Date('2026-11-21T08:00:00Z');
const person = { teamId: 'T0ACME000', userId: 'U0OLIVIA0' };
const member: Profile = { admin: false, foreign: false, deleted: false, timeZone: undefined };
const unread: Profile = { ...member, unread: true };

/** A linked person in a tenant with these settings. Slack as it is cached, and as a fresh read finds it. */
async function setUp(
  settings: Partial<Policy>,
  slack: {
    readonly foreign?: boolean | undefined;
    readonly isKnownByKey?: true;
    readonly admins?: readonly string[];
    readonly profile?: Profile;
    readonly members?: readonly string[] | undefined;
  } = {},
) {
  const { db } = await embedded.emptyDatabase();
  const audit = createAudit({ db, now });
  const policies = createPolicies({ db, audit, now });
  const keyStore = createKeyStore({ db, sealer: createSealer(await createKeyring()), now, audit });
  await keyStore.link(person, new Secret('key-of-olivia'));
  const policy = { ...initialPolicy, ...settings };
  const save = (next: Policy, base: number) =>
    policies.save({ tenant: person.teamId, base, policy: next, by: 'U0ADMIN00', difference: [] });
  await save(policy, 0);
  const fresh: { profile: Profile; members: readonly string[] | undefined } = {
    profile: slack.profile ?? member,
    members: 'members' in slack ? slack.members : [],
  };
  const cached = { ...fresh };
  const asked: string[] = [];
  const people: People = {
    configuredAdmins: slack.admins ?? [],
    async profile(id, options) {
      asked.push(`profile ${id}`);
      return options?.fresh ? fresh.profile : cached.profile;
    },
    async members(id, options) {
      asked.push(`members ${id}`);
      return options?.fresh ? fresh.members : cached.members;
    },
    groups: async () => [],
    forget: () => undefined,
    missingScopes: () => [],
  };
  const foreign = 'foreign' in slack ? slack.foreign : false;
  const { isKnownByKey } = slack;
  const known = isKnownByKey ? { isKnownByKey } : {};
  const authorizer = createAuthorizer({ person, foreign, ...known, policies, people, keyStore });
  return { authorizer, fresh, asked, policy, save, keyStore };
}

describe('while Slack does not say who people are', () => {
  test('the facts about an approver are unknown, and decide nothing', async () => {
    const { authorizer, policy } = await setUp({ approvers: ['U0BEN0000'] }, { profile: unread });
    const actor = await authorizer.actor({ userId: 'U0BEN0000', fresh: true });
    expect(actor).toMatchObject({ unread: ['admin', 'person'], linked: false });
    expect(() => assertKnown(decideApproval(policy, actor))).toThrow(RolesUnknown);
  });

  test('a requester whom the delivery names as a member may still read, and is not taken for an admin', async () => {
    const { authorizer } = await setUp({}, { profile: unread });
    expect((await authorizer.actor({ fresh: true })).unread).toEqual(['admin']);
    expect((await authorizer.decide('read', undefined)).allowed).toBe(true);
    expect((await authorizer.decide('admin', undefined)).reason).toBe('unknown');
  });

  test('an admin of the configuration is one, but not somebody whose organization is not known', async () => {
    const options = { profile: unread, admins: [person.userId] };
    const { authorizer, asked } = await setUp({}, options);
    expect((await authorizer.decide('admin', undefined)).allowed).toBe(true);
    expect(asked).toEqual([]);
    const byKey = (await setUp({}, { ...options, foreign: undefined, isKnownByKey: true })).authorizer;
    expect((await byKey.decide('admin', undefined)).allowed).toBe(true);
    const elsewhere = (await setUp({}, { ...options, foreign: undefined })).authorizer;
    expect((await elsewhere.decide('admin', undefined)).reason).toBe('unknown');
    expect((await elsewhere.decide('none', undefined)).reason).toBe('unknown');
  });

  test('a key says in a delivery that somebody is a member, but not before something changes', async () => {
    const { authorizer } = await setUp({}, { profile: unread, foreign: undefined, isKnownByKey: true });
    expect((await authorizer.decide('read', undefined)).allowed).toBe(true);
    expect((await authorizer.decide('none', undefined)).allowed).toBe(true);
    expect((await authorizer.decide('none', undefined, { fresh: true })).reason).toBe('unknown');
    expect((await authorizer.decide('admin', undefined)).reason).toBe('unknown');
    const job = await setUp({}, { profile: unread, foreign: undefined });
    expect((await job.authorizer.decide('read', undefined)).reason).toBe('unknown');
    const keyless = await setUp({}, { profile: unread, foreign: undefined, isKnownByKey: true });
    await keyless.keyStore.forget(person);
    expect((await keyless.authorizer.decide('none', undefined)).reason).toBe('unknown');
    const found = { profile: { ...member, foreign: true }, foreign: undefined, isKnownByKey: true } as const;
    expect((await (await setUp({}, found)).authorizer.decide('read', undefined)).reason).toBe('foreign');
  });

  test('a group that cannot be read makes an operator unknown, unless they are named', async () => {
    const byGroup = await setUp({ operatorGroups: ['S1'] }, { members: undefined });
    expect((await byGroup.authorizer.decide('read', undefined)).allowed).toBe(true);
    expect(byGroup.asked).toEqual([]);
    expect((await byGroup.authorizer.decide('change', undefined)).reason).toBe('unknown');
    expect((await byGroup.authorizer.actor()).unread).toEqual(['S1']);
    await expect(decidePosting(byGroup.authorizer, 'export', 'C1')).rejects.toThrow(RolesUnknown);
    const settings = { operatorGroups: ['S1'], operators: [person.userId] };
    const byName = await setUp(settings, { members: undefined });
    expect((await byName.authorizer.decide('change', undefined)).allowed).toBe(true);
    expect(byName.asked).toEqual([]);
  });
});

test('somebody who was taken out of the group after a read cannot export or share a moment later', async () => {
  const { authorizer, fresh } = await setUp({ operatorGroups: ['S1'] }, { members: [person.userId] });
  expect((await authorizer.decide('export', 'C1')).allowed).toBe(true);
  fresh.members = [];
  expect((await authorizer.decide('export', 'C1')).allowed).toBe(true);
  expect((await authorizer.decide('export', 'C1', { fresh: true })).reason).toBe('not-operator');
  expect((await decidePosting(authorizer, 'export', 'C1')).reason).toBe('not-operator');
  expect((await decidePosting(authorizer, 'answer', 'C1')).allowed).toBe(true);
});

test('who decides is read afresh, also about themselves: demoted or deactivated a moment ago', async () => {
  const { authorizer, fresh } = await setUp({}, { profile: { ...member, admin: true } });
  expect(await authorizer.actor()).toMatchObject({ admin: true, deleted: false });
  fresh.profile = { ...member, deleted: true };
  expect((await authorizer.decide('admin', undefined)).allowed).toBe(true);
  expect((await authorizer.decide('admin', undefined, { fresh: true })).allowed).toBe(false);
  expect(await authorizer.actor({ fresh: true })).toMatchObject({ admin: false, deleted: true });
});

test('exports and shared answers go by the settings of now: channels, caps, and the key', async () => {
  const { authorizer, policy, save, keyStore } = await setUp({ operators: [person.userId] });
  const { reason, trace } = await decidePosting(authorizer, 'export', 'C1');
  expect([reason, trace.at(-1)?.rule]).toEqual(['operator', 'destination']);
  expect((await decidePosting(authorizer, 'answer', 'C1')).allowed).toBe(true);
  await save({ ...policy, exportChannels: ['C2'], postChannels: ['C3'] }, 1);
  expect((await decidePosting(authorizer, 'export', 'C1')).reason).toBe('other-channel');
  expect((await decidePosting(authorizer, 'export', undefined)).reason).toBe('other-channel');
  expect((await decidePosting(authorizer, 'export', 'C2')).allowed).toBe(true);
  expect((await decidePosting(authorizer, 'answer', 'C1')).reason).toBe('other-channel');
  expect((await decidePosting(authorizer, 'answer', 'C3')).allowed).toBe(true);
  await save({ ...policy, caps: { C2: 'none' } }, 2);
  expect((await decidePosting(authorizer, 'export', 'C2')).reason).toBe('channel-cap');
  expect((await decidePosting(authorizer, 'answer', 'C2')).reason).toBe('channel-cap');
  await save({ ...policy, operators: [], exportChannels: ['C2'] }, 3);
  expect((await decidePosting(authorizer, 'export', 'C1')).reason).toBe('not-operator');
  await keyStore.forget(person);
  expect((await authorizer.decide('read', undefined)).allowed).toBe(true);
  expect((await decidePosting(authorizer, 'answer', 'C1')).reason).toBe('no-key');
});

test('people of another organization are refused everything, and Slack is asked only where nothing says whose they are', async () => {
  const named = await setUp({ operators: [person.userId] }, { foreign: true });
  for (const right of ['none', 'read', 'export', 'admin'] as const)
    expect((await named.authorizer.decide(right, undefined)).reason).toBe('foreign');
  expect(await named.authorizer.actor()).toMatchObject({ foreign: true, linked: false });
  expect(named.asked).toEqual([]);
  expect((await named.authorizer.actor({ userId: 'U0BEN0000' })).foreign).toBe(false);
  const byProfile = await setUp({}, { foreign: undefined, profile: { ...member, foreign: true } });
  expect((await byProfile.authorizer.decide('none', undefined)).reason).toBe('foreign');
  const here = await setUp({}, { profile: { ...member, foreign: true } });
  expect((await here.authorizer.decide('read', undefined)).allowed).toBe(true);
  expect((await here.authorizer.actor()).foreign).toBe(false);
});

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
    profile: async (id) => {
      read.push(id);
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

test('deactivated people, those of other organizations and mistyped ids are none', async () => {
  // That groups cannot be read says nothing of admins.
  const missing = [{ lookup: 'groups', reason: 'missing_scope', lasting: true }] as const;
  const people = peopleWith({ U1: { deleted: true }, U2: { foreign: true } }, ['U1', 'U2', 'U9'], missing);
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
  await expect(findOtherAdmins(people, others(401), 'U')).rejects.toMatchObject({
    name: new RolesUnknown().name,
    hint: expect.stringContaining('ADMIN_USER_IDS') as string,
  });
  expect(people.read).toHaveLength(800);
});

const needsTwo = { ...initialPolicy, approverGroups: ['S1'], destroyApprovals: 2 };

function peopleOfGroup(profiles: Record<string, Partial<Profile>>, members: readonly string[]): People {
  return { ...peopleWith(profiles), members: async () => members };
}

test('an approver behind another one and a hundred who are gone is found', async () => {
  const ids = ['U2A', ...others(100), 'U2B'];
  const gone = Object.fromEntries(others(100).map((id) => [id, { deleted: true }]));
  const candidates = await findApproverCandidates(
    peopleOfGroup({ ...gone, U2A: {}, U2B: {} }, ids),
    needsTwo,
  );
  expect(computeQuorum(needsTwo, 'destroy', candidates, 'U').able).toEqual(['U2A', 'U2B']);
});

test.each([
  ['as many can approve as any settings ask for', {}],
  ['Slack does not answer for one', { unread: true } as const],
])('no more approvers are looked up once %s', async (_, first) => {
  const ids = others(60);
  const asked: string[] = [];
  const people = peopleOfGroup({ ...profilesOf(ids), [ids[0] ?? '']: first }, ids);
  const profile: People['profile'] = (id) => {
    asked.push(id);
    return people.profile(id);
  };
  await findApproverCandidates({ ...people, profile }, needsTwo);
  expect(asked).toHaveLength(40);
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

/** Slack knows no more what it knew before. */
const readNoMembers: People['members'] = async (_id, options) => (options?.fresh ? undefined : []);

const approverOf = (userId: string, more: Partial<Actor> = {}): Actor => {
  return { userId, foreign: false, linked: false, admin: false, groups: [], ...more };
};

test.each([
  ['one of three', 1, ['U1', 'U2', 'U3'], 'U4', ['U1', 'U2', 'U3'], true],
  ['the requester does not count', 1, ['U1'], 'U1', [], false],
  ['two of two', 2, ['U1', 'U2'], 'U4', ['U1', 'U2'], true],
  ['two, and the requester is one of them', 2, ['U1', 'U2'], 'U1', ['U2'], false],
  ['three of two', 3, ['U1', 'U2'], 'U4', ['U1', 'U2'], false],
  ['none is needed', 0, [], 'U4', [], true],
  ['nobody is there', 1, [], 'U4', [], false],
  ['the same one twice', 2, ['U1', 'U1'], 'U4', ['U1'], false],
] as const)('a quorum: %s', (_name, needed, candidates, requester, able, reachable) => {
  const approvals = { destroyApprovals: needed, changeApprovals: 9 };
  const rules = { ...initialPolicy, approvers: ['U1', 'U2', 'U3'], ...approvals };
  const actors = candidates.map((id) => approverOf(id));
  expect(computeQuorum(rules, 'destroy', actors, requester)).toEqual({ needed, able, reachable });
});

test('a quorum counts only approvers of the own organization', () => {
  const rules = { ...initialPolicy, approvers: ['U1', 'U2'] };
  const candidates = [
    approverOf('U1', { foreign: true }),
    approverOf('U3', { admin: true }),
    approverOf('U2'),
  ];
  expect(computeQuorum(rules, 'destroy', candidates, 'U4').able).toEqual(['U2']);
});

test('the candidates are named or in a group, without bots and deactivated people, or nobody knows', async () => {
  const rules = { ...initialPolicy, approvers: ['U1', 'U2', 'U4'], approverGroups: ['S1'] };
  const carl = { admin: true, foreign: true };
  const left = { U2: { deleted: true }, U4: { bot: true } } as const;
  const people = peopleOfGroup({ U1: {}, ...left, U3: carl }, ['U3', 'U1', 'U9']);
  expect(await findApproverCandidates(people, rules)).toEqual([
    approverOf('U1', { groups: ['S1'] }),
    approverOf('U3', { ...carl, groups: ['S1'] }),
    approverOf('U9', { groups: ['S1'] }),
  ]);
  const unread = { ...people, members: readNoMembers };
  await expect(findApproverCandidates(unread, rules)).rejects.toThrow(RolesUnknown);
});

const wallClock = (): Date => new Date();
const acme = 'T0ACME000';

function policiesOn({ db }: Database, now = wallClock): Policies {
  return createPolicies({ db, audit: createAudit({ db, now }), now });
}

const naming = (...operators: string[]): Policy => ({ ...initialPolicy, operators });
const change = (tenant: string, base: number, policy: Policy, by = 'U0ALICE00') => ({
  tenant,
  base,
  policy,
  by,
  difference: ['operators: +U0BOB0000'],
});

test('comes back as it was said, and every older version stays', async () => {
  const policies = policiesOn(await embedded.emptyDatabase());
  expect(await policies.current(acme)).toEqual(initialPolicy);
  const first: Policy = {
    ...naming('U0BOB0000'),
    approvalChannel: 'C0OPS0000',
    caps: { C0DEPLOY0: 'read' },
    destroyApprovals: 2,
  };
  await policies.save(change(acme, 0, first));
  await policies.save(change(acme, 1, naming()));
  expect(await policies.current(acme)).toEqual({ ...naming(), version: 2 });
  expect(await policies.current('T0BETA000')).toEqual(initialPolicy);
  expect(await policies.version(acme, 1)).toMatchObject({
    policy: { ...first, version: 1 },
    by: 'U0ALICE00',
  });
  for (const version of [0, 3, -1]) expect(await policies.version(acme, version)).toBeUndefined();
});

test('a version that nobody saw before cannot be built upon', async () => {
  const policies = policiesOn(await embedded.emptyDatabase());
  expect(await policies.save(change(acme, 7, naming('U0EVIL000')))).toEqual({
    saved: false,
    meanwhile: undefined,
  });
  expect(await policies.current(acme)).toEqual(initialPolicy);
});

test('people whom the bot has met are those of this tenant, admins first; a refusal names admins only where they can help', async () => {
  const { db } = await embedded.emptyDatabase();
  const policies = policiesOn({ db } as Database);
  const audit = createAudit({ db, now });
  const keyStore = createKeyStore({ db, sealer: createSealer(await createKeyring()), now, audit });
  for (const [teamId, suffix] of [
    [acme, 'ACME'],
    ['T0BETA000', 'BETA'],
  ] as const) {
    await keyStore.link({ teamId, userId: `U0LINKED${suffix}` }, new Secret('key'));
    for (const actor of ['system', `W0ACTED${suffix}`])
      await audit.record({ tenant: teamId, actor, event: 'denied' });
    const confirmedBy = `U0SECOND${suffix}`;
    await policies.save({ ...change(teamId, 0, naming(), `U0ADMIN${suffix}`), confirmedBy });
  }
  const known = ['U0ADMINACME', 'U0LINKEDACME', 'W0ACTEDACME'];
  expect(await policies.knownPeople(acme)).toEqual(known);
  const [saved] = await audit.recent(acme, 1);
  expect(saved?.detail).toMatchObject({ confirmed: 'confirmed by U0SECONDACME' });

  const people = peopleWith({ U0ADMINACME: { admin: true } });
  const refusedAs = (reason: 'not-admin' | 'no-key', asked = people) =>
    findAdmins({ allowed: false, reason, trace: [] }, { people: asked, policies, person });
  expect(await refusedAs('not-admin')).toEqual(['U0ADMINACME']);
  expect(await refusedAs('no-key')).toEqual([]);
  expect(await refusedAs('not-admin', peopleWith({ U0ADMINACME: unread }))).toEqual([]);
  const failing = { ...people, profile: () => Promise.reject(new Error('a bug')) };
  await expect(refusedAs('not-admin', failing)).rejects.toThrow('a bug');
});

test('is not saved where it cannot be recorded', async () => {
  const { db } = await embedded.emptyDatabase();
  const now = wallClock;
  const audit = { ...createAudit({ db, now }), record: () => Promise.reject(new Error('disk full')) };
  const policies = createPolicies({ db, audit, now });
  await expect(policies.save(change(acme, 0, naming('U0BOB0000')))).rejects.toThrow('disk full');
  expect(await policies.current(acme)).toEqual(initialPolicy);
});

describe.each(engines.both)('on $name', ({ skip, emptyDatabase }) => {
  test.skipIf(skip)('of twenty who save at once one does, and each other hears of whom', async () => {
    const database = await emptyDatabase();
    const [here, there] = [policiesOn(database), policiesOn(database)];
    const outcomes = await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        (index % 2 === 0 ? here : there).save(change(acme, 0, naming(`U${index}`), `U${index}`)),
      ),
    );
    const winners = outcomes.flatMap((outcome) => (outcome.saved ? [outcome.policy] : []));
    expect(winners).toHaveLength(1);
    const told = outcomes.flatMap((outcome) => (outcome.saved ? [] : [outcome.meanwhile?.by]));
    expect(told).toEqual(Array.from({ length: 19 }, () => winners[0]?.operators[0]));
    const recorded = await createAudit({ db: database.db, now: wallClock }).recent(acme, 50);
    expect(recorded).toHaveLength(1);
    expect(await verifyChain(database.db, acme)).toMatchObject({ ok: true, records: 1 });
  });
});

test('settings that cannot be read allow nothing', async () => {
  const database = await embedded.emptyDatabase();
  const row = { tenant: acme, version: 1, body: '{"operators":"everybody"}' };
  await database.db
    .insertInto('policies')
    .values({ ...row, changed_by: 'U0ALICE00', changed_at: new Date() })
    .execute();
  const policies = policiesOn(database);
  await expect(policies.current(acme)).rejects.toThrow(/invalid_type/);
  // What mends them, and what needs no settings, does not read them.
  const keyStore = createKeyStore({ db: database.db, sealer: createSealer(await createKeyring()), now });
  const people = peopleWith({ [person.userId]: { admin: true } });
  const authorizer = createAuthorizer({ person, foreign: false, policies, people, keyStore });
  await expect(authorizer.decide('read', undefined)).rejects.toThrow(/invalid_type/);
  for (const needs of ['none', 'admin'] as const)
    expect((await authorizer.decide(needs, undefined)).allowed).toBe(true);
});
