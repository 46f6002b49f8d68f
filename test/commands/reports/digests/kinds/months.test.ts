import { expect, test } from 'vitest';
import type { CdnData } from '../../../../../simulator/cdn/model.ts';
import {
  bandwidthPerRun,
  createDigestScenario,
  GB,
  limitedBandwidthPerRun,
  makeZone,
} from '../../../../support/digests/scenario.ts';

/** Runs at these moments, with so many GB used at each; tells the last. */
async function at(...runs: readonly (readonly [at: string, gigabytes: number])[]) {
  const digest = await createDigestScenario();
  let told: Awaited<ReturnType<typeof digest.run>> | undefined;
  for (const [moment, amount] of runs) {
    bandwidthPerRun(amount)[0]?.(digest.data);
    told = await digest.run(moment);
  }
  return told;
}

test('a month begins anew: nothing fell', async () => {
  const told = await (await createDigestScenario()).runDaily('2026-11-29', bandwidthPerRun(1160, 1200, 15));
  expect(told.top).toMatchInlineSnapshot(`
    [
      ":zzz: No notable change since Mon 30 Nov 09:00: *2 zones* · 15 GB this month · $0.15 so far",
    ]
  `);
});

test('the first minute of a month: no rate of a minute, no forecast, and the day after counts from midnight', async () => {
  const midnight: (readonly [string, number])[] = [
    ['2026-11-29T00:01:00Z', 1120],
    ['2026-11-30T00:01:00Z', 1160],
    ['2026-12-01T00:01:00Z', 0.5],
  ];
  expect((await at(...midnight))?.top).toMatchInlineSnapshot(`
    [
      ":zzz: No notable change since Mon 30 Nov 00:01: *2 zones* · 500 MB this month · $0.01 so far",
    ]
  `);
  // The CDN may need a moment to begin anew.
  expect((await at(...midnight.slice(0, 2), ['2026-12-01T00:01:00Z', 1201]))?.top).toMatchInlineSnapshot(`
    [
      ":zzz: No notable change since Mon 30 Nov 00:01: *2 zones* · 1.2 TB this month · $12.01 so far",
    ]
  `);
  expect((await at(...midnight, ['2026-12-02T00:01:00Z', 150]))?.top).toMatchInlineSnapshot(`
    [
      ":zzz: No notable change since Tue 1 Dec 00:01: *2 zones* · 150 GB this month · $1.50 so far (+$1.49)",
    ]
  `);
});

test('once a month: what was used on the first is no growth since the first before', async () => {
  const told = await at(
    ['2026-10-01T09:00:00Z', 14],
    ['2026-11-01T09:00:00Z', 15],
    ['2026-12-01T09:00:00Z', 16],
  );
  expect(told?.top).toMatchInlineSnapshot(`
    [
      ":zzz: No notable change since Sun 1 Nov 09:00: *2 zones* · 16 GB this month · $0.16 so far",
    ]
  `);
});

test('a leap day is a day: the rate and the limit’s day count it', async () => {
  const leap = await (await createDigestScenario()).runDaily(
    '2028-02-27',
    limitedBandwidthPerRun(432, 448, 464),
  );
  expect(leap.top).toMatchInlineSnapshot(`
    [
      ":zzz: No notable change since Mon 28 Feb 09:00: *1 zone* · 464 GB this month · $0.00 so far · :warning: 1 needs attention",
    ]
  `);
  const digest = await createDigestScenario();
  const limit = (amount: number) => limitedBandwidthPerRun(amount)[0]?.(digest.data);
  limit(50);
  await digest.run('2028-02-04T09:00:00Z');
  limit(173);
  // 17.3 GB a day reach 500 GB within the 29th; in other years that day is one of the month that begins anew.
  expect((await digest.run('2028-02-11T00:00:00Z')).top).toMatchInlineSnapshot(`
    [
      "*1 zone* · 173 GB this month · $0.00 so far",
      ":hourglass: At this rate *shop* reaches its limit of 500 GB on 29 Feb",
    ]
  `);
});

test('missed runs: what was used in days without a run is told by the day', async () => {
  const told = await at(
    ['2026-11-02T09:00:00Z', 100],
    ['2026-11-03T09:00:00Z', 140],
    ['2026-11-04T09:00:00Z', 180],
    ['2026-11-09T09:00:00Z', 380],
  );
  expect(told?.top).toMatchInlineSnapshot(`
    [
      ":zzz: No notable change since Wed 4 Nov 09:00: *2 zones* · 380 GB this month · $3.80 so far (+$2.00)",
    ]
  `);
});

test('both the previous run and the same weekday are told, of a weekly digest the same run once', async () => {
  const week = await (await createDigestScenario()).runDaily(
    '2026-11-02',
    bandwidthPerRun(40, 80, 120, 160, 200, 240, 280, 320, 420),
  );
  expect(week.top).toMatchInlineSnapshot(`
    [
      "*2 zones* · 420 GB this month · $4.20 so far (+$1.00)",
      ":chart_with_upwards_trend: *shop*: 100 GB a day, +150 % on the same weekday and the previous run, *unusual:* mostly 40 GB",
    ]
  `);
  const weekly = await at(
    ['2026-11-02T09:00:00Z', 100],
    ['2026-11-09T09:00:00Z', 200],
    ['2026-11-16T09:00:00Z', 400],
  );
  expect(weekly?.top).toMatchInlineSnapshot(`
    [
      "*2 zones* · 400 GB this month · $4.00 so far (+$2.00)",
      ":chart_with_upwards_trend: *shop*: 28.6 GB a day, +100 % on the previous run",
    ]
  `);
});

const chargeMonths = (...dollars: readonly number[]) =>
  dollars.map((amount) => (data: CdnData) => {
    data.zones = [makeZone(1001, 'shop', { MonthlyBandwidthUsed: 10 * GB, MonthlyCharges: amount })];
  });

test('charges that jump are told beside the number of everything', async () => {
  const told = await (await createDigestScenario()).runDaily('2026-11-03', chargeMonths(2, 4, 6, 26));
  expect(told.top).toMatchInlineSnapshot(`
    [
      "*1 zone* · 10 GB this month · $26.00 so far (+$20.00)",
      "$20.00 a day: 10 × as much as the previous run",
    ]
  `);
  expect(told.thread).toMatchInlineSnapshot(`
    [
      "*Zones*
    All together *$20.00* a day (10 × as much as the previous run)
    *shop* · fine · 10 GB · no limit · 0 B
    _Months are UTC, as the CDN counts them._",
    ]
  `);
});
