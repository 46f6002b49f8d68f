import { expect, test } from 'vitest';
import { requestsPerHour } from '../../../../src/commands/reports/accounts/budget.ts';
import { hourMs, minuteMs } from '../../../../src/lib/time.ts';
import { alice, bob, createDigestHarness, type DigestHarness } from '../../../support/digests/harness.ts';
import { prepareEngines } from '../../../support/engines.ts';

const { embedded } = await prepareEngines();

const countLists = ({ cdn }: DigestHarness): number =>
  cdn.requests.filter(({ path }) => path === '/pullzone').length;

test('digests of one person that are due at the same time read the zones once', async () => {
  await using harness = await createDigestHarness(await embedded.emptyDatabase());
  for (const owner of [alice, alice, alice, bob]) await harness.createDaily(owner);
  harness.advance(hourMs + minuteMs);
  await harness.runJobs();
  await harness.runJobsFor(10);
  expect(harness.readChannel()).toHaveLength(4);
  expect(countLists(harness)).toBe(2);
});

test('where the hour’s budget is spent a digest waits for the next hour', async () => {
  await using harness = await createDigestHarness(await embedded.emptyDatabase());
  await harness.createDaily();
  const hour = new Date(harness.now().getTime() + hourMs);
  const spent = { tenant: alice.teamId, user_id: alice.userId, hour, requests: requestsPerHour };
  await harness.db.insertInto('read_budgets').values(spent).execute();
  harness.advance(hourMs + minuteMs);
  await harness.runJobs();
  harness.advance(58 * minuteMs);
  await harness.runJobs();
  expect([harness.readChannel().length, countLists(harness)]).toEqual([0, 0]);
  harness.advance(minuteMs);
  await harness.runJobs();
  expect([harness.readChannel().length, countLists(harness)]).toEqual([1, 1]);
});
