import { describe, expect, test } from 'vitest';
import { createAudit } from '../../../src/auth/audit/audit.ts';
import type { People, Profile } from '../../../src/auth/identity.ts';
import { createKeyStore } from '../../../src/auth/keys/key-store.ts';
import { createSealer } from '../../../src/auth/keys/sealing.ts';
import {
  assertKnown,
  createAuthorizer,
  decidePosting,
  RolesUnknown,
} from '../../../src/auth/policy/authorizer.ts';
import { createPolicies } from '../../../src/auth/policy/policies.ts';
import { decideApproval, initialPolicy, type Policy } from '../../../src/auth/policy/policy.ts';
import { Secret } from '../../../src/secrets/secret.ts';
import { prepareEngines } from '../../support/engines.ts';
import { createKeyring } from '../keyring/keyrings.ts';

const { embedded } = await prepareEngines();
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
    expect(actor.unread).toEqual(['admin', 'person']);
    expect(() => assertKnown(decideApproval(policy, actor))).toThrow(RolesUnknown);
  });

  test('a requester whom the delivery names as a member may still read, and is not taken for an admin', async () => {
    const { authorizer } = await setUp({}, { profile: unread });
    expect((await authorizer.actor({ fresh: true })).unread).toEqual(['admin']);
    expect((await authorizer.decide('read', undefined)).allowed).toBe(true);
    expect((await authorizer.decide('admin', undefined)).reason).toBe('unknown');
  });

  test('an admin of the configuration is one, but not somebody whose organisation is not known', async () => {
    const options = { profile: unread, admins: [person.userId] };
    const { authorizer } = await setUp({}, options);
    expect((await authorizer.decide('admin', undefined)).allowed).toBe(true);
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
    const found = { profile: { ...member, foreign: true }, foreign: undefined, isKnownByKey: true } as const;
    expect((await (await setUp({}, found)).authorizer.decide('read', undefined)).reason).toBe('foreign');
  });

  test('a group that cannot be read makes an operator unknown, unless they are named', async () => {
    const byGroup = await setUp({ operatorGroups: ['S1'] }, { members: undefined });
    expect((await byGroup.authorizer.decide('change', undefined)).reason).toBe('unknown');
    expect((await byGroup.authorizer.actor()).unread).toEqual(['S1']);
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
});

test('exports and shared answers go by the settings of now: channels, caps, and the key', async () => {
  const { authorizer, policy, save, keyStore } = await setUp({ operators: [person.userId] });
  expect((await decidePosting(authorizer, 'export', 'C1')).allowed).toBe(true);
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
  await keyStore.forget(person);
  expect((await authorizer.decide('read', undefined)).allowed).toBe(true);
  expect((await decidePosting(authorizer, 'answer', 'C1')).reason).toBe('no-key');
});

test('people of another organisation are refused everything, and Slack is asked only where nothing says whose they are', async () => {
  const named = await setUp({ operators: [person.userId] }, { foreign: true });
  for (const right of ['none', 'read', 'export', 'admin'] as const)
    expect((await named.authorizer.decide(right, undefined)).reason).toBe('foreign');
  expect(await named.authorizer.actor()).toMatchObject({ foreign: true, linked: false });
  expect(named.asked).toEqual([]);
  const byProfile = await setUp({}, { foreign: undefined, profile: { ...member, foreign: true } });
  expect((await byProfile.authorizer.decide('none', undefined)).reason).toBe('foreign');
  const here = await setUp({}, { profile: { ...member, foreign: true } });
  expect((await here.authorizer.decide('read', undefined)).allowed).toBe(true);
  expect((await here.authorizer.actor()).foreign).toBe(false);
});
