import { expect, test } from 'vitest';
import { createAudit } from '../../../src/auth/audit/audit.ts';
import type { People, Profile } from '../../../src/auth/identity.ts';
import { createKeyStore } from '../../../src/auth/keys/key-store.ts';
import { createSealer } from '../../../src/auth/keys/sealing.ts';
import {
  computeQuorum,
  createAuthorizer,
  findApproverCandidates,
  RolesUnknown,
} from '../../../src/auth/policy/authorizer.ts';
import { createPolicies } from '../../../src/auth/policy/policies.ts';
import type { Actor, Policy } from '../../../src/auth/policy/policy.ts';
import { approve, confirmOutcome, deny } from '../../../src/commands/operations/decide.ts';
import { begin, settle } from '../../../src/commands/operations/execute.ts';
import type { DecisionContext } from '../../../src/commands/operations/model.ts';
import { propose } from '../../../src/commands/operations/propose.ts';
import { findOperation } from '../../../src/commands/operations/queries.ts';
import { loadDecisionContext } from '../../../src/commands/operations/validity.ts';
import { Secret } from '../../../src/secrets/secret.ts';
import { createKeyring } from '../../auth/keyring/keyrings.ts';
import { prepareEngines } from '../../support/engines.ts';
import {
  acme,
  actor,
  anna,
  approveNow,
  ben,
  carl,
  createLedgerHarness,
  deletion,
  makeContext,
  makeProposal,
  olivia,
  person,
  policy,
  type TestRequest,
} from './ledger-harness.ts';

const engines = await prepareEngines();
const now = (): Date => new Date('2026-11-21T08:00:00.000Z');
const clicker = person('U0CLICKER');
const requests: readonly TestRequest[] = [
  deletion,
  { kind: 'variable-update', scriptId: '301', variableId: '12', value: new Secret('value') },
];
const roles = ['none', 'named', 'by group', 'of another group'] as const;

const table = requests.flatMap((request) =>
  [0, 1, 2, 3].flatMap((needed) =>
    [true, false].flatMap((own) =>
      roles.flatMap((role) =>
        [true, false].flatMap((admin) =>
          [true, false].map((foreign) => ({ request, needed, own, role, admin, foreign })),
        ),
      ),
    ),
  ),
);
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

test('the table has every request, approvals, requester, role, admin and foreign', () => {
  expect(table).toHaveLength(2 * 4 * 2 * 4 * 2 * 2);
  // Not their own, not foreign, two of four roles, one to three approvals: 2 × 3 × 2 × 2 of admin.
  expect(table.filter((row) => predictDecision(row) === 'done')).toHaveLength(24);
});

test.each(['approve', 'deny'] as const)(
  'everybody who presses %s is answered as the table says',
  async (press) => {
    const harness = await createLedgerHarness(await engines.embedded.emptyDatabase());
    const refused: string[] = [];
    const ledger = { ...harness.ledger, onRefused: (reason: string) => void refused.push(reason) };
    const wrong: unknown[] = [];
    for (const row of table) {
      const rules = rulesFor(row);
      const asked = await propose(ledger, makeProposal(row.request, row.own ? clicker : olivia, rules));
      const facts = { ...makeContext(clicker, asked, rules), clicker: clickerOf(row) };
      const answer =
        press === 'approve'
          ? await approve(ledger, asked.id, clicker, facts)
          : await deny(ledger, asked.id, clicker, { reason: 'no', context: facts });
      const said = answer.kind === 'not-allowed' ? `not-allowed: ${answer.decision.reason}` : answer.kind;
      const done = press === 'approve' ? 'approved' : 'denied';
      if (said !== predictDecision(row).replace('done', done)) wrong.push({ ...row, said });
      const enqueues = answer.kind === 'approved' && answer.operation.state === 'approved';
      if (enqueues !== (press === 'approve' && said === 'approved' && row.needed === 1))
        wrong.push({ ...row, enqueues });
    }
    expect(wrong).toEqual([]);
    const predicted = table.map(predictDecision).filter((said) => said.startsWith('not-allowed'));
    expect(refused.map((reason) => `not-allowed: ${reason}`)).toEqual(predicted);
  },
);

test('the requester and approvers may confirm an outcome', async () => {
  const { ledger } = await createLedgerHarness(await engines.embedded.emptyDatabase());
  const wrong: unknown[] = [];
  for (const row of table.filter(({ needed }) => needed === 0)) {
    const rules = rulesFor(row);
    const asked = await propose(ledger, makeProposal(row.request, row.own ? clicker : olivia, rules));
    const facts = { ...makeContext(clicker, asked, rules), clicker: clickerOf(row) };
    await begin(ledger, asked.id, facts);
    await settle(ledger, asked.id, { state: 'unknown', outcome: { word: 'timeout' } });
    const { kind } = await confirmOutcome(ledger, asked.id, clicker, { state: 'succeeded', context: facts });
    const may = row.own || (!row.foreign && (row.role === 'named' || row.role === 'by group'));
    if (kind !== (may ? 'confirmed' : 'not-allowed')) wrong.push({ ...row, kind });
  }
  expect(wrong).toEqual([]);
});

test.each([
  ['one of three', 1, [anna, ben, carl], olivia, ['U0ANNA000', 'U0BEN0000', 'U0CARL000'], true],
  ['the requester does not count', 1, [anna], anna, [], false],
  ['two of two', 2, [anna, ben], olivia, ['U0ANNA000', 'U0BEN0000'], true],
  ['two, and one of two makeProposal', 2, [anna, ben], anna, ['U0BEN0000'], false],
  ['three of two', 3, [anna, ben], olivia, ['U0ANNA000', 'U0BEN0000'], false],
  ['none is needed', 0, [], olivia, [], true],
  ['nobody is there', 1, [], olivia, [], false],
  ['the same one twice', 2, [anna, anna], olivia, ['U0ANNA000'], false],
] as const)('a quorum: %s', (_name, needed, candidates, requester, able, reachable) => {
  const rules = { ...policy, destroyApprovals: needed, changeApprovals: 9 };
  const found = computeQuorum(
    rules,
    'destroy',
    candidates.map((one) => actor(one)),
    requester.userId,
  );
  expect(found).toEqual({ needed, able, reachable });
});

test('a quorum counts only approvers of the own organisation', () => {
  const candidates = [actor(anna, { foreign: true }), actor(olivia, { admin: true }), actor(ben)];
  expect(computeQuorum(policy, 'destroy', candidates, carl.userId).able).toEqual([ben.userId]);
});

const profiles: Record<string, Profile> = {
  [anna.userId]: { admin: false, foreign: false, deleted: false, timeZone: undefined },
  [ben.userId]: { admin: false, foreign: false, deleted: true, timeZone: undefined },
  [carl.userId]: { admin: true, foreign: true, deleted: false, timeZone: undefined },
};
const people: People = {
  profile: async (id) => profiles[id],
  members: async (group) => (group === 'S0APPROVE' ? [carl.userId, anna.userId, 'U0UNKNOWN'] : []),
  groups: async () => [],
  forget: () => undefined,
  configuredAdmins: [],
  missingScopes: () => [],
};

test('the candidates are named or in a group, without deactivated people', async () => {
  const rules = { ...policy, approvers: [anna.userId, ben.userId], approverGroups: ['S0APPROVE'] };
  expect(await findApproverCandidates(people, rules)).toEqual([
    actor(anna, { linked: false, groups: ['S0APPROVE'] }),
    actor(carl, { linked: false, admin: true, foreign: true, groups: ['S0APPROVE'] }),
    actor(person('U0UNKNOWN'), { linked: false, groups: ['S0APPROVE'] }),
  ]);
});

test('the context of a decision is read afresh: policy, requester, approvers and clicker', async () => {
  const { ledger, database } = await createLedgerHarness(await engines.embedded.emptyDatabase());
  const { db } = database;
  const audit = createAudit({ db, now });
  const keyStore = createKeyStore({ db, sealer: createSealer(await createKeyring()), now, audit });
  const saved = { ...policy, version: 8, approvers: [ben.userId], approverGroups: ['S0APPROVE'] };
  const change = { tenant: acme, by: olivia.userId, difference: [] };
  const policies = createPolicies({ db, audit, now });
  await policies.save({ ...change, base: 7, policy: saved });
  await keyStore.link(olivia, new Secret('a key'));
  const { id } = await propose(ledger, makeProposal(deletion, olivia, { ...saved, destroyApprovals: 2 }));
  await approveNow(ledger, id, ben, { ...saved, destroyApprovals: 2 });
  await policies.save({ ...change, base: 8, policy: { ...saved, destroyApprovals: 2, approvers: [] } });

  const operation = await findOperation(ledger, acme, id);
  if (!operation) throw new Error('It is there.');
  const authorizer = createAuthorizer({
    person: carl,
    foreign: false,
    policies,
    people,
    keyStore,
  });
  expect(await loadDecisionContext(authorizer, operation, carl.userId)).toEqual({
    policy: { ...saved, version: 9, destroyApprovals: 2, approvers: [] },
    requester: actor(olivia, { deleted: false, unread: [] }),
    approvers: [actor(ben, { linked: false, deleted: true, unread: [] })],
    clicker: actor(carl, {
      linked: false,
      admin: true,
      groups: ['S0APPROVE'],
      deleted: false,
      unread: [],
    }),
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
  const { ledger } = await createLedgerHarness(await engines.embedded.emptyDatabase());
  const asked = await propose(ledger, makeProposal(deletion, olivia, { ...policy, destroyApprovals: 2 }));
  await approveNow(ledger, asked.id, ben, { ...policy, destroyApprovals: 2 });
  const before = await findOperation(ledger, acme, asked.id);
  const by = 'clicker' in unread ? ben : anna;
  const context = { ...makeContext(by, before ?? asked, rules), ...unread };
  await expect(approve(ledger, asked.id, by, context)).rejects.toThrow(RolesUnknown);
  await expect(deny(ledger, asked.id, by, { reason: 'no', context })).rejects.toThrow(RolesUnknown);
  expect(await findOperation(ledger, acme, asked.id)).toEqual(before);
});

test('an execution of unknown rights stays approved, and runs once they are known', async () => {
  const { ledger } = await createLedgerHarness(await engines.embedded.emptyDatabase());
  const asked = await propose(ledger, makeProposal());
  const { id } = asked;
  await approveNow(ledger, id, ben);
  const approved = await findOperation(ledger, acme, id);
  const context = makeContext(ben, approved ?? asked, { ...byGroup, approvers: [] });
  await expect(begin(ledger, id, { ...context, approvers: [unreadBen] })).rejects.toThrow(RolesUnknown);
  expect(await findOperation(ledger, acme, id)).toMatchObject({ state: 'approved' });
  const known = { ...context, approvers: [actor(ben, { groups: ['S0APPROVE'] })] };
  expect(await begin(ledger, id, known)).toMatchObject({ kind: 'begun' });
});

test('a press that may not be made ends nothing, an approver’s voids what is not allowed any more', async () => {
  const { ledger } = await createLedgerHarness(await engines.embedded.emptyDatabase());
  const asked = await propose(ledger, makeProposal());
  const lost = { ...policy, operators: [] };
  const refused = await approve(ledger, asked.id, clicker, makeContext(clicker, asked, lost));
  expect(refused).toMatchObject({ kind: 'not-allowed', operation: { state: 'proposed' } });
  const own = await approve(ledger, asked.id, olivia, makeContext(olivia, asked, lost));
  expect(own).toMatchObject({ kind: 'own-request', operation: { state: 'proposed' } });
  const voided = await approve(ledger, asked.id, ben, makeContext(ben, asked, lost));
  expect(voided).toMatchObject({ kind: 'void', why: 'requester-may-not' });
});

test('an approval of somebody who was deactivated since does not count', async () => {
  const { ledger } = await createLedgerHarness(await engines.embedded.emptyDatabase());
  const asked = await propose(ledger, makeProposal());
  const { id } = asked;
  await approveNow(ledger, id, ben);
  const approved = await findOperation(ledger, acme, id);
  const context = { ...makeContext(ben, approved ?? asked), approvers: [actor(ben, { deleted: true })] };
  expect(await begin(ledger, id, context)).toMatchObject({ kind: 'void', why: 'approver-may-not' });
});

test('no approvers are named while Slack does not tell who is in their group', async () => {
  const unread: People = { ...people, members: async () => undefined };
  await expect(findApproverCandidates(unread, byGroup)).rejects.toThrow(RolesUnknown);
});
