import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Person } from '../../../src/auth/identity.ts';
import type { Policy } from '../../../src/auth/policy/policy.ts';
import { approve, cancel, confirmOutcome, deny } from '../../../src/commands/operations/approvals.ts';
import {
  begin,
  cancelUnbegun,
  expireOverdue,
  markAbandoned,
  settle,
} from '../../../src/commands/operations/execute.ts';
import {
  type DecisionContext,
  type OperationState,
  transitionsFrom,
} from '../../../src/commands/operations/model.ts';
import { propose } from '../../../src/commands/operations/propose.ts';
import { type Ledger, withLock } from '../../../src/commands/operations/transitions.ts';
import { UserError } from '../../../src/errors.ts';
import { Secret } from '../../../src/secrets/secret.ts';
import { deleteRows, prepareEngines } from '../../support/engines.ts';
import {
  acme,
  anna,
  approveNow,
  beginNow,
  ben,
  carl,
  createLedgerHarness,
  deletion,
  findEvents,
  findNow,
  type LedgerHarness,
  makeContext,
  makeProposal,
  type OperationEvent,
  olivia,
  person,
  policy,
  storePolicy,
  type TestRequest,
} from './ledger-harness.ts';

/*
 * Random people press random things on several processes at once. What each read before it pressed may be old by
 * then: reading and pressing are steps of their own, and fast-check says in which order all the steps start.
 */

const people = { olivia, anna, ben, carl, nobody: person('U0NOBODY0') };
const nobodyApproves = [people.nobody.userId, olivia.userId];
const settings = {
  one: policy,
  two: { ...policy, destroyApprovals: 2 },
  withoutBen: { ...policy, approvers: [anna.userId, carl.userId] },
} satisfies Record<string, Policy>;
const requests = [
  deletion,
  { kind: 'variable-update', scriptId: '301', variableId: '12', value: new Secret('value') },
] as const satisfies readonly TestRequest[];

const weights = {
  propose: 3,
  approve: 9,
  deny: 3,
  cancel: 2,
  begin: 8,
  settle: 4,
  abandon: 2,
  confirm: 2,
  expire: 1,
  tamper: 1,
  wait: 2,
  setPolicy: 1,
  stop: 1,
};
type Does = keyof typeof weights;

interface Step {
  readonly does: Does;
  readonly by: keyof typeof people;
  /** Which operation, process, setting, request or outcome. */
  readonly n: number;
}

const does = fc.oneof(
  ...Object.entries(weights).map(([word, weight]) => ({ weight, arbitrary: fc.constant(word as Does) })),
);
// Most presses should lead somewhere.
const by = fc.constantFrom<keyof typeof people>(
  ...(['olivia', 'olivia', 'nobody', 'anna', 'anna', 'ben', 'ben', 'carl', 'carl'] as const),
);
const press: fc.Arbitrary<Step> = fc.record({ does, by, n: fc.nat(59) });

/** Rounds of presses: those of one round at once, on whatever processes. */
const steps = fc.array(fc.array(press, { minLength: 1, maxLength: 5 }), {
  minLength: 6,
  maxLength: 14,
});

/** How far the first operation is when the steps begins: 1 approved, 2 executing, 3 unknown. */
const start = fc.nat(3);

function createScenario(harness: LedgerHarness, processes: readonly Ledger[], step: () => Promise<unknown>) {
  const ids: string[] = [];
  const begun: string[] = [];
  // Whose request was changed in the database before it began.
  const tampered = new Set<string>();
  let rules: Policy = settings.one;

  const proposeOne = async (on: Ledger, by: Person, n: number, asked = rules): Promise<string> => {
    const { id } = await propose(on, makeProposal(requests[n % requests.length], by, asked));
    ids.push(id);
    return id;
  };

  type OnWorld = (on: Ledger, by: Person, n: number) => unknown;
  const onWorld: Partial<Record<Does, OnWorld>> = {
    propose: (on, by, n) => (ids.length < 4 ? proposeOne(on, by, n) : undefined),
    wait: (_on, _by, n) => harness.advance([1, 5, 11, 31][n % 4] ?? 1),
    // A press that read the version before is refused.
    setPolicy: (on, _by, n) => {
      rules = { ...(Object.values(settings)[n % 3] ?? rules), version: rules.version + 1 };
      return storePolicy(on.db, acme, rules);
    },
    expire: (on) => expireOverdue(on),
    stop: (on, by, n) => (n < 5 ? cancelUnbegun(on, { person: by, tenant: acme }) : undefined),
  };

  type OnOne = (on: Ledger, id: string, by: Person, facts: DecisionContext, n: number) => Promise<unknown>;
  const onOne: Partial<Record<Does, OnOne>> = {
    approve: (on, id, by, facts) => approve(on, id, by, facts),
    deny: (on, id, by, facts) => deny(on, id, by, { reason: 'no', context: facts }),
    cancel: (on, id, by) => cancel(on, id, by),
    async begin(on, id, _by, facts) {
      if ((await begin(on, id, facts)).kind === 'begun') begun.push(id);
    },
    settle(on, id, _by, _facts, n) {
      const state = (['succeeded', 'failed', 'unknown'] as const)[n % 3] ?? 'unknown';
      return settle(on, id, { state, outcome: { word: state } });
    },
    abandon: (on, id) => withLock(on, { id }, markAbandoned),
    confirm: (on, id, by, facts, n) =>
      confirmOutcome(on, id, by, { state: n % 2 ? 'succeeded' : 'failed', context: facts }),
    async tamper(_on, id) {
      const changed = await harness.database.db
        .updateTable('operations')
        .set({ reason: 'something else' })
        .where('id', '=', id)
        .where('state', 'in', ['proposed', 'approved'])
        .executeTakeFirst();
      if (changed.numUpdatedRows > 0n) tampered.add(id);
    },
  };

  return {
    /** Makes what there is to press on. */
    async begin(steps: number) {
      const id = await proposeOne(harness.ledger, olivia, 0);
      await proposeOne(harness.ledger, anna, 0, settings.two);
      if (steps > 0) await approveNow(harness.ledger, id, ben, rules);
      if (steps > 1 && (await beginNow(harness.ledger, id, rules)).kind === 'begun') begun.push(id);
      if (steps > 2) await settle(harness.ledger, id, { state: 'unknown', outcome: { word: 'unknown' } });
    },
    async run({ does, by: name, n }: Step) {
      const on = processes[n % processes.length] ?? harness.ledger;
      const by = people[name];
      await step();
      await onWorld[does]?.(on, by, n);
      const pressed = onOne[does];
      if (!pressed) return;
      const seen = await findNow(on, ids[n % ids.length] ?? '');
      const facts = makeContext(by, seen, rules);
      await step();
      await pressed(on, seen.id, by, facts, n).catch((error: unknown) => {
        if (!(error instanceof UserError)) throw error;
      });
    },
    /** Holds everything the ledger promises; gives the words of all logs. */
    async check() {
      const records = await harness.audit();
      const words: string[] = [];
      for (const id of ids) {
        const log = await findEvents(harness.ledger, acme, id);
        words.push(...log.map(({ what }) => what));
        await expectLogMatchesRow(harness.ledger, id, log);
        // One record in the audit for each, in their order.
        const about = records.filter(({ detail }) => detail['operation'] === id);
        expect(about.map(({ event, actor }) => [event, actor])).toEqual(
          log.map(({ what, actor }) => [`operation-${what}`, actor]),
        );
        await expectEnoughApprovals(harness, id, log);
        const executing = log.filter(({ what }) => what === 'executing');
        expect(executing.length).toBeLessThanOrEqual(1);
        expect(begun.filter((one) => one === id)).toHaveLength(executing.length);
        if (tampered.has(id)) expect(executing).toEqual([]);
      }
      expect(records.filter(({ event }) => event === 'operation-proposed')).toHaveLength(ids.length);
      for (const on of processes)
        for (const id of ids) expect(await findNow(on, id)).toEqual(await findNow(harness.ledger, id));
      return words;
    },
  };
}

/** The log leads along the arrows to what the row says. */
async function expectLogMatchesRow(ledger: Ledger, id: string, log: readonly OperationEvent[]) {
  expect(log.map(({ seq }) => seq)).toEqual(log.map((_, index) => index + 1));
  let state: OperationState | undefined;
  for (const { what } of log) {
    if (what === 'approval') expect(state).toBe('proposed');
    else {
      expect(state === undefined ? ['proposed'] : transitionsFrom[state]).toContain(what);
      state = what;
    }
  }
  const last = log.at(-1);
  expect(await findNow(ledger, id)).toMatchObject({
    state,
    movedBy: last?.actor,
    movedAt: last?.at,
    outcome: last?.outcome,
  });
}

/** By enough others, each once, in time; then one job, which began in time. */
async function expectEnoughApprovals(harness: LedgerHarness, id: string, log: readonly OperationEvent[]) {
  const operation = await findNow(harness.ledger, id);
  const given = log.filter(
    ({ what, actor }) => actor !== 'system' && (what === 'approval' || what === 'approved'),
  );
  const by = given.map(({ actor }) => actor);
  expect(new Set(by).size).toBe(by.length);
  for (const who of [operation.requester.userId, ...nobodyApproves]) expect(by).not.toContain(who);
  for (const { at } of given) expect(at < operation.expiresAt).toBe(true);
  const approved = log.find(({ what }) => what === 'approved');
  expect(harness.enqueued.filter((queued) => queued === id)).toHaveLength(approved ? 1 : 0);
  if (approved) expect(by).toHaveLength(operation.approvalsNeeded);
  else expect(by.length).toBeLessThan(operation.approvalsNeeded);
  const began = log.find(({ what }) => what === 'executing');
  if (!began) return;
  expect(began.at.getTime() - (approved?.at.getTime() ?? 0)).toBeLessThan(10 * 60_000);
}

const engines = await prepareEngines();
const reached = new Set<string>();

describe.each([
  { ...engines.embedded, numRuns: 25 },
  { ...engines.postgres, numRuns: 15 },
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
    });

    test('100 presses at once: one approval, one begin', async () => {
      const { ledger, processes, enqueued, audit } = await (await threeProcesses())();
      const each = <T>(press: (on: Ledger, n: number) => Promise<T>): Promise<T[]> =>
        Promise.all(Array.from({ length: 100 }, (_, n) => press(processes[n % 3] ?? ledger, n)));

      const asked = await propose(ledger, makeProposal());
      const approvals = await each((on, n) => {
        const by = [ben, carl, anna][(n % 7) % 3] ?? ben;
        return approve(on, asked.id, by, makeContext(by, asked));
      });
      expect(approvals.filter(({ kind }) => kind === 'approved')).toHaveLength(1);
      expect(approvals.filter(({ kind }) => kind === 'already')).toHaveLength(99);
      expect(enqueued).toEqual([asked.id]);

      const facts = makeContext(olivia, await findNow(ledger, asked.id));
      const begins = await each((on) => begin(on, asked.id, facts));
      expect(begins.filter(({ kind }) => kind === 'begun')).toHaveLength(1);
      expect(begins.filter(({ kind }) => kind === 'already')).toHaveLength(99);
      expect((await audit()).map(({ event }) => event)).toEqual([
        'operation-proposed',
        'operation-approved',
        'operation-executing',
      ]);
    });
  });
});

test('the random presses reached every state', () => {
  const states = ['approval', 'approved', 'executing', 'unknown', 'succeeded', 'failed'];
  expect([...reached]).toEqual(expect.arrayContaining(states));
});
