import * as fc from 'fast-check';
import { sql } from 'kysely';
import { describe, expect, test } from 'vitest';
import type { Json } from '../../src/operations/model.ts';
import { readRequest, toStoredRequest } from '../../src/operations/request.ts';
import { canonicalJson, computeSeal } from '../../src/operations/seal.ts';
import { Secret } from '../../src/secrets/secret.ts';
import { createKeyring, generateKeys } from '../auth/keyring/keyrings.ts';
import { prepareEngines } from '../support/engines.ts';
import {
  acme,
  approve,
  begin,
  ben,
  createLedgerHarness,
  type LedgerHarness,
  makeContext,
  makeProposal,
  olivia,
  policy,
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
  reason: `'another reason'`,
  snapshot: `'{"zones":[]}'`,
  policy_version: '8',
  approvals_needed: '0',
  attempt_of: 'null',
  created_at: `created_at + interval '1 millisecond'`,
  expires_at: `expires_at + interval '1 day'`,
  seal: `'${'0'.repeat(64)}'`,
  mac: `'${'0'.repeat(64)}'`,
  key_id: `'k0'`,
};
// What moves with an operation. Where it differs from the log, that voids too.
const moving = ['id', 'state', 'seq', 'moved_by', 'moved_at', 'outcome', 'messages', 'reminded_at'];

/** One that tries another again, so that every column holds something. */
async function waits({ ledger }: LedgerHarness): Promise<string> {
  const first = await ledger.propose(makeProposal(edit('one'), olivia, freely));
  await begin(ledger, first.id, rules);
  await ledger.settle(first.id, 'failed', { word: 'refused' });
  const again = await ledger.tryAgain(first.id, olivia, {
    policy: rules,
    channelId: 'C0OPS0000',
    snapshot: { zones: [1] },
  });
  if (again.kind !== 'proposed') throw new Error(again.kind);
  return again.operation.id;
}

describe.each(engines.both)('on $name', ({ skip, emptyDatabase: empty }) => {
  describe.skipIf(skip)('the seal', () => {
    test('every column is sealed or moves', async () => {
      const { rows } = await sql<{ column_name: string }>`
        select column_name from information_schema.columns where table_name = 'operations'`.execute(
        (await empty()).db,
      );
      expect(rows.map(({ column_name: name }) => name).toSorted()).toEqual(
        [...Object.keys(mutations), ...moving].toSorted(),
      );
    });

    test.each(Object.entries(mutations))(
      'a changed %s voids it, at the click and when it runs',
      async (column, to) => {
        const bench = await createLedgerHarness(await empty());
        const { ledger, enqueued, tamper } = bench;
        const why = column === 'key_id' ? 'key-gone' : 'changed';
        const clicked = await waits(bench);
        const before = await ledger.find(acme, clicked);
        if (!before) throw new Error('It is there.');
        await tamper(`update operations set ${column} = ${to} where id = '${clicked}'`);
        const clicker = column === 'tenant' ? { teamId: 'T0BETA000', userId: ben.userId } : ben;
        const facts = makeContext(ben, before, rules);
        expect(await ledger.approve(clicked, clicker, facts)).toMatchObject({
          kind: 'void',
          why,
          operation: { state: 'failed', movedBy: 'system', outcome: { word: 'void', why } },
        });
        expect(await ledger.approve(clicked, clicker, facts)).toMatchObject({
          kind: 'already',
          state: 'failed',
        });

        const running = await waits(bench);
        await approve(ledger, running, ben, rules);
        await tamper(`update operations set ${column} = ${to} where id = '${running}'`);
        expect(await ledger.begin(running, { ...facts, approvers: [facts.clicker] })).toMatchObject({
          kind: 'void',
          why,
        });
        expect(await ledger.begin(running, facts)).toMatchObject({ kind: 'already', state: 'failed' });
        expect(enqueued.filter((id) => id === clicked)).toEqual([]);
        expect(
          await ledger.events(acme, running).then((log) => log.some(({ what }) => what === 'executing')),
        ).toBe(false);
      },
    );

    test('who has the database and not the keyring cannot seal anew', async () => {
      const { ledger, tamper, database } = await createLedgerHarness(await empty());
      const { id } = await ledger.propose(makeProposal());
      await approve(ledger, id, ben);
      await tamper(`update operations set path = '/mc/apps/app-1/volumes/another' where id = '${id}'`);
      const row = await database.db
        .selectFrom('operations')
        .selectAll()
        .where('id', '=', id)
        .executeTakeFirstOrThrow();
      await tamper(`update operations set seal = '${computeSeal(row)}' where id = '${id}'`);
      expect(await begin(ledger, id)).toMatchObject({ kind: 'void', why: 'changed' });
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
    ])('an approval that was written into the database, %s, is none', async (_name, statements) => {
      const { ledger, tamper } = await createLedgerHarness(await empty());
      const { id } = await ledger.propose(makeProposal());
      for (const statement of statements.split(';')) await tamper(statement);
      expect(await begin(ledger, id)).toMatchObject({ kind: 'void', why: 'changed' });
    });

    test('what has run is not run again by turning its state back', async () => {
      const { ledger, tamper } = await createLedgerHarness(await empty());
      const { id } = await ledger.propose(makeProposal());
      await approve(ledger, id, ben);
      await begin(ledger, id);
      await tamper(`update operations set state = 'approved'`);
      expect(await begin(ledger, id)).toMatchObject({ kind: 'void', why: 'changed' });
    });

    test('an approval of another request does not count for this one', async () => {
      const { ledger, tamper } = await createLedgerHarness(await empty());
      const [one, other] = [await ledger.propose(makeProposal()), await ledger.propose(makeProposal())];
      await approve(ledger, one.id, ben);
      await tamper(`update operations set state = 'approved', seq = 2 where id = '${other.id}'`);
      await tamper(
        `insert into operation_events select '${other.id}', seq, at, actor, what, outcome, key_id, mac
           from operation_events where operation_id = '${one.id}' and seq = 2`,
      );
      expect(await begin(ledger, other.id)).toMatchObject({ kind: 'void', why: 'changed' });
    });

    test('a value of another request, or none at all, voids it', async () => {
      const bench = await createLedgerHarness(await empty());
      const { ledger, tamper } = bench;
      const propose = async (value: string) => {
        const { id } = await ledger.propose(makeProposal(edit(value), olivia, freely));
        return id;
      };
      const [first, second, third] = [await propose('one'), await propose('two'), await propose('three')];
      await tamper(`update operation_values set sealed = (select sealed from operation_values
        where operation_id = '${first}') where operation_id = '${second}'`);
      await tamper(`delete from operation_values where operation_id = '${third}'`);
      expect(await begin(ledger, second, freely)).toMatchObject({ kind: 'void', why: 'changed' });
      expect(await begin(ledger, third, freely)).toMatchObject({ kind: 'void', why: 'key-gone' });
      expect(await begin(ledger, first, freely)).toMatchObject({ kind: 'begun' });
    });

    test('under a keyring that lacks its key it is void, and says which way', async () => {
      const { ledger, openReplica: another, database } = await createLedgerHarness(await empty());
      const { id } = await ledger.propose(makeProposal());
      const elsewhere = another(database, await createKeyring(generateKeys('k2')));
      expect(await approve(elsewhere, id, ben)).toMatchObject({ kind: 'void', why: 'key-gone' });
    });

    test('neither table forgets', async () => {
      const { ledger, database } = await createLedgerHarness(await empty());
      await ledger.propose(makeProposal());
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
const shuffled = (value: Json): Json => {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return (value as Json[]).map(shuffled);
  return Object.fromEntries(
    Object.entries(value)
      .toReversed()
      .map(([name, member]) => [name, shuffled(member)]),
  );
};

test('one value has one spelling, whatever the order of its members, and it reads back', () => {
  fc.assert(
    fc.property(json, (value) => {
      expect(canonicalJson(shuffled(value))).toBe(canonicalJson(value));
      // What reads back the same has its spelling to itself.
      expect(JSON.parse(canonicalJson(value))).toEqual(JSON.parse(JSON.stringify(value)));
    }),
  );
});

test.each([Number.NaN, Number.POSITIVE_INFINITY, undefined as unknown as Json])(
  '%s is not sealed',
  (value) => {
    expect(() => canonicalJson([value])).toThrow(/finite|JSON holds/);
  },
);

const segment = fc
  .string({ unit: 'grapheme', minLength: 1, maxLength: 30 })
  .filter((text) => text.isWellFormed());

test('what is asked for comes back from what is stored, whatever is in the ids', () => {
  fc.assert(
    fc.property(
      segment,
      segment,
      fc.option(fc.boolean(), { nil: undefined }),
      fc.boolean(),
      (one, two, required, setsValue) => {
        const volume = { kind: 'volume-delete', appId: one, volumeId: two } as const;
        expect(readRequest('volume-delete', { ...toStoredRequest(volume), setsValue: false })).toEqual(
          volume,
        );
        const variable = {
          kind: 'variable-update',
          scriptId: one,
          variableId: two,
          ...(required === undefined ? {} : { required }),
        } as const;
        expect(readRequest('variable-update', { ...toStoredRequest(variable), setsValue })).toEqual({
          ...variable,
          setsValue,
        });
      },
    ),
  );
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
])('%s %s %s %s is no request of ours', (kind, method, path, body) => {
  expect(readRequest(kind, { method, path, body, setsValue: false })).toBeUndefined();
});
