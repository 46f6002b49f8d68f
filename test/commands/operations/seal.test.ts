import * as fc from 'fast-check';
import { sql } from 'kysely';
import { describe, expect, test } from 'vitest';
import { approve } from '../../../src/commands/operations/decide.ts';
import { begin, settle } from '../../../src/commands/operations/execute.ts';
import {
  indexKinds,
  type OperationRow,
  type SealedRequest,
} from '../../../src/commands/operations/kinds/kind.ts';
import { operationKinds } from '../../../src/commands/operations/kinds/list.ts';
import { propose, retry } from '../../../src/commands/operations/propose.ts';
import { findOperation } from '../../../src/commands/operations/queries.ts';
import { computeSeal, readRequest } from '../../../src/commands/operations/seal.ts';
import { UserError } from '../../../src/errors.ts';
import { canonicalJson, type Json } from '../../../src/lib/canonical-json.ts';
import { Secret } from '../../../src/secrets/secret.ts';
import { createKeyring, generateKeys } from '../../auth/keyring/keyrings.ts';
import { prepareEngines } from '../../support/engines.ts';
import {
  acme,
  approveNow,
  beginNow,
  ben,
  createLedgerHarness,
  findEvents,
  type LedgerHarness,
  makeContext,
  makeProposal,
  olivia,
  policy,
  type TestRequest,
  toRequested,
} from './ledger-harness.ts';

const engines = await prepareEngines();
const rules = { ...policy, changeApprovals: 1 };
const freely = { ...policy, changeApprovals: 0 };
const edit = (value: string) =>
  ({
    kind: 'variable-update',
    scriptId: '301',
    variableId: '12',
    required: true,
    value: new Secret(value),
  }) as const;

/** For every column that is sealed what somebody with the database makes of it. */
const mutations: Readonly<Record<string, string>> = {
  tenant: `'T0BETA000'`,
  kind: `'volume-delete'`,
  enterprise_id: `'E0CORP000'`,
  team_id: `'T0OTHER00'`,
  user_id: `'U0ANNA000'`,
  channel_id: 'null',
  method: `'DELETE'`,
  path: `'/compute/script/301/variables/13'`,
  body: `'{"Required":false}'`,
  value_mac: `'${'0'.repeat(64)}'`,
  cdn_key: `'9 1f2e3d4c'`,
  reason: `'another reason'`,
  snapshot: `'{"zones":[]}'`,
  policy_version: '8',
  approvals_needed: '0',
  attempt_of: 'null',
  via: `'assistant'`,
  created_at: `created_at + interval '1 millisecond'`,
  expires_at: `expires_at + interval '1 day'`,
  seal: `'${'0'.repeat(64)}'`,
  mac: `'${'0'.repeat(64)}'`,
  key_id: `'k0'`,
};
// What moves with an operation. Where it differs from the log, that voids too.
const moving = ['id', 'state', 'seq', 'moved_by', 'moved_at', 'outcome', 'approvers', 'reminded_at'];

/** One that tries another again, so that every column holds something. */
async function proposeWaiting({ ledger }: LedgerHarness): Promise<string> {
  const first = await propose(ledger, makeProposal(edit('one'), olivia, freely));
  await beginNow(ledger, first.id, rules);
  await settle(ledger, first.id, { state: 'failed', outcome: { word: 'refused' } });
  const again = await retry(ledger, first.id, olivia, {
    policy: rules,
    channelId: 'C0OPS0000',
    snapshot: { zones: [1] },
    approvers: [],
  });
  if (again.kind !== 'proposed') throw new Error(again.kind);
  return again.operation.id;
}

describe.each(engines.both)('on $name', ({ skip, emptyDatabase }) => {
  describe.skipIf(skip)('the seal', () => {
    test('every column is sealed or changes with transitions', async () => {
      const { rows } = await sql<{ column_name: string }>`
        select column_name from information_schema.columns where table_name = 'operations'`.execute(
        (await emptyDatabase()).db,
      );
      expect(rows.map(({ column_name: name }) => name).toSorted()).toEqual(
        [...Object.keys(mutations), ...moving].toSorted(),
      );
    });

    test.each(Object.entries(mutations))(
      'a changed %s voids it, at the click and when it runs',
      async (column, to) => {
        const harness = await createLedgerHarness(await emptyDatabase());
        const { ledger, enqueued, tamper } = harness;
        const why = column === 'key_id' ? 'key-gone' : 'changed';
        const clicked = await proposeWaiting(harness);
        const before = await findOperation(ledger, acme, clicked);
        if (!before) throw new Error('It is there.');
        await tamper(`update operations set ${column} = ${to} where id = '${clicked}'`);
        const clicker = column === 'tenant' ? { teamId: 'T0BETA000', userId: ben.userId } : ben;
        const facts = makeContext(ben, before, rules);
        expect(await approve(ledger, clicked, clicker, facts)).toMatchObject({
          kind: 'void',
          why,
          operation: { state: 'failed', movedBy: 'system', outcome: { word: 'void', why } },
        });
        expect(await approve(ledger, clicked, clicker, facts)).toMatchObject({
          kind: 'already',
          operation: { state: 'failed' },
        });

        const running = await proposeWaiting(harness);
        await approveNow(ledger, running, ben, rules);
        await tamper(`update operations set ${column} = ${to} where id = '${running}'`);
        expect(await begin(ledger, running, { ...facts, approvers: [facts.clicker] })).toMatchObject({
          kind: 'void',
          why,
        });
        expect(await begin(ledger, running, facts)).toMatchObject({
          kind: 'already',
          operation: { state: 'failed' },
        });
        expect(enqueued.filter((id) => id === clicked)).toEqual([]);
        expect(
          await findEvents(ledger, acme, running).then((log) => log.some(({ what }) => what === 'executing')),
        ).toBe(false);
      },
    );

    test('the database without the keyring is not enough to seal anew', async () => {
      const { ledger, tamper, database } = await createLedgerHarness(await emptyDatabase());
      const { id } = await propose(ledger, makeProposal());
      await approveNow(ledger, id, ben);
      await tamper(`update operations set path = '/mc/apps/app-1/volumes/another' where id = '${id}'`);
      const row = await database.db
        .selectFrom('operations')
        .selectAll()
        .where('id', '=', id)
        .executeTakeFirstOrThrow();
      await tamper(`update operations set seal = '${computeSeal(row)}' where id = '${id}'`);
      expect(await beginNow(ledger, id)).toMatchObject({ kind: 'void', why: 'changed' });
    });

    test.each([
      ['the state alone', `update operations set state = 'approved'`],
      [
        'the state with a line in the log',
        `update operations set state = 'approved', seq = 2;
         insert into operation_events (operation_id, seq, at, actor, what)
         select id, 2, created_at, 'U0BEN0000', 'approved' from operations`,
      ],
      [
        'the approval by nobody',
        `update operations set state = 'approved', seq = 2;
         insert into operation_events (operation_id, seq, at, actor, what)
         select id, 2, created_at, 'system', 'approved' from operations`,
      ],
    ])('an approval that was written into the database, %s, does not count', async (_name, statements) => {
      const { ledger, tamper } = await createLedgerHarness(await emptyDatabase());
      const { id } = await propose(ledger, makeProposal());
      for (const statement of statements.split(';')) await tamper(statement);
      expect(await beginNow(ledger, id)).toMatchObject({ kind: 'void', why: 'changed' });
    });

    test('an executed operation does not run again when its state is turned back', async () => {
      const { ledger, tamper } = await createLedgerHarness(await emptyDatabase());
      const { id } = await propose(ledger, makeProposal());
      await approveNow(ledger, id, ben);
      await beginNow(ledger, id);
      await tamper(`update operations set state = 'approved'`);
      expect(await beginNow(ledger, id)).toMatchObject({ kind: 'void', why: 'changed' });
    });

    test('an approval of another request does not count for this one', async () => {
      const { ledger, tamper } = await createLedgerHarness(await emptyDatabase());
      const [one, other] = [await propose(ledger, makeProposal()), await propose(ledger, makeProposal())];
      await approveNow(ledger, one.id, ben);
      await tamper(`update operations set state = 'approved', seq = 2 where id = '${other.id}'`);
      await tamper(
        `insert into operation_events select '${other.id}', seq, at, actor, what, outcome, key_id, mac
           from operation_events where operation_id = '${one.id}' and seq = 2`,
      );
      expect(await beginNow(ledger, other.id)).toMatchObject({ kind: 'void', why: 'changed' });
    });

    test.each([
      [
        'its time',
        `update operation_events set at = at + interval '1 hour' where what = 'approval' or mac is not null`,
      ],
      ['who gave it', `update operation_events set actor = 'U0NINA000' where mac is not null`],
    ])('an approval of which %s was changed does not count', async (_what, statements) => {
      const { ledger, tamper } = await createLedgerHarness(await emptyDatabase());
      const { id } = await propose(ledger, makeProposal());
      await approveNow(ledger, id, ben);
      for (const statement of statements.split(';')) await tamper(statement);
      expect(await beginNow(ledger, id)).toMatchObject({ kind: 'void', why: 'changed' });
    });

    test('the value of another request, or a missing one, voids it', async () => {
      const harness = await createLedgerHarness(await emptyDatabase());
      const { ledger, tamper } = harness;
      const proposeEdit = async (value: string) => {
        const { id } = await propose(ledger, makeProposal(edit(value), olivia, freely));
        return id;
      };
      const [first, second, third] = [
        await proposeEdit('one'),
        await proposeEdit('two'),
        await proposeEdit('three'),
      ];
      await tamper(`update operation_values set sealed = (select sealed from operation_values
        where operation_id = '${first}') where operation_id = '${second}'`);
      await tamper(`delete from operation_values where operation_id = '${third}'`);
      expect(await beginNow(ledger, second, freely)).toMatchObject({ kind: 'void', why: 'changed' });
      expect(await beginNow(ledger, third, freely)).toMatchObject({ kind: 'void', why: 'key-gone' });
      expect(await beginNow(ledger, first, freely)).toMatchObject({ kind: 'begun' });
    });

    test('a keyring without its key voids it as key-gone', async () => {
      const { ledger, openReplica, database } = await createLedgerHarness(await emptyDatabase());
      const { id } = await propose(ledger, makeProposal());
      const elsewhere = openReplica(database, await createKeyring(generateKeys('k2')));
      expect(await approveNow(elsewhere, id, ben)).toMatchObject({ kind: 'void', why: 'key-gone' });
    });

    test('rows and events cannot be deleted', async () => {
      const { ledger, database } = await createLedgerHarness(await emptyDatabase());
      await propose(ledger, makeProposal());
      for (const statement of [
        'delete from operations',
        'delete from operation_events',
        'truncate operation_events',
        `update operation_events set actor = 'U0NOBODY0'`,
      ])
        await expect(sql.raw(statement).execute(database.db)).rejects.toThrow('append-only');
    });
  });
});

const json = fc.jsonValue({ maxDepth: 3 }) as fc.Arbitrary<Json>;
const shuffle = (value: Json | undefined): Json => {
  if (typeof value !== 'object' || value === null) return value ?? null;
  if (Array.isArray(value)) return (value as Json[]).map(shuffle);
  return Object.fromEntries(
    Object.entries(value)
      .toReversed()
      .map(([name, member]) => [name, shuffle(member)]),
  );
};

test('canonical JSON does not depend on the order of members, and reads back', () => {
  fc.assert(
    fc.property(json, (value) => {
      expect(canonicalJson(shuffle(value))).toBe(canonicalJson(value));
      // What reads back the same has its spelling to itself.
      expect(JSON.parse(canonicalJson(value))).toEqual(JSON.parse(JSON.stringify(value)));
    }),
  );
});

test.each([Number.NaN, Number.POSITIVE_INFINITY, undefined as unknown as Json])(
  '%s has no canonical JSON',
  (value) => {
    expect(() => canonicalJson([value])).toThrow(/finite|JSON holds/);
  },
);

const segment = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 30 });
const number = fc.bigInt({ min: 0n, max: 2n ** 63n - 1n }).map(String);

const kinds = indexKinds(operationKinds);

/** Undefined for an id that leads to another path. */
function seal(asked: TestRequest): SealedRequest | undefined {
  const { kind, request, value } = toRequested(asked);
  try {
    return kind.request(request, value);
  } catch (error) {
    if (error instanceof UserError) return undefined;
    throw error;
  }
}

const read = (kind: string, stored: SealedRequest, valueMac: string | null = null): unknown =>
  readRequest(kinds, { kind, value_mac: valueMac, ...stored } as OperationRow);

test('a request reads back from its sealed strings, whatever its ids hold', () => {
  fc.assert(
    fc.property(segment, segment, (appId, volumeId) => {
      const stored = seal({ kind: 'volume-delete', appId, volumeId });
      fc.pre(stored !== undefined);
      expect(stored && read('volume-delete', stored)).toEqual({ appId, volumeId });
    }),
  );
  fc.assert(
    fc.property(number, number, fc.boolean(), (scriptId, variableId, required) => {
      const stored = seal({ kind: 'variable-update', scriptId, variableId, required });
      for (const valueMac of [null, 'mac'])
        expect(stored && read('variable-update', stored, valueMac)).toEqual({
          scriptId,
          variableId,
          required,
          setsValue: valueMac !== null,
        });
    }),
  );
});

test('a change of the value alone reads back', () => {
  const ids = { scriptId: '1', variableId: '2' };
  const stored = seal({ kind: 'variable-update', ...ids, value: new Secret('x') });
  expect(stored?.body).toBe('{}');
  expect(stored && read('variable-update', stored, 'mac')).toEqual({
    ...ids,
    required: undefined,
    setsValue: true,
  });
});

test.each([
  ['volume-delete', 'DELETE', '/mc/apps/a/volumes/b/c', null],
  ['volume-delete', 'DELETE', '/mc/apps/a/volumes', null],
  ['volume-delete', 'DELETE', '/mc/apps/a/volumes/%zz', null],
  ['volume-delete', 'DELETE', '/mc/apps/a/volumes/b', '{}'],
  ['volume-delete', 'GET', '/mc/apps/a/volumes/b', null],
  ['volume-delete', 'DELETE', '/mc/apps/%61/volumes/b', null],
  ['variable-update', 'POST', '/compute/script/1/variables/2', null],
  ['variable-update', 'POST', '/compute/script/1/variables/2', '{"Required":1}'],
  ['variable-update', 'POST', '/compute/script/1/variables/2', '{"Required":true,"Other":1}'],
  ['variable-update', 'POST', '/compute/script/1/variables/2', '{'],
  ['something', 'DELETE', '/mc/apps/a/volumes/b', null],
])('%s %s %s %s is not read as a request', (kind, method, path, body) => {
  expect(read(kind, { method, path, body })).toBeUndefined();
});
