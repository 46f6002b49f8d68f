import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Operations } from '../../src/operations/ledger.ts';
import { emptyRecords, enginesUnderTest } from '../support/engines.ts';
import { acme, anna, asks, ben, carl, factsFor, type Ledger, ledgerOn, olivia } from './ledger-setup.ts';
import { createWorld, start, story } from './presses.ts';

const engines = await enginesUnderTest();

describe.each([
  { ...engines.embedded, numRuns: 50 },
  { ...engines.postgres, numRuns: 60 },
])('on $name', ({ skip, place, numRuns }) => {
  /** Three processes on one database; the embedded one has one process, there it is three commands at a time. */
  const threeProcesses = async () => {
    const there = await place();
    const first = await there.open();
    const others = there.databaseUrl ? [await there.open(), await there.open()] : [first, first];
    const benchWith = async (): Promise<Ledger & { readonly processes: readonly Operations[] }> => {
      await emptyRecords(first);
      const bench = await ledgerOn(first);
      return { ...bench, processes: [bench.ledger, ...others.map((database) => bench.another(database))] };
    };
    return benchWith;
  };

  describe.skipIf(skip)('the ledger', () => {
    test('keeps its promises whoever presses what, when, on which process', {
      timeout: 120_000,
    }, async () => {
      const benchWith = await threeProcesses();
      const reached = new Set<string>();
      await fc.assert(
        fc.asyncProperty(start, story, fc.scheduler(), async (steps, rounds, scheduler) => {
          const bench = await benchWith();
          const world = createWorld(bench, bench.processes, () => scheduler.schedule(Promise.resolve()));
          await world.begin(steps);
          for (const round of rounds)
            await scheduler.waitFor(Promise.all(round.map((one) => world.press(one))));
          for (const word of await world.check()) reached.add(word);
        }),
        { numRuns },
      );
      // Or it would promise little.
      expect([...reached]).toEqual(
        expect.arrayContaining(['approval', 'approved', 'executing', 'unknown', 'succeeded', 'failed']),
      );
    });

    test('hundreds of clicks at once: one approval, one begin', async () => {
      const { ledger, processes, enqueued, audit } = await (await threeProcesses())();
      const each = <T>(press: (on: Operations, n: number) => Promise<T>): Promise<T[]> =>
        Promise.all(Array.from({ length: 300 }, (_, n) => press(processes[n % 3] ?? ledger, n)));

      const asked = await ledger.propose(asks());
      const approvals = await each((on, n) => {
        const by = [ben, carl, anna][(n % 7) % 3] ?? ben;
        return on.approve(asked.id, by, factsFor(by, asked));
      });
      expect(approvals.filter(({ kind }) => kind === 'approved')).toHaveLength(1);
      expect(approvals.filter(({ kind }) => kind === 'already')).toHaveLength(299);
      expect(enqueued).toEqual([asked.id]);

      const approved = await ledger.find(acme, asked.id);
      const facts = factsFor(olivia, approved ?? asked);
      const begins = await each((on) => on.begin(asked.id, facts));
      expect(begins.filter(({ kind }) => kind === 'begun')).toHaveLength(1);
      expect(begins.filter(({ kind }) => kind === 'already')).toHaveLength(299);
      expect((await audit()).map(({ what }) => what)).toEqual([
        'operation-proposed',
        'operation-approved',
        'operation-executing',
      ]);
    });
  });
});
