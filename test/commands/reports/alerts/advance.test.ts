import { expect, test } from 'vitest';
import { advance } from '../../../../src/commands/reports/alerts/write.ts';
import type { Observation } from '../../../../src/commands/reports/checks/check.ts';
import type { IncidentFigures } from '../../../../src/views/reports/report.ts';

const start = Date.parse('2026-11-20T10:00:00Z');
const part = (id: string) => ({ id, name: id, text: 'wrong' });

/** Lets looks happen, and returns after each: its move, and the parts of the incident. */
function run(looks: readonly Pick<Observation, 'parts' | 'unread'>[], isEvent = false): string[] {
  let open: IncidentFigures | undefined;
  let recent: readonly boolean[] = [];
  return looks.map((look, nth) => {
    const about = {
      now: new Date(start + nth * 300_000),
      damping: { open: [1, 1], close: 2 } as const,
      isEvent,
    };
    const step = advance({ recent }, open, { evidence: [], ...look }, about);
    recent = step.recent;
    const names = step.figures?.parts.map(({ name }) => name).join(' ') ?? '';
    open = step.move === 'close' ? undefined : (step.figures ?? open);
    const left = step.left.map(({ name }) => ` -${name}`).join('');
    return `${step.move} ${names}${left}`.trim();
  });
}

test('a part that cannot be judged stays in its incident, which does not end meanwhile', () => {
  const unread = { parts: [], unread: ['a'] };
  const looks = [{ parts: [part('a'), part('b')] }, unread, unread, unread, { parts: [] }, { parts: [] }];
  expect(run(looks)).toEqual(['open a b', 'update a b', 'update a -b', 'update a', 'update a', 'close a']);
});

test('what cannot be judged opens nothing', () => {
  expect(run([{ parts: [], unread: ['a'] }])).toEqual(['nothing']);
});

test('what has happened stays in the message of an event, which ends by itself', () => {
  const [a, b] = [{ parts: [part('a')] }, { parts: [part('b')] }];
  const none = { parts: [] };
  expect(run([a, b, none, b, none, none], true)).toEqual([
    'open a',
    'update b a',
    'update b a',
    'update b a',
    'update b a',
    'close b a',
  ]);
});
