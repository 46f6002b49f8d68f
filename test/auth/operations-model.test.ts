import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Person } from '../../src/auth/identity.ts';
import type { Operations } from '../../src/auth/operations.ts';
import {
  arrows,
  type Operation,
  type OperationRequest,
  type OperationState,
} from '../../src/auth/operations-model.ts';
import type { Policy } from '../../src/auth/policy.ts';
import { Secret } from '../../src/secret.ts';
import { emptyRecords, enginesUnderTest } from '../store/engines.ts';
import {
  acme,
  anna,
  asks,
  ben,
  carl,
  deletion,
  factsFor,
  type Ledger,
  ledgerOn,
  olivia,
  person,
  policy,
} from './ledger.ts';

const engines = await enginesUnderTest();
const minute = 60_000;

/*
 * Random people press random things on three replicas at once. What each read before it pressed may be old by then:
 * reading and pressing are steps of their own, and fast-check says in which order all the steps start.
 */

const people = { olivia, anna, ben, carl, nobody: person('U0NOBODY0') };
// Most presses should lead somewhere.
const who = fc.constantFrom<keyof typeof people>(
  'olivia',
  'olivia',
  'nobody',
  'anna',
  'anna',
  'ben',
  'ben',
  'carl',
  'carl',
);
const settings: readonly Policy[] = [
  { ...policy, version: 1 },
  { ...policy, version: 2, destroyApprovals: 2 },
  { ...policy, version: 3, approvers: [anna.userId, carl.userId] },
];
const requests: readonly OperationRequest[] = [
  deletion,
  { kind: 'variable-update', scriptId: '301', variableId: '12', value: new Secret('value') },
];

interface Press {
  readonly does:
    | 'propose'
    | 'approve'
    | 'deny'
    | 'cancel'
    | 'begin'
    | 'settle'
    | 'abandon'
    | 'confirm'
    | 'try again'
    | 'expire'
    | 'tamper'
    | 'wait'
    | 'set policy'
    | 'stop';
  readonly by: keyof typeof people;
  /** Which operation, replica, setting, request or outcome. */
  readonly n: number;
}

const weighted = fc.oneof(
  ...(
    [
      ['propose', 3],
      ['approve', 9],
      ['begin', 8],
      ['settle', 4],
      ['deny', 3],
      ['cancel', 2],
      ['abandon', 2],
      ['confirm', 2],
      ['try again', 3],
      ['expire', 1],
      ['tamper', 1],
      ['wait', 2],
      ['set policy', 1],
      ['stop', 1],
    ] as const
  ).map(([does, weight]) => ({ weight, arbitrary: fc.constant(does) })),
);
const press: fc.Arbitrary<Press> = fc.record({ does: weighted, by: who, n: fc.nat(59) });
/** Rounds of presses: those of one round at once, on whatever replicas. */
const story = fc.array(fc.array(press, { minLength: 1, maxLength: 5 }), { minLength: 6, maxLength: 14 });
const start = fc.nat(3);

class World {
  readonly begun: string[] = [];
  /** Whose request was changed in the database, and had not begun. */
  readonly tampered = new Set<string>();
  readonly ids: string[] = [];
  rules = settings[0] ?? policy;
  readonly bench: Ledger;
  readonly replicas: readonly Operations[];
  readonly step: () => Promise<unknown>;

  constructor(bench: Ledger, replicas: readonly Operations[], step: () => Promise<unknown>) {
    this.bench = bench;
    this.replicas = replicas;
    this.step = step;
  }

  async run({ does, by, n }: Press): Promise<void> {
    const ledger = this.replicas[n % this.replicas.length] as Operations;
    const person = people[by];
    await this.step();
    if (does === 'propose') return this.propose(ledger, person, n);
    if (does === 'wait') return this.bench.advance([1, 5, 11, 31][n % 4] ?? 1);
    if (does === 'set policy') return void (this.rules = settings[n % settings.length] ?? policy);
    if (does === 'expire') return void (await ledger.expireDue());
    if (does === 'stop') return void (n < 5 && (await ledger.stop({ person, tenant: acme })));
    const id = this.ids[n % Math.max(1, this.ids.length)];
    const seen = id === undefined ? undefined : await ledger.find(acme, id);
    if (!seen) return;
    const facts = factsFor(person, seen, this.rules);
    await this.step();
    await this.press(ledger, does, seen, person, facts, n);
  }

  async propose(ledger: Operations, person: Person, n: number, rules = this.rules): Promise<void> {
    if (this.ids.length >= 4) return;
    const request = requests[n % requests.length] ?? deletion;
    this.ids.push((await ledger.propose(asks(request, person, rules))).id);
  }

  /** Where the first one is when the story begins: 1 approved, 2 executing, 3 unknown. */
  async lead(steps: number): Promise<void> {
    const { ledger } = this.bench;
    const id = this.ids[0];
    const seen = async () => factsFor(ben, (await ledger.find(acme, id ?? '')) as Operation, this.rules);
    if (id === undefined) return;
    if (steps > 0) await ledger.approve(id, ben, await seen());
    if (steps > 1) await this.press(ledger, 'begin', { id }, ben, await seen(), 0);
    if (steps > 2) await ledger.settle(id, 'unknown', { word: 'unknown' });
  }

  async press(
    ledger: Operations,
    does: Press['does'],
    { id }: Pick<Operation, 'id'>,
    person: Person,
    facts: ReturnType<typeof factsFor>,
    n: number,
  ): Promise<void> {
    switch (does) {
      case 'approve':
        return void (await ledger.approve(id, person, facts));
      case 'deny':
        return void (await ledger.deny(id, person, 'no', facts));
      case 'cancel':
        return void (await ledger.cancel(id, person));
      case 'begin': {
        const answer = await ledger.begin(id, facts);
        if (answer.kind === 'begun') this.begun.push(id);
        return;
      }
      case 'settle': {
        const state = (['succeeded', 'failed', 'unknown'] as const)[n % 3] ?? 'unknown';
        return void (await ledger.settle(id, state, { word: state }));
      }
      case 'abandon':
        return void (await ledger.abandoned(id));
      case 'confirm':
        return void (await ledger.confirm(id, person, n % 2 ? 'succeeded' : 'failed', facts));
      case 'try again': {
        const again = { policy: this.rules, channelId: undefined, snapshot: null };
        const answer = await ledger.tryAgain(id, person, again);
        if (answer.kind === 'proposed') this.ids.push(answer.operation.id);
        return;
      }
      case 'tamper': {
        const changed = await this.bench.database.db
          .updateTable('operations')
          .set({ reason: 'something else' })
          .where('id', '=', id)
          .where('state', 'in', ['proposed', 'approved'])
          .executeTakeFirst();
        if (changed.numUpdatedRows > 0n) this.tampered.add(id);
        return;
      }
      default:
    }
  }

  async check(): Promise<void> {
    const { bench, begun, tampered } = this;
    const records = await bench.audit();
    for (const id of this.ids) {
      const operation = await bench.ledger.find(acme, id);
      const log = await bench.ledger.events(acme, id);
      if (!operation) throw new Error('An operation is gone.');
      expect(log.map(({ seq }) => seq)).toEqual(log.map((_, index) => index + 1));

      // The log replays to the row, along the arrows.
      let state: OperationState | undefined;
      for (const { what } of log) {
        if (what === 'approval') expect(state).toBe('proposed');
        else {
          expect(state === undefined ? ['proposed'] : arrows[state]).toContain(what);
          state = what;
        }
      }
      const last = log.at(-1);
      expect([operation.state, operation.movedBy, operation.movedAt, operation.outcome]).toEqual([
        state,
        last?.actor,
        last?.at,
        last?.outcome,
      ]);

      // One record in the audit for each, in their order.
      const about = records.filter(({ detail }) => detail['operation'] === id);
      expect(about.map(({ what, actor }) => [what, actor])).toEqual(
        log.map(({ what, actor }) => [`operation-${what}`, actor]),
      );

      // Approved by enough others, each once, in time; and then one job.
      const approvals = log.filter(
        ({ what, actor }) => actor !== 'system' && (what === 'approval' || what === 'approved'),
      );
      const by = approvals.map(({ actor }) => actor);
      expect(new Set(by).size).toBe(by.length);
      expect(by).not.toContain(operation.requester.userId);
      expect(by).not.toContain(people.nobody.userId);
      expect(by).not.toContain(people.olivia.userId);
      for (const { at } of approvals) expect(at < operation.expiresAt).toBe(true);
      const approved = log.find(({ what }) => what === 'approved');
      if (approved) expect(by.length).toBe(operation.approvalsNeeded);
      else expect(by.length).toBeLessThan(operation.approvalsNeeded);
      expect(bench.enqueued.filter((queued) => queued === id)).toHaveLength(approved ? 1 : 0);

      // Begun once at most, never after it expired or what was asked for was changed.
      const executing = log.filter(({ what }) => what === 'executing');
      expect(begun.filter((one) => one === id)).toHaveLength(executing.length);
      expect(executing.length).toBeLessThanOrEqual(1);
      if (executing[0] && approved)
        expect(executing[0].at.getTime() - approved.at.getTime()).toBeLessThan(10 * minute);
      if (tampered.has(id)) expect(executing).toEqual([]);
    }
    expect(records.filter(({ what }) => what === 'operation-proposed')).toHaveLength(this.ids.length);
    // What was known to have happened was seen to happen: every ledger reads the same.
    for (const replica of this.replicas)
      for (const id of this.ids)
        expect(await replica.find(acme, id)).toEqual(await bench.ledger.find(acme, id));
  }
}

describe.each([
  { ...engines.embedded, numRuns: 50 },
  { ...engines.postgres, numRuns: 60 },
])('on $name', ({ skip, place, numRuns }) => {
  describe.skipIf(skip)('the ledger', () => {
    test('keeps its promises whoever presses what, when, on which process', {
      timeout: 120_000,
    }, async () => {
      const reached = new Set<string>();
      const there = await place();
      const first = await there.open();
      // The embedded database has one process: there it is three commands at a time.
      const others = there.databaseUrl ? [await there.open(), await there.open()] : [first, first];
      await fc.assert(
        fc.asyncProperty(start, story, fc.scheduler(), async (steps, rounds, scheduler) => {
          await emptyRecords(first);
          const bench = await ledgerOn(first);
          const replicas = [bench.ledger, ...others.map((database) => bench.another(database))];
          const world = new World(bench, replicas, () => scheduler.schedule(Promise.resolve()));
          // Something to press on.
          await world.propose(bench.ledger, olivia, 0);
          await world.propose(bench.ledger, anna, 0, settings[1]);
          await world.lead(steps);
          for (const round of rounds)
            await scheduler.waitFor(Promise.all(round.map((one) => world.run(one))));
          await world.check();
          for (const id of world.ids)
            for (const { what } of await bench.ledger.events(acme, id)) reached.add(what);
        }),
        { numRuns },
      );
      // Or it would promise little.
      expect([...reached]).toEqual(
        expect.arrayContaining(['approval', 'approved', 'executing', 'unknown', 'succeeded', 'failed']),
      );
    });

    test('hundreds of clicks at once: one approval, one begin', async () => {
      const there = await place();
      const first = await there.open();
      const others = there.databaseUrl ? [await there.open(), await there.open()] : [first, first];
      const bench = await ledgerOn(first);
      const replicas = [bench.ledger, ...others.map((database) => bench.another(database))];
      const each = <T>(press: (ledger: Operations) => Promise<T>): Promise<T[]> =>
        Promise.all(Array.from({ length: 300 }, (_, n) => press(replicas[n % 3] as Operations)));

      const asked = await bench.ledger.propose(asks());
      const approvers = [ben, carl, anna];
      let turn = 0;
      const approvals = await each((ledger) => {
        const by = approvers[(turn += 1) % 3] ?? ben;
        return ledger.approve(asked.id, by, factsFor(by, asked));
      });
      expect(approvals.filter(({ kind }) => kind === 'approved')).toHaveLength(1);
      expect(approvals.filter(({ kind }) => kind === 'already')).toHaveLength(299);
      expect(bench.enqueued).toEqual([asked.id]);

      const approved = await bench.ledger.find(acme, asked.id);
      const facts = factsFor(olivia, approved ?? asked);
      const begins = await each((ledger) => ledger.begin(asked.id, facts));
      expect(begins.filter(({ kind }) => kind === 'begun')).toHaveLength(1);
      expect(begins.filter(({ kind }) => kind === 'already')).toHaveLength(299);
      expect((await bench.audit()).map(({ what }) => what)).toEqual([
        'operation-proposed',
        'operation-approved',
        'operation-executing',
      ]);
    });
  });
});
