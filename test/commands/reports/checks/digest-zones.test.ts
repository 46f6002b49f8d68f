import { expect, test } from 'vitest';
import type { CdnData } from '../../../../simulator/cdn/model.ts';
import {
  createDigestScenario,
  GB,
  limitedBandwidthPerRun,
  makeZone,
} from '../../../support/digests/scenario.ts';

test('a monthly limit: foretold once there is enough of the month, told once, then reached', async () => {
  const early = await (await createDigestScenario()).runDaily('2026-11-02', limitedBandwidthPerRun(20, 44));
  expect(early.top).toMatchInlineSnapshot(`
    [
      ":zzz: No notable change since Mon 2 Nov 09:00: *1 zone* · 44 GB this month · $0.00 so far",
    ]
  `);
  const foretold = await (await createDigestScenario()).runDaily(
    '2026-11-02',
    limitedBandwidthPerRun(26, 45, 64),
  );
  expect(foretold.top).toMatchInlineSnapshot(`
    [
      "*1 zone* · 64 GB this month · $0.00 so far",
      "19 GB a day: the same as the previous run",
      ":hourglass: At this rate *shop* reaches its limit of 500 GB on 27 Nov",
    ]
  `);
  const again = await (await createDigestScenario()).runDaily(
    '2026-11-02',
    limitedBandwidthPerRun(26, 45, 64, 83),
  );
  expect(again.top).toMatchInlineSnapshot(`
    [
      ":zzz: No notable change since Wed 4 Nov 09:00: *1 zone* · 83 GB this month · $0.00 so far",
    ]
  `);
  const reached = await (await createDigestScenario()).runDaily(
    '2026-11-24',
    limitedBandwidthPerRun(450, 470, 490, 500),
  );
  expect(reached.top).toMatchInlineSnapshot(`
    [
      "*1 zone* · 500 GB this month · $0.00 so far · :warning: 1 needs attention",
      ":rotating_light: *shop* reached its limit: 500 GB of 500 GB",
      ":chart_with_downwards_trend: *shop*: 10 GB a day, −50 % on the previous run",
    ]
  `);
});

test('a first run has its limits once, and no change', async () => {
  const told = await (await createDigestScenario()).runDaily('2026-11-11', limitedBandwidthPerRun(450));
  expect(told.top).toMatchInlineSnapshot(`
    [
      "*1 zone* · 450 GB this month · $0.00 so far · :warning: 1 needs attention",
      ":hourglass: At this rate *shop* reaches its limit of 500 GB on 12 Nov",
    ]
  `);
  expect(told.thread).toMatchInlineSnapshot(`
    [
      "*Zones*
    *shop* · 90 % of limit, limit on 12 Nov · 450 GB · 90 %
    _Months are UTC, as the CDN counts them. Forecast: if the rest of the month continues like this._",
    ]
  `);
});

test('what went wrong with zones, what was mended, what came and went', async () => {
  const plain = ['shop', 'media', 'docs', 'blog'].map((name, index) => makeZone(1001 + index, name));
  const hostname = { Id: 1, Value: 'www.shop.example', HasCertificate: false };
  const told = await (await createDigestScenario()).runDaily('2026-11-03', [
    (data) => {
      data.zones = [...plain, makeZone(1009, 'old <!channel>', { Enabled: false })];
    },
    (data) => {
      data.zones = [
        makeZone(1001, 'shop', { Hostnames: [hostname] as never }),
        makeZone(1002, 'media', { Suspended: true }),
        makeZone(1003, 'docs', { Enabled: false }),
        makeZone(1010, 'fresh'),
      ];
    },
  ]);
  expect(told.top).toMatchInlineSnapshot(`
    [
      "*4 zones* · 0 B this month · $0.00 so far · :warning: 3 need attention",
      ":no_entry: Newly suspended: media",
      ":rotating_light: Newly disabled: docs",
      ":unlock: Newly without certificate: shop (www.shop.example)",
      ":heavy_minus_sign: *2* gone: blog, old &lt;!channel&gt;",
      ":heavy_plus_sign: New: fresh",
    ]
  `);
  expect(told.thread).toMatchInlineSnapshot(`
    [
      "*Zones*
    :no_entry: Newly suspended: media
    :rotating_light: Newly disabled: docs
    :unlock: Newly without certificate: shop (www.shop.example)
    :heavy_minus_sign: *2* gone: blog, old &lt;!channel&gt;
    :heavy_plus_sign: New: fresh
    *media* · suspended · 0 B · no limit
    *docs* · disabled · 0 B · no limit
    *shop* · no certificate · 0 B · no limit
    _Months are UTC, as the CDN counts them._",
    ]
  `);
});

test('with a name or without, what is wrong again and again is told once', async () => {
  const told = await (await createDigestScenario()).runDaily('2026-11-03', [
    (data) => {
      data.zones = [makeZone(1001, '', { Enabled: false })];
    },
    () => undefined,
  ]);
  expect(told.top).toMatchInlineSnapshot(`
    [
      ":zzz: No notable change since Tue 3 Nov 09:00: *1 zone* · 0 B this month · $0.00 so far · :warning: 1 needs attention",
    ]
  `);
});

test('with somebody else’s account it begins anew', async () => {
  const told = await (await createDigestScenario()).runDaily('2026-11-03', [
    (data) => {
      data.zones = [makeZone(1001, 'shop'), makeZone(1002, 'docs')];
    },
    (data) => {
      data.zones = [makeZone(7001, 'theirs', { Enabled: false })];
    },
  ]);
  expect(told.top).toMatchInlineSnapshot(`
    [
      "*1 zone* · 0 B this month · $0.00 so far · :warning: 1 needs attention",
    ]
  `);
});

/** Ten thousand zones above their limits. */
const many =
  (disabled: (index: number) => boolean, from = 0) =>
  (data: CdnData) => {
    data.zones = Array.from({ length: 10_000 }, (_, index) =>
      makeZone(
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

test('an account of ten thousand zones is told in the same few lines by name, and kept in as little', async () => {
  const told = await (await createDigestScenario()).runDaily('2026-11-03', [
    many((i) => i % 2 === 0),
    many((i) => i % 2 === 0 || i < 25, 7),
  ]);
  expect(told.top).toMatchInlineSnapshot(`
    [
      "*10,000 zones* · 20 TB this month · $0.00 so far · :warning: 10,000 need attention",
      ":rotating_light: *zone 9999 with a long name, as people have them, äääääääääää* reached its limit: 2 GB of 1 GB",
      ":rotating_light: *5,000* newly disabled: zone 0 with a long name…, zone 2 with a long name…, zone 4 with a long name… and 4,997 more",
      ":heavy_minus_sign: Gone: zone 0 with a long name, as people have them, ääääääääääääää",
      ":white_check_mark: *4,987* enabled again: zone 25 with a long nam…, zone 27 with a long nam…, zone 29 with a long nam… and 4,984 more",
      ":heavy_plus_sign: New: zone 9999 with a long name, as people have them, äääääääääää",
    ]
  `);
  expect(told.thread[0]?.split('\n').slice(0, 6)).toMatchInlineSnapshot(`
    [
      "*Zones*",
      ":rotating_light: *zone 9999 with a long name, as people have them, äääääääääää* reached its limit: 2 GB of 1 GB",
      ":rotating_light: *5,000* newly disabled: zone 0 with a long name, as people have them, ääääääääääääää, zone 2 with a long name, as people have them, ääääääääääääää, zone 4 with a long name, as people have them, ääääääääääääää, zone 6 with a long name, as people have them, ääääääääääääää, zone 8 with a long name, as people have them, ääääääääääääää, zone 10 with a long name, as people have them, äääääääääääää, zone 12 with a long name, as people have them, äääääääääääää, zone 14 with a long name, as people have them, äääääääääääää, zone 16 with a long name, as people have them, äääääääääääää, zone 18 with a long name, as people have them, äääääääääääää and 4,990 more",
      ":heavy_minus_sign: Gone: zone 0 with a long name, as people have them, ääääääääääääää",
      ":white_check_mark: *4,987* enabled again: zone 25 with a long name, as people have them, äääääääääääää, zone 27 with a long name, as people have them, äääääääääääää, zone 29 with a long name, as people have them, äääääääääääää, zone 31 with a long name, as people have them, äääääääääääää, zone 33 with a long name, as people have them, äääääääääääää, zone 35 with a long name, as people have them, äääääääääääää, zone 37 with a long name, as people have them, äääääääääääää, zone 39 with a long name, as people have them, äääääääääääää, zone 41 with a long name, as people have them, äääääääääääää, zone 43 with a long name, as people have them, äääääääääääää and 4,977 more",
      ":heavy_plus_sign: New: zone 9999 with a long name, as people have them, äääääääääää",
    ]
  `);
  expect(told.stored.length).toBeLessThan(50_000);
});

const disable = (id: number) => (data: CdnData) => {
  for (const one of data.zones) if (one.Id === id) one.Enabled = false;
};

test('what a silent run found is told by the next one that speaks', async () => {
  const digest = await createDigestScenario(
    { only: { above: 1 } },
    { zones: [makeZone(1001, 'shop'), makeZone(1002, 'docs')] },
  );
  expect((await digest.runDaily('2026-11-03', [() => undefined, disable(1001)])).quiet).toBe(true);
  const told = await digest.runDaily('2026-11-05', [disable(1002)]);
  expect(told.quiet).toBe(false);
  expect(told.top).toMatchInlineSnapshot(`
    [
      "*2 zones* · 0 B this month · $0.00 so far · :warning: 2 need attention",
      ":rotating_light: *2* newly disabled: shop, docs",
    ]
  `);
});
