import { describe, expect, test } from 'vitest';
import { sealedTables } from '../../../src/app/keyring-service.ts';
import { createAudit } from '../../../src/auth/audit/audit.ts';
import { countKeyUse, destroyRowsByKey, rewrap } from '../../../src/auth/keyring/rewrap.ts';
import { createSealer } from '../../../src/auth/keys/sealing.ts';
import { RolesUnknown } from '../../../src/auth/policy/authorizer.ts';
import { approve, cancel, confirmOutcome, deny } from '../../../src/commands/operations/approvals.ts';
import {
  begin,
  cancelUnbegun,
  expireOverdue,
  markAbandoned,
  markLongExecuting,
  settle,
} from '../../../src/commands/operations/execute.ts';
import { findOperation, findRequestedBy, findWaitingFor } from '../../../src/commands/operations/model.ts';
import { propose } from '../../../src/commands/operations/propose.ts';
import { transition, withLock } from '../../../src/commands/operations/transitions.ts';
import { destroyIdleValues, findUndo } from '../../../src/commands/operations/values.ts';
import { Secret } from '../../../src/secrets/secret.ts';
import { createKeyring, generateKeys } from '../../auth/keyring/keyrings.ts';
import { prepareEngines } from '../../support/engines.ts';
import {
  acme,
  actor,
  anna,
  beginNow,
  ben,
  brief,
  carl,
  createLedgerHarness,
  deletion,
  findEvents,
  findNow,
  makeContext,
  makeProposal,
  olivia,
  person,
  policy,
  startLedger,
} from './ledger-harness.ts';

const engines = await prepareEngines();
const start = async () => startLedger(await engines.embedded.emptyDatabase());
const twoOfThree = { ...policy, destroyApprovals: 2 };
const freely = { ...policy, changeApprovals: 0 };
const edit = (value: string, variableId = '12') =>
  ({ kind: 'variable-update', scriptId: '301', variableId, value: new Secret(value) }) as const;

test('a proposal is approved, executed and settled, each step with its event and audit record', async () => {
  const { ledger, enqueued, audit, ask, find, ...bot } = await start();
  const id = await ask();
  const asked = await find(id);
  expect(asked).toMatchObject({
    id: expect.stringMatching(/^[a-z2-9]{16}$/),
    state: 'proposed',
    request: { appId: 'app-1', volumeId: 'vol 1' },
    requester: olivia,
    snapshot: makeProposal().snapshot,
    row: { policy_version: 7 },
    approvalsNeeded: 1,
    seal: expect.stringMatching(/^[0-9a-f]{64}$/),
  });
  expect(enqueued).toEqual([]);
  expect(await bot.approve(id, ben)).toBe('approved approved');
  expect(enqueued).toEqual([id]);
  expect(await beginNow(ledger, id)).toMatchObject({
    kind: 'begun',
    operation: { row: { path: '/mc/apps/app-1/volumes/vol%201', body: null } },
  });
  expect(await bot.begin(id)).toBe('already executing');
  const outcome = { word: 'done', status: 200, requestId: 'abc123', instances: ['i-1', 'i-2'] };
  expect(brief(await settle(ledger, id, { state: 'succeeded', outcome }))).toBe('settled succeeded');
  expect(await find(id)).toMatchObject({ state: 'succeeded', outcome });
  const steps = [
    ['proposed', olivia.userId, null],
    ['approved', ben.userId, null],
    ['executing', 'system', null],
    ['succeeded', 'system', 'abc123'],
  ];
  expect((await findEvents(ledger, acme, id)).map(({ what, actor }) => [what, actor])).toEqual(
    steps.map(([what, by]) => [what, by]),
  );
  const records = await audit();
  expect(records.map(({ event, actor, subject, requestId }) => [event, actor, subject, requestId])).toEqual(
    steps.map(([what, by, requestId]) => [`operation-${what}`, by, asked.seal, requestId]),
  );
  expect(records.at(-1)?.detail).toEqual({
    operation: id,
    kind: 'volume-delete',
    app: 'app-1',
    volume: 'vol 1',
    have: 1,
    need: 1,
    outcome: 'done',
    status: 200,
    instances: 'i-1 i-2',
  });
});

test('two of three approvers: distinct people, never the requester, also not as an admin', async () => {
  const { ledger, enqueued, ask, approve: press, find } = await start();
  const id = await ask(deletion, anna, twoOfThree);
  expect(await press(id, anna, twoOfThree)).toBe('own-request proposed');
  const own = { ...makeContext(anna, await find(id)), clicker: actor(anna, { admin: true }) };
  expect(brief(await approve(ledger, id, anna, own))).toBe('own-request proposed');
  expect(await press(id, ben, twoOfThree)).toBe('approved proposed');
  expect(await press(id, ben, twoOfThree)).toBe('twice proposed');
  expect(await find(id)).toMatchObject({ approvals: [{ by: ben.userId }], approvalsNeeded: 2 });
  expect(await press(id, olivia, twoOfThree)).toBe('not-allowed not-approver');
  expect(enqueued).toEqual([]);
  expect(await press(id, carl, twoOfThree)).toBe('approved approved');
  expect(enqueued).toEqual([id]);
  expect(await press(id, carl, twoOfThree)).toBe('already approved');
});

test('an id of another tenant is not found', async () => {
  const { ledger, ask, find } = await start();
  const id = await ask();
  const facts = makeContext(ben, await find(id));
  const stranger = { teamId: 'T0BETA000', userId: ben.userId };
  expect(brief(await approve(ledger, id, stranger, facts))).toBe('not-found');
  expect(brief(await cancel(ledger, id, { ...stranger, userId: olivia.userId }))).toBe('not-found');
  expect(await findOperation(ledger, 'T0BETA000', id)).toBeUndefined();
  expect(await findWaitingFor(ledger, stranger)).toEqual([]);
  expect(brief(await approve(ledger, 'nothing', ben, facts))).toBe('not-found');
});

test('a denial keeps its reason, and a later press learns who denied', async () => {
  const { ledger, approve: press, find } = await start();
  const { id } = await propose(ledger, { ...makeProposal(), reason: 'of\0 no use' });
  expect(await find(id)).toMatchObject({ reason: 'of\uFFFD no use' });
  const context = makeContext(ben, await find(id));
  expect(brief(await deny(ledger, id, ben, { reason: ' still\0 needed ', context }))).toBe('denied denied');
  expect(await press(id, carl)).toBe('already denied');
  expect(await find(id)).toMatchObject({ movedBy: ben.userId, outcome: { reason: 'still\uFFFD needed' } });
});

test('only the requester can cancel, until the execution begins', async () => {
  const { ledger, ask, run, begin, approve: press } = await start();
  const id = await ask();
  expect(await cancel(ledger, id, ben)).toMatchObject({ kind: 'not-requester' });
  await press(id, ben);
  expect(brief(await cancel(ledger, id, olivia))).toBe('cancelled cancelled');
  expect(await begin(id)).toBe('already cancelled');
  expect(brief(await cancel(ledger, await run(), olivia))).toBe('already executing');
});

test('an approved request that does not start within ten minutes expires', async () => {
  const { ledger, advance, ask, begin, approve: press } = await start();
  const [first, second] = [await ask(), await ask()];
  advance(29);
  for (const id of [first, second]) await press(id, ben);
  advance(9.9);
  expect(await expireOverdue(ledger)).toEqual([]);
  expect(await begin(first)).toBe('begun executing');
  advance(0.1);
  expect(await begin(second)).toBe('expired expired');
  expect(await begin(second)).toBe('already expired');
});

test('the lists have a person’s waiting approvals and own requests', async () => {
  const { ledger, advance, ask, approve: press } = await start();
  const byOlivia = await ask(deletion, olivia, twoOfThree);
  advance(1);
  const byAnna = await ask(deletion, anna, twoOfThree);
  const waiting = async (who: typeof ben) => (await findWaitingFor(ledger, who)).map(({ id }) => id);
  expect(await waiting(ben)).toEqual([byOlivia, byAnna]);
  expect(await waiting(anna)).toEqual([byOlivia]);
  await press(byOlivia, ben, twoOfThree);
  expect(await waiting(ben)).toEqual([byAnna]);
  advance(29);
  expect(await waiting(ben)).toEqual([byAnna]);
  expect((await findRequestedBy(ledger, olivia, 5)).map(({ id }) => id)).toEqual([byOlivia]);
  expect(await findRequestedBy(ledger, ben, 5)).toEqual([]);
});

const later = { ...policy, version: 8 };

test.each([
  ['more approvals', { ...twoOfThree, version: 8 }, 'void more-approvals', 'void more-approvals'],
  ['no operator', { ...later, operators: [] }, 'void requester-may-not', 'void requester-may-not'],
  [
    'a cap of its channel',
    { ...later, caps: { C0OPS0000: 'read' as const } },
    'void requester-may-not',
    'void requester-may-not',
  ],
  [
    'another approver',
    { ...later, approvers: [anna.userId] },
    'not-allowed not-approver',
    'void approver-may-not',
  ],
  [
    'what does not matter for it',
    { ...later, expiryMinutes: 5, destroyApprovals: 0, postChannels: ['C1'] },
    'approved approved',
    'begun executing',
  ],
])('settings with %s, at the press and when it begins', async (_, rules, atPress, atBegin) => {
  const { ask, begin, approve: press } = await start();
  const [id, approved] = [await ask(), await ask()];
  await press(approved, ben);
  expect(await press(id, ben, rules)).toBe(atPress);
  expect(await begin(approved, rules)).toBe(atBegin);
});

test('a request is void once its requester has another key, at the press and when it begins', async () => {
  const { ask, begin, approve: press, ledger } = await start();
  const link = (version: number, fingerprint: string) => {
    const row = { sealed: '', key_id: 'k1', version, fingerprint, linked_at: ledger.now() };
    return ledger.db
      .insertInto('linked_keys')
      .values({ tenant: acme, user_id: olivia.userId, team_id: acme, ...row })
      .onConflict((conflict) => conflict.columns(['tenant', 'user_id']).doUpdateSet(row))
      .execute();
  };
  await link(1, '1f2e3d4c');
  const [id, approved, same] = [await ask(), await ask(), await ask()];
  for (const one of [approved, same]) await press(one, ben);
  expect(await begin(same)).toBe('begun executing');
  // The same key connected again is another one, too: what lay between is not known.
  await link(2, '1f2e3d4c');
  expect(await press(id, ben)).toBe('void key-replaced');
  expect(await begin(approved)).toBe('void key-replaced');
});

test('an unknown outcome is ended by a person or a late answer, and never sent again', async () => {
  const { ledger, advance, run, find, begin, settle: end } = await start();
  const [first, second, third] = [await run(), await run(), await run()];
  expect(await end(first, 'unknown')).toBe('settled unknown');
  expect(await withLock(ledger, { id: second }, markAbandoned)).toMatchObject({ state: 'unknown' });
  expect(await withLock(ledger, { id: second }, markAbandoned)).toBe(false);
  advance(9.9);
  expect(await markLongExecuting(ledger)).toEqual([]);
  advance(0.1);
  expect(await markLongExecuting(ledger)).toEqual([third]);
  for (const id of [first, second, third]) expect(await begin(id)).toBe('already unknown');

  const nobody = person('U0NOBODY0');
  const confirm = async (id: string, by: typeof ben, state: 'succeeded' | 'failed') =>
    brief(await confirmOutcome(ledger, id, by, { state, context: makeContext(by, await find(id)) }));
  expect(await end(first, 'unknown')).toBe('already unknown');
  expect(await confirm(first, nobody, 'failed')).toBe('not-allowed not-approver');
  const context = { ...makeContext(ben, await find(first)), clicker: actor(ben, { unread: ['person'] }) };
  await expect(confirmOutcome(ledger, first, ben, { state: 'failed', context })).rejects.toThrow(
    RolesUnknown,
  );
  expect(await confirm(first, olivia, 'succeeded')).toBe('confirmed succeeded');
  expect(await end(first, 'failed')).toBe('already succeeded');
  expect(await find(first)).toMatchObject({ movedBy: olivia.userId, outcome: { word: 'confirmed' } });
  expect(await end(second, 'succeeded')).toBe('settled succeeded');
  expect(await confirm(second, ben, 'failed')).toBe('already succeeded');
});

test('an operation moves as its state allows, and once where it is locked once', async () => {
  const { ledger, ask, find } = await start();
  const id = await ask();
  const begins = withLock(ledger, { id }, (locked) => transition(locked, { to: 'executing', by: 'system' }));
  await expect(begins).rejects.toThrow('no operation moves from proposed to executing');
  const twice = withLock(ledger, { id }, async (locked) => {
    await transition(locked, { to: 'expired', by: 'system' });
    await transition(locked, { to: 'cancelled', by: 'system' });
  });
  await expect(twice).rejects.toThrow('moved while it was locked');
  expect(await find(id)).toMatchObject({ state: 'proposed' });
});

test('what looks like a secret in an answer of the CDN keeps no outcome from the audit, and is not in it', async () => {
  const { ledger, run, audit } = await start();
  const like = `k1:${'a'.repeat(43)}`;
  const outcome = { word: 'done', requestId: like, instances: [like, 'i-2'] };
  const settled = await settle(ledger, await run(), { state: 'succeeded', outcome });
  expect(brief(settled)).toBe('settled succeeded');
  const withheld = { requestId: '[withheld]', detail: { instances: '[withheld] i-2' } };
  expect((await audit()).at(-1)).toMatchObject(withheld);
});

test('offboarding cancels a person’s requests and destroys their values', async () => {
  const { ledger, database, ask, find } = await start();
  const waits = await ask(edit('one'), olivia, { ...policy, changeApprovals: 1 });
  const approved = await ask(edit('two'), olivia, freely);
  const others = await ask(edit('three'), anna, { ...policy, changeApprovals: 1 });
  const elsewhere = { ...olivia, teamId: 'T0BETA000' };
  const { id: stays } = await propose(ledger, makeProposal(edit('four'), elsewhere, freely));
  const findValues = async () => {
    const rows = await database.db.selectFrom('operation_values').select('operation_id').execute();
    return rows.map(({ operation_id: id }) => id).toSorted();
  };
  const stopped = await cancelUnbegun(ledger, { person: olivia, tenant: acme });
  expect(stopped.toSorted()).toEqual([waits, approved].toSorted());
  expect(await find(waits)).toMatchObject({
    state: 'cancelled',
    movedBy: 'system',
    outcome: { word: 'requester-gone' },
  });
  expect(await findValues()).toEqual([others, stays].toSorted());
  expect(await find(others)).toMatchObject({ state: 'proposed' });
  expect(await cancelUnbegun(ledger, { person: olivia, tenant: acme })).toEqual([]);
  expect(await cancelUnbegun(ledger, { person: undefined, tenant: acme })).toEqual([others]);
  expect(await findValues()).toEqual([stays]);
});

test('what its person cancels meanwhile is left by the offboarding', async () => {
  const { ledger, ask } = await start();
  const id = await ask();
  const stopping = cancelUnbegun(ledger, { person: olivia, tenant: acme });
  expect(await Promise.all([stopping, cancel(ledger, id, olivia)])).toMatchObject([
    [],
    { kind: 'cancelled' },
  ]);
});

test('a value is sealed, sent once and stored nowhere in the clear', async () => {
  const { ledger, database, audit, enqueued, ask, find } = await start();
  const id = await ask({ ...edit('s3cret-of-the-shop'), required: true }, olivia, freely);
  expect(await find(id)).toMatchObject({
    state: 'approved',
    movedBy: 'system',
    request: { scriptId: '301', variableId: '12', required: true, setsValue: true },
  });
  expect(enqueued).toEqual([id]);
  const begun = await beginNow(ledger, id, freely);
  if (begun.kind !== 'begun') throw new Error(begun.kind);
  expect(begun.value?.reveal()).toBe('s3cret-of-the-shop');
  expect(begun.operation.row).toMatchObject({
    path: '/compute/script/301/variables/12',
    body: '{"Required":true}',
  });
  const tables = ['operations', 'operation_events', 'operation_values'] as const;
  const rows = tables.map((table) => database.db.selectFrom(table).selectAll().execute());
  expect(JSON.stringify([await Promise.all<unknown>(rows), await audit()])).not.toContain('s3cret');
});

test('the previous value is known from an earlier change, unless another may have come between', async () => {
  const { ledger, advance, run, find, settle: end } = await start();
  const set = async (value: string, state: 'succeeded' | 'unknown' = 'succeeded', variable = '12') => {
    advance(1);
    const id = await run(edit(value, variable), olivia, freely);
    await end(id, state);
    return id;
  };
  const before = async (id: string) => {
    const previous = await findUndo(ledger, await find(id));
    return typeof previous === 'object' ? previous.value.reveal() : previous;
  };
  const first = await set('one');
  expect(await before(first)).toBe('unknown');
  const elsewhere = { ...olivia, teamId: 'T0BETA000' };
  const theirs = await propose(ledger, makeProposal(edit('theirs'), elsewhere, freely));
  await begin(ledger, theirs.id, makeContext(olivia, theirs, freely));
  await end(theirs.id, 'succeeded');
  const second = await set('two');
  await set('elsewhere', 'succeeded', '13');
  expect(await before(second)).toBe('one');
  const third = await set('three', 'unknown');
  expect(await before(second)).toBe('late');
  expect(await before(third)).toBe('late');
  expect(await before(await set('four'))).toBe('unknown');
  const fifth = await set('five');
  expect(await before(fifth)).toBe('four');
  expect(await destroyIdleValues(ledger)).toBe(0);
  advance(29);
  expect(await before(fifth)).toBe('four');
  advance(1);
  expect(await before(fifth)).toBe('late');
  advance(10);
  // `one`, `two` and `four` were overtaken; of `three` nobody knows, and `five` and `elsewhere` are the newest.
  expect(await destroyIdleValues(ledger)).toBe(3);
  advance(24 * 60);
  expect(await destroyIdleValues(ledger)).toBe(1);
});

type Started = Awaited<ReturnType<typeof start>>;
test.each<[string, (bot: Started) => Promise<unknown>, number]>([
  ['failed', async ({ run, settle: end }) => end(await run(edit('kept'), olivia, freely), 'failed'), 0],
  ['is unknown', async ({ run, settle: end }) => end(await run(edit('kept'), olivia, freely), 'unknown'), 1],
  ['was cancelled', async ({ ask, ledger }) => cancel(ledger, await ask(edit('kept'), olivia), olivia), 0],
  [
    'was denied',
    async ({ ask, find, ledger }) => {
      const rules = { ...policy, changeApprovals: 1 };
      const id = await ask(edit('kept'), olivia, rules);
      return deny(ledger, id, ben, { reason: '', context: makeContext(ben, await find(id), rules) });
    },
    0,
  ],
  [
    'expired',
    async ({ advance, ask, ledger }) => {
      await ask(edit('kept'), olivia);
      advance(31);
      return expireOverdue(ledger);
    },
    0,
  ],
])('the value of a change that %s stays only where it may be set', async (_, end, stays) => {
  const bot = await start();
  const kept = () => bot.ledger.db.selectFrom('operation_values').select('owner_id').execute();
  await end(bot);
  expect(await kept()).toHaveLength(stays);
});

describe.each(engines.both)('two processes on $name', ({ skip, emptyDatabase }) => {
  test.skipIf(skip)('an overdue request expires once, at a press or by the clock', async () => {
    const {
      ledger,
      openReplica,
      advance,
      ask,
      find,
      approve: press,
    } = await startLedger(await emptyDatabase());
    const [clicked, left] = [await ask(), await ask()];
    advance(29.9);
    expect(await expireOverdue(ledger)).toEqual([]);
    advance(0.1);
    expect(await press(clicked, ben)).toBe('expired expired');
    expect(await press(clicked, ben)).toBe('already expired');
    const [one, other] = await Promise.all([expireOverdue(ledger), expireOverdue(openReplica())]);
    expect([...one, ...other]).toEqual([left]);
    expect(await find(left)).toMatchObject({ state: 'expired', movedBy: 'system' });
  });
});

const propose12 = (value: string, requester = olivia) => {
  const ids = { kind: 'variable-update', scriptId: '301', variableId: '12' } as const;
  return makeProposal({ ...ids, value: new Secret(value) }, requester, freely);
};

test.each([
  ['a workspace', olivia, acme],
  ['an organization', { ...olivia, enterpriseId: 'E0CORP000' }, 'E0CORP000'],
])('values follow the rotation of the keyring, in %s', async (_where, requester, tenant) => {
  const database = await engines.embedded.emptyDatabase();
  const { db } = database;
  const [k1, k2] = [generateKeys('k1'), generateKeys('k2')];
  const { openReplica, advance } = await createLedgerHarness(database);
  const before = openReplica(database, await createKeyring(k1));
  const { id } = await propose(before, propose12('first', requester));

  const both = await createKeyring(`${k2},${k1}`);
  const done = await rewrap({ db, sealer: createSealer(both), tables: sealedTables });
  expect(done).toMatchObject({ moved: 1, unopened: 0 });
  expect(await countKeyUse(db, sealedTables)).toMatchObject([
    { table: 'operation_values', keyId: 'k2', rows: 1 },
  ]);
  const ledger = openReplica(database, both);
  const facts = makeContext(olivia, await findNow(ledger, id, tenant), freely);
  const begun = await begin(ledger, id, facts);
  expect(begun.kind === 'begun' && begun.value?.reveal()).toBe('first');

  // And afterwards, without the old key, an undo still has it.
  const succeeded = { state: 'succeeded', outcome: { word: 'done' } } as const;
  await settle(ledger, id, succeeded);
  const after = openReplica(database, await createKeyring(k2));
  advance(1);
  const next = await propose(after, propose12('second', requester));
  await begin(after, next.id, facts);
  await settle(after, next.id, succeeded);
  const previous = await findUndo(after, await findNow(after, next.id, tenant));
  expect(typeof previous === 'object' && previous.value.reveal()).toBe('first');
});

test('values under a lost key are destroyed, and operations that need them are void', async () => {
  const database = await engines.embedded.emptyDatabase();
  const { db } = database;
  const { openReplica } = await createLedgerHarness(database);
  const [k1, k2] = [await createKeyring(generateKeys('k1')), await createKeyring(generateKeys('k2'))];
  const { id } = await propose(openReplica(database, k1), propose12('lost'));
  const audit = createAudit({ db, now: () => new Date() });
  expect(await destroyRowsByKey({ db, tables: sealedTables, audit, keyId: 'k1' })).toBe(1);
  expect(brief(await beginNow(openReplica(database, k2), id, freely))).toBe('void key-gone');
});
