import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { advance } from '../../../../src/commands/reports/alerts/write.ts';
import type { Observation } from '../../../../src/commands/reports/checks/check.ts';
import type { IncidentFigures } from '../../../../src/views/reports/report.ts';

interface Look {
  readonly wrong: readonly string[];
  readonly unread: readonly string[];
  readonly value: number | undefined;
  /** What a cut list left out. */
  readonly unlisted?: readonly string[];
}

const ids = ['a', 'b', 'c', 'd'] as const;
const someIds = fc.oneof(fc.constant([]), fc.subarray([...ids]));
const anyLook: fc.Arbitrary<Look> = fc.record({
  wrong: someIds,
  unread: fc.oneof({ weight: 4, arbitrary: fc.constant([]) }, { weight: 1, arbitrary: someIds }),
  value: fc.option(fc.nat(1000), { nil: undefined }),
});
const anyDamping = fc
  .record({ wrong: fc.integer({ min: 1, max: 3 }), more: fc.nat(2), close: fc.integer({ min: 1, max: 4 }) })
  .map(({ wrong, more, close }) => ({ open: [wrong, wrong + more] as const, close }));

function observe({ wrong, unread, value, unlisted = [] }: Look): Observation {
  // A part cannot be wrong and unread at once.
  const known = unread.filter((id) => !wrong.includes(id));
  const parts = wrong.map((id) => ({ id, name: id, text: 'wrong' }));
  return { parts, value, unread: known, evidence: [], isUnlisted: (id) => unlisted.includes(id) };
}

const at = (nth: number): number => Date.UTC(2026, 10, 23) + nth * 300_000;

/** Runs looks through the machine, and hands each step to `check` with the looks so far, newest last. */
function run(
  looks: readonly Look[],
  about: { readonly damping: { open: readonly [number, number]; close: number }; readonly isEvent: boolean },
  check: (seen: {
    readonly step: ReturnType<typeof advance>;
    readonly before: IncidentFigures | undefined;
    readonly recent: readonly Look[];
  }) => void,
): void {
  let open: IncidentFigures | undefined;
  let recent: readonly boolean[] = [];
  let known: Look[] = [];
  for (const [nth, look] of looks.entries()) {
    known = [...known, look];
    const now = new Date(at(nth));
    const step = advance({ recent }, open, observe(look), { now, ...about });
    check({ step, before: open, recent: known });
    ({ recent } = step);
    open = step.move === 'open' || step.move === 'update' ? step.figures : undefined;
  }
}

const anyRun = [
  fc.array(anyLook, { maxLength: 60 }),
  fc.record({ damping: anyDamping, isEvent: fc.boolean() }),
] as const;

test('an incident opens after n wrong looks of m and no earlier, and never beside another', () => {
  fc.assert(
    fc.property(...anyRun, (any, about) => {
      const [wrong, of] = about.damping.open;
      const looks = any.map((look) => ({ ...look, unread: [] }));
      run(looks, about, ({ step: { move }, before, recent }) => {
        const found = recent.slice(-of).filter((look) => look.wrong.length > 0).length;
        const isDue = (recent.at(-1)?.wrong.length ?? 0) > 0 && found >= wrong;
        const allowed = before ? ['update', 'close'] : [isDue ? 'open' : 'nothing'];
        expect(allowed).toContain(move);
      });
    }),
    { numRuns: 300 },
  );
});

test('an incident closes after k looks without anything wrong, whether or not they could see all of it', () => {
  fc.assert(
    fc.property(...anyRun, (looks, about) => {
      run(looks, about, ({ step, before, recent }) => {
        if (!before) return;
        const { close } = about.damping;
        const calm = recent.length - 1 - recent.findLastIndex(({ wrong }) => wrong.length > 0);
        const seen = recent.slice(-close).filter(({ unread }) => unread.length === 0).length;
        const mayClose = calm >= close;
        expect(step.move === 'close' && !mayClose).toBe(false);
        expect(step.move !== 'close' && mayClose && seen === close).toBe(false);
        // One that is open always says of something that it is wrong.
        expect(step.figures?.parts).not.toEqual([]);
      });
    }),
    { numRuns: 300 },
  );
});

test('a part joins once until it has left, and leaves once, after k looks in which it was fine', () => {
  fc.assert(
    fc.property(...anyRun, (looks, about) => {
      const inIt = new Set<string>();
      run(looks, about, ({ step: { move, figures, joined, left }, recent }) => {
        if (move === 'open') inIt.clear();
        for (const { id } of move === 'open' ? (figures?.parts ?? []) : joined) {
          expect(inIt).not.toContain(id);
          expect(recent.at(-1)?.wrong).toContain(id);
          inIt.add(id);
        }
        for (const { id } of left) {
          expect(inIt).toContain(id);
          const read = recent.filter(({ wrong, unread }) => wrong.includes(id) || !unread.includes(id));
          expect(read.slice(-about.damping.close).filter(({ wrong }) => wrong.includes(id))).toEqual([]);
          expect(read.length).toBeGreaterThanOrEqual(about.damping.close);
          inIt.delete(id);
        }
        if (move !== 'update') return;
        expect(new Set(figures?.parts.map(({ id }) => id))).toEqual(inIt);
      });
    }),
    { numRuns: 300 },
  );
});

test('of more parts than are kept those that do not fit are not told again at each look', () => {
  const wrong = Array.from({ length: 70 }, (_, nth) => `zone${nth}`);
  const look = { wrong, unread: [], value: undefined };
  const told: number[] = [];
  run(
    Array.from({ length: 4 }, () => look),
    { damping: { open: [1, 1], close: 2 }, isEvent: false },
    ({ step }) => {
      told.push(step.joined.length);
      expect(step.figures?.parts).toHaveLength(50);
      expect(step.figures?.worst.parts).toBe(70);
    },
  );
  expect(told).toEqual([0, 0, 0, 0]);
});

/** The moves of looks one after another, each with the parts of its incident and those that left. */
function describeMoves(looks: readonly Partial<Look>[], isEvent = false): string[] {
  const moves: string[] = [];
  const about = { damping: { open: [1, 1], close: 2 } as const, isEvent };
  const whole = looks.map((look) => ({ wrong: [], unread: [], value: undefined, ...look }));
  run(whole, about, ({ step: { move, figures, left } }) => {
    const names = [...(figures?.parts ?? []).map(({ name }) => name), ...left.map(({ name }) => `-${name}`)];
    moves.push([move, ...names].join(' '));
  });
  return moves;
}

test.each([
  [
    'a part that cannot be judged stays in its incident, which does not end meanwhile',
    [{ wrong: ['a', 'b'] }, ...Array.from({ length: 3 }, () => ({ unread: ['a'] })), {}, {}],
    ['open a b', 'update a b', 'update a -b', 'update a', 'update a', 'close a'],
  ],
  [
    'a part that was fine before it could not be judged is not wrong again',
    [{ wrong: ['a', 'b'] }, { wrong: ['b'] }, { wrong: ['b'], unread: ['a'] }, { wrong: ['b'] }],
    ['open a b', 'update b a', 'update b a', 'update b -a'],
  ],
  [
    'nor does one end that a cut list left out',
    [{ wrong: ['a'] }, ...Array.from({ length: 3 }, () => ({ unlisted: ['a'] }))],
    ['open a', 'update a', 'update a', 'update a'],
  ],
  ['what cannot be judged opens nothing', [{ unread: ['a'] }], ['nothing']],
])('%s', (_, looks, moves) => expect(describeMoves(looks)).toEqual(moves));

test('a part that cannot be judged now shows that its text is the last known one', () => {
  const texts: unknown[] = [];
  const looks = [['a'], [], [], ['a']].map((wrong) => ({ wrong, unread: ['a'], value: undefined }));
  run(looks, { damping: { open: [1, 1], close: 2 }, isEvent: false }, ({ step }) =>
    texts.push(step.figures?.parts[0]?.text),
  );
  expect(texts).toEqual(['wrong', 'wrong (last known)', 'wrong (last known)', 'wrong']);
});

test('what has happened stays in the message of an event, which ends by itself', () => {
  const looks = [['a'], ['b'], [], ['b'], [], []].map((wrong) => ({ wrong }));
  const update = 'update b a';
  expect(describeMoves(looks, true)).toEqual(['open a', update, update, update, update, 'close b a']);
});

test('a total counts what is kept for a week, goes on after it, and does not fall where a log is not read', () => {
  const dayMs = 86_400_000;
  const about = { damping: { open: [1, 1], close: 2 } as const, windowMs: 600_000 };
  let open: IncidentFigures | undefined;
  const totals = Array.from({ length: 12 }, (_, day) => {
    const now = at(0) + day * dayMs;
    const events = day === 3 ? [] : Array.from({ length: day + 1 }, (_, on) => at(0) + on * dayMs);
    const countSince = (from: number) => events.filter((one) => one >= from && one > now - 8 * dayMs).length;
    const seen = { ...observe({ wrong: ['a'], unread: [], value: undefined }), countSince };
    const step = advance({ recent: [] }, open, seen, { now: new Date(now), ...about });
    open = step.move === 'nothing' ? undefined : step.figures;
    return open?.total;
  });
  expect(totals).toEqual([1, 2, 3, 3, 5, 6, 7, 8, 9, 10, 11, 12]);
});
