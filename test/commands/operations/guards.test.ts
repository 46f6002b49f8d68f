import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { begin } from '../../../src/commands/operations/execute.ts';
import { propose } from '../../../src/commands/operations/propose.ts';
import { findOperation } from '../../../src/commands/operations/queries.ts';
import { collectSignedParts } from '../../../src/commands/operations/seal.ts';
import type { Ledger } from '../../../src/commands/operations/transitions.ts';
import { prepareEngines } from '../../support/engines.ts';
import {
  acme,
  anna,
  approveNow,
  ben,
  carl,
  createLedgerHarness,
  deletion,
  makeContext,
  makeProposal,
  olivia,
  policy,
} from './ledger-harness.ts';

const { embedded } = await prepareEngines();
const twoOfThree = { ...policy, destroyApprovals: 2 };

/*
 * Each guard of `validity.ts` on its own: all else about the row, its log and its signatures is as it should be, so that
 * only this guard notices. Whoever does it has the keyring as well as the database.
 */

/** A line of the log, signed as an approval by somebody. */
async function forge(ledger: Ledger, id: string, seq: number, by: string, what: string): Promise<string> {
  const row = await ledger.db
    .selectFrom('operations')
    .select(['id', 'seal', 'created_at'])
    .where('id', '=', id)
    .executeTakeFirstOrThrow();
  const at = row.created_at;
  const { keyId, mac } = ledger.sealer.sign(collectSignedParts(row, { by, at }));
  return `insert into operation_events (operation_id, seq, at, actor, what, key_id, mac)
    select id, ${seq}, created_at, '${by}', '${what}', '${keyId}', '${mac}' from operations where id = '${id}'`;
}

type Tamper = (ledger: Ledger, id: string) => Promise<readonly string[]>;

const approved = async (ledger: Ledger, id: string): Promise<void> => {
  await approveNow(ledger, id, ben, twoOfThree);
  await approveNow(ledger, id, carl, twoOfThree);
};

test.each<[guard: string, prepare: typeof approved, Tamper]>([
  [
    'its last line in the log is not its state',
    approved,
    async (ledger, id) => [
      await forge(ledger, id, 4, anna.userId, 'approval'),
      `update operations set seq = 4 where id = '${id}'`,
    ],
  ],
  [
    'its number is not that of its last line',
    approved,
    async (_, id) => [`update operations set seq = 4 where id = '${id}'`],
  ],
  [
    'it began before',
    async () => undefined,
    async (ledger, id) => [
      await forge(ledger, id, 2, ben.userId, 'approval'),
      `insert into operation_events (operation_id, seq, at, actor, what)
         select id, 3, created_at, 'system', 'executing' from operations where id = '${id}'`,
      await forge(ledger, id, 4, carl.userId, 'approved'),
      `update operations set state = 'approved', seq = 4 where id = '${id}'`,
    ],
  ],
  [
    'its requester approved it',
    async () => undefined,
    async (ledger, id) => [
      await forge(ledger, id, 2, olivia.userId, 'approval'),
      await forge(ledger, id, 3, ben.userId, 'approved'),
      `update operations set state = 'approved', seq = 3 where id = '${id}'`,
    ],
  ],
  [
    'too few approved it',
    async () => undefined,
    async (ledger, id) => [
      await forge(ledger, id, 2, ben.userId, 'approved'),
      `update operations set state = 'approved', seq = 2 where id = '${id}'`,
    ],
  ],
  [
    'an approval was given at another time',
    approved,
    async (_, id) => [
      `update operation_events set at = at + interval '1 minute' where operation_id = '${id}' and seq = 2`,
    ],
  ],
  [
    'an approval was given by somebody else',
    approved,
    async (_, id) => [
      `update operation_events set actor = 'U0NOBODY0' where operation_id = '${id}' and seq = 2`,
    ],
  ],
])('an operation does not run where %s', async (_, prepare, tamperWith) => {
  const { ledger, tamper } = await createLedgerHarness(await embedded.emptyDatabase());
  const { id } = await propose(ledger, makeProposal(deletion, olivia, twoOfThree));
  await prepare(ledger, id);
  for (const statement of await tamperWith(ledger, id)) await tamper(statement);
  const operation = await findOperation(ledger, acme, id);
  if (!operation) throw new Error('It is there.');
  expect(operation.state).toBe('approved');
  const facts = makeContext(olivia, operation, twoOfThree);
  expect(await begin(ledger, id, facts)).toMatchObject({ kind: 'void', why: 'changed' });
  const { rows } =
    await sql`select 1 from operation_events where what = 'executing' and actor = 'system' and seq > 4`.execute(
      ledger.db,
    );
  expect(rows).toEqual([]);
});

test('the same log, untouched, runs', async () => {
  const { ledger } = await createLedgerHarness(await embedded.emptyDatabase());
  const { id } = await propose(ledger, makeProposal(deletion, olivia, twoOfThree));
  await approved(ledger, id);
  const operation = await findOperation(ledger, acme, id);
  if (!operation) throw new Error('It is there.');
  expect(await begin(ledger, id, makeContext(olivia, operation, twoOfThree))).toMatchObject({
    kind: 'begun',
  });
});
