import { expect, test } from 'vitest';
import { ApiError } from '../../../../src/api/http/errors.ts';
import { findCommand } from '../../../../src/commands/registry.ts';
import { BudgetSpent } from '../../../../src/commands/reports/accounts.ts';
import { explainFailures, hasMoved, readEach } from '../../../../src/commands/reports/checks/check.ts';
import { conditions } from '../../../../src/commands/reports/checks/list.ts';
import { parseWords } from '../../../../src/commands/words.ts';

const failed = (code: ApiError['code']) => new ApiError({ code, operation: 'Get', sent: true });
async function read(results: readonly unknown[]) {
  const parts = await readEach(results, async (result) => {
    if (result instanceof Error) throw result;
    return result;
  });
  return { values: parts.read.map(({ value }) => value), unread: explainFailures(parts, String) };
}

test('what could be read is not hidden by what could not', async () => {
  const spent = new BudgetSpent(new Date());
  const results = [1, failed('cancelled'), spent, failed('refused'), failed('timeout'), 2];
  const { values, unread } = await read(results);
  expect(values).toEqual([1, 2]);
  expect(unread.map(({ is }) => is)).toEqual([
    'not checked: the check took too long',
    'not checked: no requests left this hour',
    'not checked: the CDN refused',
    'not checked: the CDN did not answer',
  ]);
});

test.each([
  ['every one failed', [failed('timeout'), failed('refused')]],
  ['the key is refused', [1, failed('key_refused')]],
  ['the bot has a bug', [1, new TypeError('a bug')]],
])('%s: the failure is thrown', async (_, results) => {
  await expect(read(results)).rejects.toBe(results.find((one) => one instanceof Error));
});

test('the name of each condition chooses it', () => {
  for (const { name, label } of conditions)
    expect(conditions.findLast(({ words }) => words.test(label))?.name).toBe(name);
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

test('a change is a quarter, more than noise', () => {
  expect(hasMoved({ now: 125, before: 100 }, 10)).toBe(false);
  expect(hasMoved({ now: 126, before: 100 }, 10)).toBe(true);
  expect(hasMoved({ now: 74, before: 100 }, 10)).toBe(true);
  expect(hasMoved({ now: 9, before: 0 }, 10)).toBe(false);
  expect(hasMoved({ now: 11, before: 0 }, 10)).toBe(true);
  expect(hasMoved({ now: 100 }, 10)).toBe(false);
});
