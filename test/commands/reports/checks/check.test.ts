import { expect, test } from 'vitest';
import { ApiError } from '../../../../src/api/http/errors.ts';
import { BudgetSpent } from '../../../../src/commands/reports/accounts/reads.ts';
import { explainFailures, readEach } from '../../../../src/commands/reports/checks/check.ts';

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
