import { expect, test } from 'vitest';
import { bandwidthPerRun, createDigestScenario, makeZone } from '../../../../support/digests/scenario.ts';

test('a first run says what there is, and that there is nothing to compare with', async () => {
  const told = await (await createDigestScenario()).runDaily('2026-11-03', bandwidthPerRun(120));
  expect(told.top).toMatchInlineSnapshot(`
    [
      "*2 zones* · 120 GB this month · $1.20 so far",
    ]
  `);
  expect(told.thread).toMatchInlineSnapshot(`
    [
      "*Zones*
    *shop* · fine · 120 GB · no limit
    _Months are UTC, as the CDN counts them._",
    ]
  `);
});

test('flat: one line', async () => {
  const told = await (await createDigestScenario()).runDaily(
    '2026-11-03',
    bandwidthPerRun(120, 160, 200, 240),
  );
  expect(told.top).toMatchInlineSnapshot(`
    [
      ":zzz: No notable change since Thu 5 Nov 09:00: *2 zones* · 240 GB this month · $2.40 so far (+$0.40)",
    ]
  `);
  expect(told.thread).toEqual([]);
});

test('a spike in a flat series is unusual', async () => {
  const told = await (await createDigestScenario()).runDaily(
    '2026-11-03',
    bandwidthPerRun(120, 160, 200, 240, 281, 320, 360, 480),
  );
  expect(told.top).toMatchInlineSnapshot(`
    [
      "*2 zones* · 480 GB this month · $4.80 so far (+$1.20)",
      ":chart_with_upwards_trend: *shop*: 120 GB a day, 3 × as much as the previous run, *unusual:* mostly 40 GB",
    ]
  `);
  expect(told.thread).toMatchInlineSnapshot(`
    [
      "*Zones*
    :chart_with_upwards_trend: *shop*: 120 GB a day, 3 × as much as the previous run, *unusual:* mostly 40 GB
    All together *$1.20* a day (3 × as much as the previous run)
    *shop* · fine · 480 GB · no limit · 120 GB
    _Months are UTC, as the CDN counts them._",
    ]
  `);
  expect(told.charts).toMatchInlineSnapshot(`
    [
      "Bandwidth: 120 GB a day (line, GB a day): Bandwidth 4 Nov 40, 5 Nov 40, 6 Nov 40, 7 Nov 41, 8 Nov 39, 9 Nov 40, 10 Nov 120",
    ]
  `);
});

test('a trend of a few per cent a day is no change from one day to the next', async () => {
  const told = await (await createDigestScenario()).runDaily(
    '2026-11-03',
    bandwidthPerRun(100, 140, 182, 226, 272, 320, 370),
  );
  expect(told.top).toMatchInlineSnapshot(`
    [
      ":zzz: No notable change since Sun 8 Nov 09:00: *2 zones* · 370 GB this month · $3.70 so far (+$0.50)",
    ]
  `);
});

test('weekends are quiet every week: that is no change', async () => {
  // Monday 2 November on; 40 GB on a workday, 10 GB on the others.
  let sum = 40;
  const amounts = Array.from({ length: 14 }, (_, index) => {
    const result = sum;
    sum += (index + 1) % 7 === 6 || (index + 1) % 7 === 0 ? 10 : 40;
    return result;
  });
  const saturday = await (await createDigestScenario()).runDaily(
    '2026-11-02',
    bandwidthPerRun(...amounts.slice(0, 6)),
  );
  expect(saturday.top).toMatchInlineSnapshot(`
    [
      ":zzz: No notable change since Fri 6 Nov 09:00: *2 zones* · 240 GB this month · $2.40 so far (+$0.40)",
    ]
  `);
  const sunday = await (await createDigestScenario()).runDaily('2026-11-02', bandwidthPerRun(...amounts));
  expect(sunday.top).toMatchInlineSnapshot(`
    [
      ":zzz: No notable change since Sat 14 Nov 09:00: *2 zones* · 470 GB this month · $4.70 so far (+$0.10)",
    ]
  `);
});

test('zero: no zones, and nothing to divide by', async () => {
  const told = await (await createDigestScenario()).runDaily('2026-11-03', [
    () => undefined,
    () => undefined,
  ]);
  expect(told.top).toMatchInlineSnapshot(`
    [
      ":zzz: No notable change since Tue 3 Nov 09:00: *No zones*",
    ]
  `);
});

test('only if something changed: the first run speaks, then silence until something does', async () => {
  const digest = await createDigestScenario({ only: 'changed' });
  expect((await digest.runDaily('2026-11-03', bandwidthPerRun(100))).quiet).toBe(false);
  expect((await digest.runDaily('2026-11-04', bandwidthPerRun(140))).quiet).toBe(true);
  digest.data.zones.push(makeZone(1003, 'new'));
  expect((await digest.run('2026-11-04T12:00:00Z')).quiet).toBe(false);
  expect((await digest.runDaily('2026-11-05', bandwidthPerRun(180))).top).toMatchInlineSnapshot(`
    [
      "*2 zones* · 180 GB this month · $1.80 so far (+$0.40)",
      ":heavy_minus_sign: Gone: new",
      ":chart_with_upwards_trend: *shop*: 45.7 GB a day, +29 % on the previous run",
    ]
  `);
});

test('run again a minute later, nothing changed, and the next run still counts a whole day', async () => {
  const digest = await createDigestScenario();
  await digest.runDaily('2026-11-03', bandwidthPerRun(100, 140));
  const again = await digest.run('2026-11-04T09:01:00Z');
  expect(again.top).toMatchInlineSnapshot(`
    [
      ":zzz: No notable change since Wed 4 Nov 09:00: *2 zones* · 140 GB this month · $1.40 so far",
    ]
  `);
  const next = await digest.runDaily('2026-11-05', bandwidthPerRun(280));
  expect(next.top).toMatchInlineSnapshot(`
    [
      "*2 zones* · 280 GB this month · $2.80 so far (+$1.40)",
      ":chart_with_upwards_trend: *shop*: 140 GB a day, 3.5 × as much as the previous run",
    ]
  `);
});
