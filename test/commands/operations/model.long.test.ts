import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { approve } from '../../../src/commands/operations/decide.ts';
import { begin } from '../../../src/commands/operations/execute.ts';
import { propose } from '../../../src/commands/operations/propose.ts';
import { findOperation } from '../../../src/commands/operations/queries.ts';
import type { Ledger } from '../../../src/commands/operations/transitions.ts';
import { deleteRows, prepareEngines } from '../../support/engines.ts';
import {
  acme,
  anna,
  ben,
  carl,
  createLedgerHarness,
  type LedgerHarness,
  makeContext,
  makeProposal,
  olivia,
} from './ledger-harness.ts';
import { createScenario, start, steps } from './random-decisions.ts';

const engines = await prepareEngines();

describe.each([
  { ...engines.embedded, numRuns: 50 },
  { ...engines.postgres, numRuns: 60 },
])('on $name', ({ skip, createLocation, numRuns }) => {
  /** Three processes on one database; the embedded one has one process, there it is three commands at a time. */
  const threeProcesses = async () => {
    const there = await createLocation();
    const first = await there.open();
    const others = there.databaseUrl ? [await there.open(), await there.open()] : [first, first];
    const benchWith = async (): Promise<LedgerHarness & { readonly processes: readonly Ledger[] }> => {
      await deleteRows(first);
      const bench = await createLedgerHarness(first);
      return {
        ...bench,
        processes: [bench.ledger, ...others.map((database) => bench.openReplica(database))],
      };
    };
    return benchWith;
  };

  describe.skipIf(skip)('the ledger', () => {
    test('random presses on several processes keep every promise', {
      timeout: 120_000,
    }, async () => {
      const benchWith = await threeProcesses();
      const reached = new Set<string>();
      await fc.assert(
        fc.asyncProperty(start, steps, fc.scheduler(), async (steps, rounds, scheduler) => {
          const bench = await benchWith();
          const world = createScenario(bench, bench.processes, () => scheduler.schedule(Promise.resolve()));
          await world.begin(steps);
          for (const round of rounds)
            await scheduler.waitFor(Promise.all(round.map((one) => world.run(one))));
          for (const word of await world.check()) reached.add(word);
        }),
        { numRuns },
      );
      // Or it would promise little.
      expect([...reached]).toEqual(
        expect.arrayContaining(['approval', 'approved', 'executing', 'unknown', 'succeeded', 'failed']),
      );
    });

    test('300 presses at once: one approval, one begin', async () => {
      const { ledger, processes, enqueued, audit } = await (await threeProcesses())();
      const each = <T>(press: (on: Ledger, n: number) => Promise<T>): Promise<T[]> =>
        Promise.all(Array.from({ length: 300 }, (_, n) => press(processes[n % 3] ?? ledger, n)));

      const asked = await propose(ledger, makeProposal());
      const approvals = await each((on, n) => {
        const by = [ben, carl, anna][(n % 7) % 3] ?? ben;
        return approve(on, asked.id, by, makeContext(by, asked));
      });
      expect(approvals.filter(({ kind }) => kind === 'approved')).toHaveLength(1);
      expect(approvals.filter(({ kind }) => kind === 'already')).toHaveLength(299);
      expect(enqueued).toEqual([asked.id]);

      const approved = await findOperation(ledger, acme, asked.id);
      const facts = makeContext(olivia, approved ?? asked);
      const begins = await each((on) => begin(on, asked.id, facts));
      expect(begins.filter(({ kind }) => kind === 'begun')).toHaveLength(1);
      expect(begins.filter(({ kind }) => kind === 'already')).toHaveLength(299);
      expect((await audit()).map(({ event }) => event)).toEqual([
        'operation-proposed',
        'operation-approved',
        'operation-executing',
      ]);
    });
  });
});
