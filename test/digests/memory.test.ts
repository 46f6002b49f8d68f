import { describe, expect, test } from 'vitest';
import { acceptBaseline, findBaseline, storePendingBaseline } from '../../src/digests/queries/runs.ts';
import { alice, createDigestHarness, type DigestHarness } from '../support/digests/harness.ts';
import { prepareEngines } from '../support/engines.ts';
import { says } from './words.ts';

const { both, embedded } = await prepareEngines();
const hour = 3_600_000;
const day = 24 * hour;

/** A digest that has posted once. */
async function beginRun(desk: DigestHarness): Promise<string> {
  const { id } = await desk.createDaily();
  desk.advance(hour + 60_000);
  await desk.runJobsFor(3);
  return id;
}

const disable = (desk: DigestHarness, at: number): void => {
  const zone = desk.cdn.data.zones[at];
  if (zone) zone.Enabled = false;
};

describe.each(both)('on $name', ({ skip, emptyDatabase }) => {
  test.skipIf(skip)('of two runs only one replaces what is remembered', async () => {
    await using desk = await createDigestHarness(await emptyDatabase());
    const { id } = await desk.createDaily();
    const [one, two] = [1, 2].map((n) => ({ digest_id: id, due: new Date(Date.UTC(2026, 10, n)) }));
    if (!one || !two) throw new Error('two runs');
    expect(await findBaseline(desk.db, id)).toBeUndefined();
    await storePendingBaseline(desk.db, one, 0, 'one');
    expect(await findBaseline(desk.db, id)).toEqual({ revision: 0, body: null });
    await storePendingBaseline(desk.db, two, 0, 'two');
    expect(await acceptBaseline(desk.db, one)).toBe(false);
    expect(await acceptBaseline(desk.db, two)).toBe(true);
    expect(await acceptBaseline(desk.db, two)).toBe(false);
    // It looked before the other one posted.
    await storePendingBaseline(desk.db, one, 0, 'one again');
    expect(await acceptBaseline(desk.db, one)).toBe(false);
    expect(await findBaseline(desk.db, id)).toEqual({ revision: 1, body: 'two' });
  });
});

test('what was told is remembered once it was posted: what never arrived is told by the next run', async () => {
  await using desk = await createDigestHarness(await embedded.emptyDatabase());
  await beginRun(desk);
  disable(desk, 0);
  // Slack refuses it in a way that nothing can mend.
  desk.slack.script.fail('chat.postMessage', 'invalid_blocks', 1);
  desk.advance(day);
  await desk.runJobsFor(3);
  expect(desk.readChannel().at(-1)).toMatch(says.notMade);
  desk.advance(day);
  await desk.runJobsFor(3);
  expect(desk.readChannel().at(-1)).toMatch(says.newly('disabled'));
  desk.advance(day);
  await desk.runJobsFor(3);
  expect(desk.readChannel().at(-1)).toMatch(says.unchanged);
});

test('a digest that ran before it had a memory says that it begins', async () => {
  await using desk = await createDigestHarness(await embedded.emptyDatabase());
  await beginRun(desk);
  await desk.db.deleteFrom('digest_baselines').execute();
  disable(desk, 0);
  desk.advance(day);
  await desk.runJobs();
  expect(desk.readChannel().at(-1)).toMatch(says.isFirst);
  disable(desk, 1);
  const [listed] = await desk.digests.list('T0ACME000');
  if (listed) await desk.digests.runNow(listed.digest, alice);
  await desk.runJobsFor(3);
  expect(desk.readChannel().at(-1)).toMatch(says.newly('disabled'));
});
