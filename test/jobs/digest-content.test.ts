import { expect, test } from 'vitest';
import type { CdnData } from '../../simulator/cdn/data.ts';
import { GB, story, zone } from './digest-story.ts';

/** A zone that used so many GB, turn by turn. */
function used(...gigabytes: readonly number[]): ((data: CdnData) => void)[] {
  return gigabytes.map((amount) => (data: CdnData) => {
    data.zones = [
      zone(1001, 'shop', { MonthlyBandwidthUsed: amount * GB, MonthlyCharges: amount / 100 }),
      zone(1002, 'docs'),
    ];
  });
}

test('a first run says what there is, and that there is nothing to compare with', async () => {
  const told = await (await story()).daily('2026-11-03', used(120));
  expect(told.top).toMatchInlineSnapshot(`
    [
      "*2 zones* · 120 GB this month · $1.20 so far",
      "_The first run: the next one tells what changed._",
    ]
  `);
  expect(told.thread).toMatchInlineSnapshot(`
    [
      "*Zones*
    *Most bandwidth this month*
    *shop*: 120 GB
    _Months are UTC, as the CDN counts them._",
    ]
  `);
});

test('flat: one line', async () => {
  const told = await (await story()).daily('2026-11-03', used(120, 160, 200, 240));
  expect(told.top).toMatchInlineSnapshot(`
    [
      ":zzz: Nothing changed since Thu 5 Nov 09:00: *2 zones* · 240 GB this month · $2.40 so far (+$0.40)",
    ]
  `);
  expect(told.thread).toEqual([]);
});

test('a spike in a flat series is unusual', async () => {
  const told = await (await story()).daily('2026-11-03', used(120, 160, 200, 240, 281, 320, 360, 480));
  expect(told.top).toMatchInlineSnapshot(`
    [
      "*2 zones* · 480 GB this month · $4.80 so far (+$1.20)",
      ":chart_with_upwards_trend: *shop*: 120 GB a day, 3 × as much as the previous run, *unusual:* mostly 40 GB",
    ]
  `);
  expect(told.thread).toMatchInlineSnapshot(`
    [
      "*Zones*
    *Changed*
    :chart_with_upwards_trend: *shop*: 120 GB a day, 3 × as much as the previous run, *unusual:* mostly 40 GB
    *Most bandwidth this month*
    *shop*: 480 GB
    *All together*
    Charges: $1.20 a day (3 × as much as the previous run)
    _Months are UTC, as the CDN counts them._",
    ]
  `);
  expect(told.charts).toMatchInlineSnapshot(`
    [
      "Line chart of bandwidth a day, 4 Nov to 10 Nov: lowest 39 GB, highest 120 GB, last 120 GB.",
    ]
  `);
});

test('a trend of a few per cent a day is no change from one day to the next', async () => {
  const told = await (await story()).daily('2026-11-03', used(100, 140, 182, 226, 272, 320, 370));
  expect(told.top).toMatchInlineSnapshot(`
    [
      ":zzz: Nothing changed since Sun 8 Nov 09:00: *2 zones* · 370 GB this month · $3.70 so far (+$0.50)",
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
  const saturday = await (await story()).daily('2026-11-02', used(...amounts.slice(0, 6)));
  expect(saturday.top).toMatchInlineSnapshot(`
    [
      ":zzz: Nothing changed since Fri 6 Nov 09:00: *2 zones* · 240 GB this month · $2.40 so far (+$0.40)",
    ]
  `);
  const sunday = await (await story()).daily('2026-11-02', used(...amounts));
  expect(sunday.top).toMatchInlineSnapshot(`
    [
      ":zzz: Nothing changed since Sat 14 Nov 09:00: *2 zones* · 470 GB this month · $4.70 so far (+$0.10)",
    ]
  `);
});

test('zero: no zones, and nothing to divide by', async () => {
  const told = await (await story()).daily('2026-11-03', [() => undefined, () => undefined]);
  expect(told.top).toMatchInlineSnapshot(`
    [
      ":zzz: Nothing changed since Tue 3 Nov 09:00: *no zones* · 0 B this month · $0.00 so far",
    ]
  `);
});

test('a month begins anew: nothing fell', async () => {
  const told = await (await story()).daily('2026-11-29', used(1160, 1200, 15));
  expect(told.top).toMatchInlineSnapshot(`
    [
      ":zzz: Nothing changed since Mon 30 Nov 09:00: *2 zones* · 15 GB this month · $0.15 so far",
    ]
  `);
});

/** One zone that may use 500 GB, and used so many, turn by turn. */
const limited = (...amounts: readonly number[]) =>
  amounts.map((amount) => (data: CdnData) => {
    data.zones = [zone(1001, 'shop', { MonthlyBandwidthUsed: amount * GB, MonthlyBandwidthLimit: 500 * GB })];
  });

test('a monthly limit: foretold once there is enough of the month, told once, then reached', async () => {
  const early = await (await story()).daily('2026-11-02', limited(20, 44));
  expect(early.top).toMatchInlineSnapshot(`
    [
      ":zzz: Nothing changed since Mon 2 Nov 09:00: *1 zone* · 44 GB this month · $0.00 so far",
    ]
  `);
  const foretold = await (await story()).daily('2026-11-02', limited(26, 45, 64));
  expect(foretold.top).toMatchInlineSnapshot(`
    [
      "*1 zone* · 64 GB this month · $0.00 so far",
      "19 GB a day: the same as the previous run",
      ":hourglass: At this rate *shop* reaches its limit of 500 GB on 27 Nov",
    ]
  `);
  const again = await (await story()).daily('2026-11-02', limited(26, 45, 64, 83));
  expect(again.top).toMatchInlineSnapshot(`
    [
      ":zzz: Nothing changed since Wed 4 Nov 09:00: *1 zone* · 83 GB this month · $0.00 so far",
    ]
  `);
  const reached = await (await story()).daily('2026-11-24', limited(450, 470, 490, 500));
  expect(reached.top).toMatchInlineSnapshot(`
    [
      "*1 zone* · 500 GB this month · $0.00 so far · :warning: 1 needs attention",
      ":rotating_light: *shop* reached its limit: 500 GB of 500 GB",
      ":chart_with_downwards_trend: *shop*: 10 GB a day, −50 % on the previous run",
    ]
  `);
});

test('a first run has its limits once, and no change', async () => {
  const told = await (await story()).daily('2026-11-11', limited(450));
  expect(told.top).toMatchInlineSnapshot(`
    [
      "*1 zone* · 450 GB this month · $0.00 so far · :warning: 1 needs attention",
      ":hourglass: At this rate *shop* reaches its limit of 500 GB on 12 Nov",
      "_The first run: the next one tells what changed._",
    ]
  `);
  expect(told.thread).toMatchInlineSnapshot(`
    [
      "*Zones*
    *Limits*
    :hourglass: At this rate *shop* reaches its limit of 500 GB on 12 Nov
    *Needs attention*
    Above 80 % of the limit: 1 · shop
    *Most bandwidth this month*
    *shop*: 450 GB
    _Months are UTC, as the CDN counts them. A limit’s day: if the rest of the month goes like the month so far._",
    ]
  `);
});

test('what went wrong with zones, what was mended, what came and went', async () => {
  const plain = ['shop', 'media', 'docs', 'blog'].map((name, index) => zone(1001 + index, name));
  const hostname = { Id: 1, Value: 'www.shop.example', HasCertificate: false };
  const told = await (await story()).daily('2026-11-03', [
    (data) => {
      data.zones = [...plain, zone(1009, 'old <!channel>', { Enabled: false })];
    },
    (data) => {
      data.zones = [
        zone(1001, 'shop', { Hostnames: [hostname] as never }),
        zone(1002, 'media', { Suspended: true }),
        zone(1003, 'docs', { Enabled: false }),
        zone(1010, 'fresh'),
      ];
    },
  ]);
  expect(told.top).toMatchInlineSnapshot(`
    [
      "*4 zones* · 0 B this month · $0.00 so far · :warning: 3 need attention",
      ":no_entry: Newly suspended: media",
      ":rotating_light: Newly disabled: docs",
      ":unlock: Newly without certificate: shop (www.shop.example)",
      ":heavy_minus_sign: Gone: blog, old &lt;!channel&gt;",
      ":heavy_plus_sign: New: fresh",
    ]
  `);
  expect(told.thread).toMatchInlineSnapshot(`
    [
      "*Zones*
    *Changed*
    :no_entry: Newly suspended: media
    :rotating_light: Newly disabled: docs
    :unlock: Newly without certificate: shop (www.shop.example)
    :heavy_minus_sign: Gone: blog, old &lt;!channel&gt;
    :heavy_plus_sign: New: fresh
    _Months are UTC, as the CDN counts them._",
    ]
  `);
});

test('with a name or without, what is wrong again and again is told once', async () => {
  const told = await (await story()).daily('2026-11-03', [
    (data) => {
      data.zones = [zone(1001, '', { Enabled: false })];
    },
    () => undefined,
  ]);
  expect(told.top).toMatchInlineSnapshot(`
    [
      ":zzz: Nothing changed since Tue 3 Nov 09:00: *1 zone* · 0 B this month · $0.00 so far · :warning: 1 needs attention",
    ]
  `);
});

test('only if something changed: the first run speaks, then silence until something does', async () => {
  const digest = await story({ only: 'changed' });
  expect((await digest.daily('2026-11-03', used(100))).quiet).toBe(false);
  expect((await digest.daily('2026-11-04', used(140))).quiet).toBe(true);
  digest.data.zones.push(zone(1003, 'new'));
  expect((await digest.run('2026-11-04T12:00:00Z')).quiet).toBe(false);
  expect((await digest.daily('2026-11-05', used(180))).top).toMatchInlineSnapshot(`
    [
      "*2 zones* · 180 GB this month · $1.80 so far (+$0.40)",
      ":heavy_minus_sign: Gone: new",
      ":chart_with_upwards_trend: *shop*: 45.7 GB a day, +29 % on the previous run",
    ]
  `);
});

test('run again a minute later, nothing changed, and the next run still counts a whole day', async () => {
  const digest = await story();
  await digest.daily('2026-11-03', used(100, 140));
  const again = await digest.run('2026-11-04T09:01:00Z');
  expect(again.top).toMatchInlineSnapshot(`
    [
      ":zzz: Nothing changed since Wed 4 Nov 09:00: *2 zones* · 140 GB this month · $1.40 so far",
    ]
  `);
  const next = await digest.daily('2026-11-05', used(280));
  expect(next.top).toMatchInlineSnapshot(`
    [
      "*2 zones* · 280 GB this month · $2.80 so far (+$1.40)",
      ":chart_with_upwards_trend: *shop*: 140 GB a day, 3.5 × as much as the previous run",
    ]
  `);
});

test('with somebody else’s account it begins anew', async () => {
  const told = await (await story()).daily('2026-11-03', [
    (data) => {
      data.zones = [zone(1001, 'shop'), zone(1002, 'docs')];
    },
    (data) => {
      data.zones = [zone(7001, 'theirs', { Enabled: false })];
    },
  ]);
  expect(told.top).toMatchInlineSnapshot(`
    [
      "*1 zone* · 0 B this month · $0.00 so far · :warning: 1 needs attention",
      "_The first run: the next one tells what changed._",
    ]
  `);
});

/** Ten thousand zones above their limits. */
const many =
  (disabled: (index: number) => boolean, from = 0) =>
  (data: CdnData) => {
    data.zones = Array.from({ length: 10_000 }, (_, index) =>
      zone(
        100_000 + from + index * 7,
        `zone "${index}" with a long name, as people have them, ${'ä'.repeat(60)}`,
        {
          Enabled: !disabled(index),
          MonthlyBandwidthUsed: 2 * GB,
          MonthlyBandwidthLimit: GB,
        },
      ),
    );
  };

test('an account of ten thousand zones is told in the same few lines, and kept in as little', async () => {
  const told = await (await story()).daily('2026-11-03', [
    many((i) => i % 2 === 0),
    many((i) => i % 2 === 0 || i < 5),
  ]);
  expect(told.top).toMatchInlineSnapshot(`
    [
      "*10,000 zones* · 20,000 GB this month · $0.00 so far · :warning: 10,000 need attention",
      ":rotating_light: Newly disabled: 2 zones",
    ]
  `);
  expect(told.stored.length).toBeLessThan(50_000);
});
