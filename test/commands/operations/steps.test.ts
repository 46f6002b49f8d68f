import { expect, test } from 'vitest';
import { cancel, confirmOutcome, deny } from '../../../src/commands/operations/approvals.ts';
import { cancelUnbegun, expireOverdue, settle } from '../../../src/commands/operations/execute.ts';
import type { Operation } from '../../../src/commands/operations/model.ts';
import { propose } from '../../../src/commands/operations/propose.ts';
import type { Ledger } from '../../../src/commands/operations/transitions.ts';
import { UserError } from '../../../src/errors.ts';
import {
  beginStepRun,
  closeStepRun,
  completeStepJob,
  type StepRunEnd,
} from '../../../src/outbox/complete-step.ts';
import type { Database } from '../../../src/store/database.ts';
import { prepareEngines } from '../../support/engines.ts';
import {
  acme,
  anna,
  approveNow,
  beginNow,
  ben,
  createLedgerHarness,
  makeContext,
  makeProposal,
  olivia,
  policy,
} from './ledger-harness.ts';

const { embedded } = await prepareEngines();
const run = 'Fx0000000001';

interface StoredEnd {
  readonly end: StepRunEnd;
  readonly unlessProposed?: true;
}

async function createHarness(database: Database) {
  const { ledger: plain, advance } = await createLedgerHarness(database);
  /** The ends of the run, in order. */
  const ends: StoredEnd[] = [];
  const ledger: Ledger = {
    ...plain,
    async enqueue(job, data, options) {
      if (job.name === completeStepJob.name) {
        expect(options?.key).toBe(run);
        ends.push(data as unknown as StoredEnd);
      }
      return plain.enqueue(job, data, options);
    },
  };
  await beginStepRun(ledger, { run, installation: olivia }, { now: ledger.now(), ifItDies: 'it died' });
  return { ledger, ends, advance };
}

const proposal = { ...makeProposal(), stepRun: run };

/** Each way in which an operation ends, with the outputs of its step. */
const endings: readonly [
  string,
  (ledger: Ledger, id: string, advance: (minutes: number) => void) => Promise<unknown>,
][] = [
  [
    'deleted',
    async (ledger, id) => {
      await approveNow(ledger, id, ben);
      await beginNow(ledger, id);
      await settle(ledger, id, { state: 'succeeded', outcome: { word: 'done', instances: ['a', 'b'] } });
    },
  ],
  [
    'failed',
    async (ledger, id) => {
      await approveNow(ledger, id, ben);
      await beginNow(ledger, id);
      await settle(ledger, id, { state: 'failed', outcome: { word: 'not-detached' } });
    },
  ],
  [
    'unknown',
    async (ledger, id) => {
      await approveNow(ledger, id, ben);
      await beginNow(ledger, id);
      await settle(ledger, id, { state: 'unknown', outcome: { word: 'unanswered' } });
      // The step was told already.
      const context = makeContext(ben, { requester: olivia, approvals: [] });
      await confirmOutcome(ledger, id, ben, { state: 'succeeded', context });
    },
  ],
  [
    'denied',
    (ledger, id) =>
      deny(ledger, id, anna, {
        reason: 'It is in use',
        context: makeContext(anna, { requester: olivia, approvals: [] }),
      }),
  ],
  [
    'failed, void',
    async (ledger, id) => {
      await ledger.db.updateTable('operations').set({ reason: 'Another one' }).execute();
      await approveNow(ledger, id, ben);
    },
  ],
  ['cancelled', (ledger, id) => cancel(ledger, id, olivia)],
  ['cancelled, key gone', (ledger) => cancelUnbegun(ledger, { person: olivia, tenant: acme })],
  ['cancelled, app gone', (ledger) => cancelUnbegun(ledger, { person: undefined, tenant: acme })],
  [
    'expired',
    async (ledger, _, advance) => {
      advance(policy.expiryMinutes + 1);
      await expireOverdue(ledger);
    },
  ],
];

test.each(endings)('a step ends as %s, once, with its operation', async (name, end) => {
  const [outcome] = name.split(',');
  const { ledger, ends, advance } = await createHarness(await embedded.emptyDatabase());
  const operation: Operation = await propose(ledger, proposal);
  expect(ends).toMatchObject([{ end: { error: 'it died' }, unlessProposed: true }]);
  await end(ledger, operation.id, advance);
  expect(ends).toHaveLength(2);
  expect(ends[1]?.end).toMatchObject({ outputs: { outcome, reference: operation.id } });
  expect(JSON.parse(JSON.stringify(ends[1]?.end).replace(operation.id, 'its number'))).toMatchSnapshot();
});

test('a step asks for one operation, and for none once it was closed', async () => {
  const database = await embedded.emptyDatabase();
  const { ledger } = await createHarness(database);
  const first = await propose(ledger, proposal);
  await expect(propose(ledger, proposal)).rejects.toThrow(UserError);
  const stranger = { ...olivia, teamId: 'T0OTHER00' };
  await expect(propose(ledger, { ...proposal, requester: stranger })).rejects.toThrow(UserError);
  const rows = await database.db.selectFrom('operations').select('id').execute();
  expect(rows).toEqual([{ id: first.id }]);
  expect(await closeStepRun(database.db, run, new Date())).toBe(false);

  const { ledger: closed } = await createHarness(await embedded.emptyDatabase());
  expect(await closeStepRun(closed.db, run, new Date())).toBe(true);
  await expect(propose(closed, proposal)).rejects.toThrow(UserError);
});
