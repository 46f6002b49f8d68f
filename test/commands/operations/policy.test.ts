import { expect, test } from 'vitest';
import { createAudit } from '../../../src/auth/audit/audit.ts';
import type { People, Profile } from '../../../src/auth/identity.ts';
import { createKeyStore } from '../../../src/auth/keys/key-store.ts';
import { createSealer } from '../../../src/auth/keys/sealing.ts';
import { createAuthorizer, RolesUnknown } from '../../../src/auth/policy/authorizer.ts';
import { createPolicies } from '../../../src/auth/policy/policies.ts';
import type { Actor, Policy } from '../../../src/auth/policy/policy.ts';
import { approve, confirmOutcome, deny } from '../../../src/commands/operations/approvals.ts';
import { begin, settle } from '../../../src/commands/operations/execute.ts';
import type { DecisionContext } from '../../../src/commands/operations/model.ts';
import { propose } from '../../../src/commands/operations/propose.ts';
import { type Ledger, loadDecisionContext } from '../../../src/commands/operations/transitions.ts';
import { Secret } from '../../../src/secrets/secret.ts';
import { createKeyring } from '../../auth/keyring/keyrings.ts';
import { prepareEngines } from '../../support/engines.ts';
import {
  acme,
  actor,
  anna,
  ben,
  brief,
  carl,
  deletion,
  makeContext,
  makeProposal,
  olivia,
  person,
  policy,
  startLedger,
  type TestRequest,
} from './ledger-harness.ts';

const { embedded } = await prepareEngines();
const start = async () => startLedger(await embedded.emptyDatabase());
const now = (): Date => new Date('2026-11-21T08:00:00.000Z');
const clicker = person('U0CLICKER');
const requests: readonly TestRequest[] = [
  deletion,
  { kind: 'variable-update', scriptId: '301', variableId: '12', value: new Secret('value') },
];
const roles = ['none', 'named', 'by group', 'of another group'] as const;

const table = [0, 1, 2]
  .flatMap((needed) =>
    [true, false].flatMap((own) =>
      roles.flatMap((role) =>
        [true, false].flatMap((admin) =>
          [true, false].map((foreign) => ({ needed, own, role, admin, foreign })),
        ),
      ),
    ),
  )
  .map((row, nth) => ({ ...row, request: requests[Math.floor(nth / 2) % 2] ?? deletion }));
type Row = (typeof table)[number];

function rulesFor({ needed, role }: Row): Policy {
  return {
    ...policy,
    operators: [olivia.userId, clicker.userId],
    approvers: role === 'named' ? [ben.userId, clicker.userId] : [ben.userId],
    approverGroups: ['S0APPROVE'],
    destroyApprovals: needed,
    changeApprovals: needed,
  };
}

function clickerOf({ role, admin, foreign }: Row): Actor {
  const groups = role === 'by group' ? ['S0APPROVE'] : role === 'of another group' ? ['S0OTHERS0'] : [];
  return actor(clicker, { admin, foreign, groups });
}

/* By hand: what docs/approvals.md say of somebody who presses Approve or Deny. An admin is nothing more here. */
function predictDecision({ needed, own, role, foreign }: Row): string {
  if (needed === 0) return 'already';
  if (own) return 'own-request';
  if (foreign) return 'not-allowed: foreign';
  return role === 'named' || role === 'by group' ? 'done' : 'not-allowed: not-approver';
}

/** A row's request, and the facts of somebody who presses a button of it. */
async function askAs(ledger: Ledger, row: Row) {
  const rules = rulesFor(row);
  const asked = await propose(ledger, makeProposal(row.request, row.own ? clicker : olivia, rules));
  return { id: asked.id, context: { ...makeContext(clicker, asked, rules), clicker: clickerOf(row) } };
}

test('everybody who presses Approve or Deny is answered as the table says', async () => {
  const harness = await start();
  const refused: string[] = [];
  const ledger = { ...harness.ledger, onRefused: (reason: string) => void refused.push(reason) };
  const predicted: string[] = [];
  const wrong: unknown[] = [];
  for (const row of table) {
    const expected = predictDecision(row);
    let asked = await askAs(ledger, row);
    for (const press of ['approve', 'deny'] as const) {
      const { id, context } = asked;
      const answer =
        press === 'approve'
          ? await approve(ledger, id, clicker, context)
          : await deny(ledger, id, clicker, { reason: 'no', context });
      const said = answer.kind === 'not-allowed' ? `not-allowed: ${answer.decision.reason}` : answer.kind;
      const done = press === 'approve' ? 'approved' : 'denied';
      if (said !== expected.replace('done', done)) wrong.push({ ...row, press, said });
      const enqueues = brief(answer) === 'approved approved';
      if (enqueues !== (said === 'approved' && row.needed === 1)) wrong.push({ ...row, enqueues });
      if (expected.startsWith('not-allowed')) predicted.push(expected);
      // What was decided cannot be decided again.
      if (said === done) asked = await askAs(ledger, row);
    }
  }
  expect(wrong).toEqual([]);
  expect(refused.map((reason) => `not-allowed: ${reason}`)).toEqual(predicted);
});

test('the requester and approvers may confirm an outcome', async () => {
  const { ledger } = await start();
  const wrong: unknown[] = [];
  for (const row of table.filter(({ needed }) => needed === 0)) {
    const { id, context } = await askAs(ledger, row);
    await begin(ledger, id, context);
    await settle(ledger, id, { state: 'unknown', outcome: { word: 'timeout' } });
    const { kind } = await confirmOutcome(ledger, id, clicker, { state: 'succeeded', context });
    const may = row.own || (!row.foreign && (row.role === 'named' || row.role === 'by group'));
    if (kind !== (may ? 'confirmed' : 'not-allowed')) wrong.push({ ...row, kind });
  }
  expect(wrong).toEqual([]);
});

const profiles: Record<string, Profile> = {
  [anna.userId]: { admin: false, foreign: false, deleted: false, timeZone: undefined },
  [ben.userId]: { admin: false, foreign: false, deleted: true, timeZone: undefined },
  [carl.userId]: { admin: true, foreign: true, deleted: false, timeZone: undefined },
};
const stale: Profile = { admin: true, foreign: false, deleted: false, timeZone: undefined };
const people: People = {
  profile: async (id, { fresh = false } = {}) => (fresh ? profiles[id] : stale),
  members: async (group, { fresh = false } = {}) =>
    fresh && group === 'S0APPROVE' ? [carl.userId, anna.userId, 'U0UNKNOWN'] : [],
  groups: async () => [],
  forget: () => undefined,
  configuredAdmins: [],
  missingScopes: () => [],
};

test('the context of a decision is read afresh: policy, requester, approvers and clicker', async () => {
  const { database, ask, find, approve: press } = await start();
  const { db } = database;
  const audit = createAudit({ db, now });
  const policies = createPolicies({ db, audit, now });
  const keyStore = createKeyStore({ db, sealer: createSealer(await createKeyring()), now, audit });
  const rules = {
    ...policy,
    version: 8,
    approvers: [ben.userId],
    approverGroups: ['S0APPROVE'],
    destroyApprovals: 2,
  };
  const save = (base: number, policy: Policy) =>
    policies.save({ tenant: acme, by: olivia.userId, difference: [], base, policy });
  await save(7, rules);
  await keyStore.link(olivia, new Secret('a key'));
  const id = await ask(deletion, olivia, rules);
  await press(id, ben, rules);
  const authorizer = createAuthorizer({ person: carl, foreign: false, policies, people, keyStore });
  await authorizer.policy();
  await save(8, { ...rules, approvers: [] });

  const known = { linked: false, deleted: false, unread: [] };
  expect(await loadDecisionContext(authorizer, await find(id), carl.userId)).toEqual({
    policy: { ...rules, version: 9, approvers: [] },
    requester: actor(olivia, { ...known, linked: true }),
    approvers: [actor(ben, { ...known, deleted: true })],
    clicker: actor(carl, { ...known, admin: true, groups: ['S0APPROVE'] }),
  });
});

const byGroup: Policy = { ...policy, approvers: [anna.userId], approverGroups: ['S0APPROVE'] };
const unreadBen = actor(ben, { unread: ['S0APPROVE'] });

test.each<[string, Partial<DecisionContext>, Policy]>([
  ['the presser', { clicker: unreadBen }, byGroup],
  ['the requester', { requester: actor(olivia, { unread: ['person'] }) }, policy],
  [
    'the requester’s group',
    { requester: actor(olivia, { unread: ['S1'] }) },
    { ...policy, operators: [], operatorGroups: ['S1'] },
  ],
  ['who approved before', { approvers: [unreadBen] }, { ...byGroup, destroyApprovals: 2 }],
])('where Slack does not tell who may, nothing moves: %s', async (_, unread, rules) => {
  const { ledger, ask, find, approve: press } = await start();
  const id = await ask(deletion, olivia, { ...policy, destroyApprovals: 2 });
  await press(id, ben, { ...policy, destroyApprovals: 2 });
  const before = await find(id);
  const by = 'clicker' in unread ? ben : anna;
  const context = { ...makeContext(by, before, rules), ...unread };
  await expect(approve(ledger, id, by, context)).rejects.toThrow(RolesUnknown);
  await expect(deny(ledger, id, by, { reason: 'no', context })).rejects.toThrow(RolesUnknown);
  expect(await find(id)).toEqual(before);
});

test('an execution of unknown rights stays approved, and runs once they are known', async () => {
  const { ledger, ask, find, approve: press } = await start();
  const id = await ask();
  await press(id, ben);
  const context = makeContext(ben, await find(id), { ...byGroup, approvers: [] });
  await expect(begin(ledger, id, { ...context, approvers: [unreadBen] })).rejects.toThrow(RolesUnknown);
  expect(await find(id)).toMatchObject({ state: 'approved' });
  const known = { ...context, approvers: [actor(ben, { groups: ['S0APPROVE'] })] };
  expect(brief(await begin(ledger, id, known))).toBe('begun executing');
});

test('a press that may not be made ends nothing, an approver’s voids what is not allowed any more', async () => {
  const { ledger, ask, find } = await start();
  const id = await ask();
  const asked = await find(id);
  const press = async (by: typeof ben) =>
    brief(await approve(ledger, id, by, makeContext(by, asked, { ...policy, operators: [] })));
  expect(await press(clicker)).toBe('not-allowed not-approver');
  expect(await press(olivia)).toBe('own-request proposed');
  expect(await press(ben)).toBe('void requester-may-not');
});

test('a press counts with the rights of who pressed, and beside an approval that came after they were read', async () => {
  const { ledger, ask, find, approve: press } = await start();
  const rules = { ...policy, destroyApprovals: 2 };
  const id = await ask(deletion, olivia, rules);
  const context = makeContext(carl, await find(id), rules);
  await expect(approve(ledger, id, clicker, context)).rejects.toThrow('belongs to another user');
  await press(id, ben, rules);
  expect(brief(await approve(ledger, id, carl, context))).toBe('approved approved');
});

test.each([
  ['who was deactivated since', [actor(ben, { deleted: true })], undefined],
  ['who was deactivated since, of a workflow’s request,', [actor(ben, { deleted: true })], 'workflow'],
  ['of whom nothing was read', [], undefined],
])('an approval of somebody %s does not count', async (_, approvers, via) => {
  const { ledger, find, approve: press } = await start();
  const { id } = await propose(ledger, { ...makeProposal(), via });
  await press(id, ben);
  const context = { ...makeContext(ben, await find(id)), approvers };
  expect(brief(await begin(ledger, id, context))).toBe('void approver-may-not');
});
