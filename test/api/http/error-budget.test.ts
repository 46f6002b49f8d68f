import { expect, test } from 'vitest';
import { ApiError } from '../../../src/api/http/errors.ts';
import { createErrorBudget } from '../../../src/api/http/request.ts';

async function fail(): Promise<never> {
  throw new ApiError({ code: 'unavailable', operation: 'Get Application Usage Summary', sent: true });
}

test('requests that fail together spend one failure: a CDN that is down does not use up the budget', async () => {
  const budget = createErrorBudget(4);
  await Promise.allSettled(Array.from({ length: 4 }, () => budget.spend(fail)));
  expect(budget.spent()).toBe(1);
});

test('failures of a CDN that answers otherwise are counted each', async () => {
  const budget = createErrorBudget(4);
  await budget.spend(async () => 'an answer');
  await Promise.allSettled(Array.from({ length: 3 }, () => budget.spend(fail)));
  expect(budget.spent()).toBe(3);
});
