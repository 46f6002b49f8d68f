import { expect, test } from 'vitest';
import { bandwidthPerRun, createDigestScenario, makeZone } from '../../../support/digests/scenario.ts';

/** Runs daily at 09:00 from a day on, with so many GB used at each; tells the last. */
const daily = async (from: string, ...amounts: readonly number[]) =>
  (await createDigestScenario()).runDaily(from, bandwidthPerRun(...amounts));

/** The same at these moments. */
async function at(...runs: readonly (readonly [at: string, gigabytes: number])[]) {
  const digest = await createDigestScenario();
  let told: Awaited<ReturnType<typeof digest.run>> | undefined;
  for (const [moment, amount] of runs) {
    bandwidthPerRun(amount)[0]?.(digest.data);
    told = await digest.run(moment);
  }
  return told;
}

// From Monday 2 November on: 40 GB on a workday, 10 GB on the others.
const weekends = Array.from({ length: 14 }, (_, run) => {
  const days = Array.from({ length: run + 1 }, (_, day) =>
    day % 7 === 6 || (day > 0 && day % 7 === 0) ? 10 : 40,
  );
  return days.reduce((sum, day) => sum + day, 0);
});
const midnight = [
  ['2026-11-29T00:01:00Z', 1120],
  ['2026-11-30T00:01:00Z', 1160],
] as const;
const first = ['2026-12-01T00:01:00Z', 0.5] as const;

test.each([
  [
    'a flat series',
    () => daily('2026-11-03', 120, 160, 200, 240),
    'Thu 5 Nov 09:00: *2 zones* · 240 GB this month · $2.40 so far (+$0.40)',
  ],
  [
    'a weekend that is quiet every week',
    () => daily('2026-11-02', ...weekends),
    'Sat 14 Nov 09:00: *2 zones* · 470 GB this month · $4.70 so far (+$0.10)',
  ],
  [
    'a month that begins: nothing fell',
    () => daily('2026-11-29', 1160, 1200, 15),
    'Mon 30 Nov 09:00: *2 zones* · 15 GB this month · $0.15 so far',
  ],
  [
    'the first minute of a month: no rate of a minute, no forecast',
    () => at(...midnight, first),
    'Mon 30 Nov 00:01: *2 zones* · 500 MB this month · $0.01 so far',
  ],
  [
    'a CDN that needs a moment to begin the month',
    () => at(...midnight, ['2026-12-01T00:01:00Z', 1201]),
    'Mon 30 Nov 00:01: *2 zones* · 1.2 TB this month · $12.01 so far',
  ],
  [
    'the day after, which counts from midnight',
    () => at(...midnight, first, ['2026-12-02T00:01:00Z', 150]),
    'Tue 1 Dec 00:01: *2 zones* · 150 GB this month · $1.50 so far (+$1.49)',
  ],
  [
    'days without a run: what was used in them is told by the day',
    () =>
      at(
        ['2026-11-02T09:00:00Z', 100],
        ['2026-11-03T09:00:00Z', 140],
        ['2026-11-04T09:00:00Z', 180],
        ['2026-11-09T09:00:00Z', 380],
      ),
    'Wed 4 Nov 09:00: *2 zones* · 380 GB this month · $3.80 so far (+$2.00)',
  ],
  [
    'no zones, and nothing to divide by',
    async () => (await createDigestScenario()).runDaily('2026-11-03', [() => undefined, () => undefined]),
    'Tue 3 Nov 09:00: *No zones*',
  ],
])('%s is no change: one line', async (_, run, line) => {
  const told = await run();
  expect(told?.top).toEqual([`:zzz: No notable change since ${line}`]);
  expect(told?.thread).toEqual([]);
});

test('a first run says what there is, and that there is nothing to compare with', async () => {
  const told = await daily('2026-11-03', 120);
  expect(told.top).toEqual(['*2 zones* · 120 GB this month · $1.20 so far']);
  expect(told.thread).toMatchSnapshot();
});

test('a spike is told against the previous run, with its trend', async () => {
  const told = await daily('2026-11-03', 120, 160, 200, 240, 281, 320, 360, 480);
  expect(told.top).toMatchSnapshot('told, top');
  expect(told.thread).toMatchSnapshot('told, thread');
  expect(told.charts).toMatchSnapshot('told, charts');
});

test('only if something changed: the first run speaks, then silence until something does', async () => {
  const digest = await createDigestScenario({ only: 'changed' });
  expect((await digest.runDaily('2026-11-03', bandwidthPerRun(100))).quiet).toBe(false);
  expect((await digest.runDaily('2026-11-04', bandwidthPerRun(140))).quiet).toBe(true);
  digest.data.zones.push(makeZone(1003, 'new'));
  expect((await digest.run('2026-11-04T12:00:00Z')).quiet).toBe(false);
  expect((await digest.runDaily('2026-11-05', bandwidthPerRun(180))).top).toMatchSnapshot();
});

test('only what is new: a number less, and silence where there is none', async () => {
  const digest = await createDigestScenario({ only: 'new' });
  expect((await digest.runDaily('2026-11-03', bandwidthPerRun(100))).quiet).toBe(false);
  expect((await digest.runDaily('2026-11-04', bandwidthPerRun(140))).quiet).toBe(true);
  digest.data.zones.push(makeZone(1003, 'new'));
  expect((await digest.run('2026-11-04T12:00:00Z')).top).toMatchSnapshot();
});

test('run again a minute later, nothing changed, and the next run still counts a whole day', async () => {
  const digest = await createDigestScenario();
  await digest.runDaily('2026-11-03', bandwidthPerRun(100, 140));
  expect((await digest.run('2026-11-04T09:01:00Z')).top).toEqual([
    ':zzz: No notable change since Wed 4 Nov 09:00: *2 zones* · 140 GB this month · $1.40 so far',
  ]);
  expect((await digest.runDaily('2026-11-05', bandwidthPerRun(280))).top).toMatchSnapshot();
});

test('the same weekday counts where it is known, else the previous run', async () => {
  const week = await daily('2026-11-02', 40, 80, 120, 160, 200, 240, 280, 320, 420);
  expect(week.top).toMatchSnapshot('week, top');
  const weekly = await at(
    ['2026-11-02T09:00:00Z', 100],
    ['2026-11-09T09:00:00Z', 200],
    ['2026-11-16T09:00:00Z', 400],
  );
  expect(weekly?.top).toMatchSnapshot('top');
});
