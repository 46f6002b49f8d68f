import { expect, test } from 'vitest';
import { findDigestKind } from '../../../../src/commands/reports/checks/list.ts';
import {
  acceptBaseline,
  loadPast,
  storePendingBaseline,
} from '../../../../src/commands/reports/digests/runs.ts';
import type { Digest } from '../../../../src/views/reports/report.ts';
import { alice, createDigestHarness, type DigestHarness } from '../../../support/digests/harness.ts';
import { prepareEngines } from '../../../support/engines.ts';
import { readStable } from '../../../support/words.ts';
import { says } from './words.ts';

const { embedded } = await prepareEngines();
const hour = 3_600_000;
const day = 24 * hour;

/** A digest that has posted once. */
async function beginRun(harness: DigestHarness): Promise<string> {
  const { id } = await harness.createDaily();
  harness.advance(hour + 60_000);
  await harness.runJobsFor(3);
  return id;
}

const disable = (harness: DigestHarness, at: number): void => {
  const zone = harness.cdn.data.zones[at];
  if (zone) zone.Enabled = false;
};

test('of two runs under way the one that was collected last is remembered', async () => {
  await using harness = await createDigestHarness(await embedded.emptyDatabase());
  const { id } = await harness.createDaily();
  const [one, two] = [1, 2].map((n) => ({ report_id: id, due: new Date(Date.UTC(2026, 10, n)) }));
  if (!one || !two) throw new Error('two runs');
  for (const [run, told] of [
    [one, 1],
    [two, 2],
  ] as const)
    await storePendingBaseline(harness.db, run, { byKind: { zones: told } });
  for (const [run, told] of [
    [one, undefined],
    [two, { byKind: { zones: 2 } }],
  ] as const) {
    await acceptBaseline(harness.db, run);
    expect((await loadPast(harness.db, id, harness.now())).baseline).toEqual(told);
  }
});

test('what was told is remembered once it was posted: what never arrived is told by the next run', async () => {
  await using harness = await createDigestHarness(await embedded.emptyDatabase());
  await beginRun(harness);
  disable(harness, 0);
  // Slack refuses it in a way that nothing can mend.
  harness.slack.script.fail('chat.postMessage', 'invalid_blocks', 1);
  harness.advance(day);
  await harness.runJobsFor(3);
  expect(harness.readChannel().at(-1)).toMatch(says.notMade);
  harness.advance(day);
  await harness.runJobsFor(3);
  expect(harness.readChannel().at(-1)).toMatch(says.newly('disabled'));
  harness.advance(day);
  await harness.runJobsFor(3);
  expect(harness.readChannel().at(-1)).toMatch(says.unchanged);
});

test('a digest that ran before it had a memory says that it begins', async () => {
  await using harness = await createDigestHarness(await embedded.emptyDatabase());
  await beginRun(harness);
  await harness.db.deleteFrom('report_baselines').execute();
  disable(harness, 0);
  harness.advance(day);
  await harness.runJobs();
  expect(harness.readChannel().at(-1)).toMatch(says.isFirst);
  disable(harness, 1);
  const [listed] = await harness.reports.list('T0ACME000');
  if (listed) await harness.reports.runNow(listed as Digest, alice);
  await harness.runJobsFor(3);
  expect(harness.readChannel().at(-1)).toMatch(says.newly('disabled'));
});

test('a digest of what is new says nothing else, and nothing where there is none', async () => {
  await using harness = await createDigestHarness(await embedded.emptyDatabase());
  const targets = { zones: [], shieldZones: [], apps: [] };
  const daily = { time: '09:00', everyHours: 6, zone: 'UTC', weekdays: [1, 2, 3, 4, 5, 6, 7], monthDays: [] };
  await harness.createDaily(alice, {
    subject: { kinds: ['zones'].map(findDigestKind), targets, only: 'new', timeZone: 'UTC' },
    schedule: daily,
  });
  const until = async (hours: number): Promise<void> => {
    harness.advance(hours * 3_600_000);
    await harness.runJobsFor(60, 5);
  };
  await until(1);
  expect(harness.readChannel()).toHaveLength(1);
  await until(6);
  expect(harness.readChannel()).toHaveLength(1);
  disable(harness, 0);
  await until(15);
  await until(3);
  expect(
    readStable(harness.readChannel().at(-1) ?? '')
      .split('\n')
      .slice(0, 2),
  ).toMatchSnapshot();
  expect(Object.entries(await harness.runStates())).toEqual([
    ['2026-11-23T09:00', 'sent'],
    ['2026-11-23T15:00', 'quiet'],
    ['2026-11-23T21:00', 'skipped'],
    ['2026-11-24T09:00', 'sent'],
  ]);
});
