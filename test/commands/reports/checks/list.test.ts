import { expect, test } from 'vitest';
import { findCommand } from '../../../../src/commands/registry.ts';
import { conditions } from '../../../../src/commands/reports/checks/list.ts';
import { parseWords } from '../../../../src/commands/words.ts';

const chosenBy = (typed: string) =>
  conditions.filter(({ words }) => words.test(typed)).map(({ name }) => name);

test('typed words choose one condition, and no condition hides another', () => {
  expect(Object.fromEntries(conditions.map(({ name, label }) => [name, chosenBy(label)]))).toEqual(
    Object.fromEntries(conditions.map(({ name }) => [name, [name]])),
  );
  expect(['errors', 'errors of host', 'new code', 'certificates', 'bill'].map(chosenBy)).toEqual([
    ['errors'],
    ['errors-host'],
    ['errors-new-code'],
    ['certificate-missing'],
    ['charges'],
  ]);
});

test('each condition can be reached, and its numbers fit each other', () => {
  expect(new Set(conditions.map(({ name }) => name)).size).toBe(15);
  for (const { threshold, damping, leastEvery = 5 } of conditions) {
    const { initial = 0, least = 0, most = 0 } = threshold ?? {};
    expect(initial).toBeGreaterThanOrEqual(least);
    expect(initial).toBeLessThanOrEqual(most);
    expect(damping.open[0]).toBeLessThanOrEqual(damping.open[1]);
    expect(damping.close).toBeGreaterThan(0);
    // Looks stand on a grid from midnight.
    expect((24 * 60) % leastEvery).toBe(0);
  }
});

test('the next step of every condition is a command, with a part and without', () => {
  const parts = [undefined, { id: '1001/a.example', name: 'a', text: 'wrong' }];
  const named = conditions.flatMap(({ next }) => parts.map((part) => next(part).command));
  const found = named.map((typed) => findCommand(parseWords(typed)).command.name);
  expect([...new Set(found)].sort()).toEqual(['app', 'errors', 'scanning', 'zone', 'zones']);
});
