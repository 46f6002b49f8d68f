import { expect, test } from 'vitest';
import { jobs } from '../../../src/app/jobs.ts';
import { createAlertHarness } from '../../support/alerts/harness.ts';
import { alice, createDigestHarness } from '../../support/digests/harness.ts';
import { prepareEngines } from '../../support/engines.ts';

const { embedded } = await prepareEngines();
const putAside = (name: string) => jobs.find((job) => job.name === name)?.putAside;

test('of a person whose reports killed two processes the alerts that are due are paused, and the owner is told', async () => {
  await using harness = await createAlertHarness(await embedded.emptyDatabase());
  const due = await harness.createAlert();
  harness.advance(6 * 60_000);
  const later = await harness.createAlert();
  await putAside('reports-due')?.({ tenant: 'T0ACME000', owner: alice.userId }, harness.context);
  await harness.runJobs();
  expect((await harness.find(due)).paused).toEqual({ reason: 'crashing', by: undefined });
  expect((await harness.find(later)).paused).toBeUndefined();
  expect(harness.readChannel().filter((text) => text.includes('stopped twice'))).toHaveLength(1);
  expect(harness.countChecks()).toBe(0);
  // The other one goes on.
  await harness.look();
  expect(harness.countChecks()).toBeGreaterThan(0);
});

test('a digest whose run killed two processes is paused, and its channel is told', async () => {
  await using harness = await createDigestHarness(await embedded.emptyDatabase());
  const digest = await harness.createDaily();
  const due = new Date(Date.UTC(2026, 10, 23, 9));
  await harness.db
    .insertInto('report_runs')
    .values({
      report_id: digest.id,
      due,
      run_at: due,
      state: 'collecting',
      missed: 0,
      attempts: 2,
      by_hand: null,
    })
    .execute();
  await putAside('digest-run')?.({ digestId: digest.id, due: due.toISOString() }, harness.context);
  await harness.runJobs();
  expect(await harness.runStates()).toEqual({ '2026-11-23T09:00': 'failed' });
  expect(harness.readChannel().filter((text) => text.includes('stopped twice'))).toHaveLength(1);
});
