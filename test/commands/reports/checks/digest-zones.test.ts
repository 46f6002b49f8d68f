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
  expect(early.top).toMatchSnapshot('early, top');
  const foretold = await (await createDigestScenario()).runDaily(
    '2026-11-02',
    limitedBandwidthPerRun(26, 45, 64),
  );
  expect(foretold.top).toMatchSnapshot('foretold, top');
  const again = await (await createDigestScenario()).runDaily(
    '2026-11-02',
    limitedBandwidthPerRun(26, 45, 64, 83),
  );
  expect(again.top).toMatchSnapshot('again, top');
  const reached = await (await createDigestScenario()).runDaily(
    '2026-11-24',
    limitedBandwidthPerRun(450, 470, 490, 500),
  );
  expect(reached.top).toMatchSnapshot('reached, top');
});

test('a first run has its limits once, and no change', async () => {
  const told = await (await createDigestScenario()).runDaily('2026-11-11', limitedBandwidthPerRun(450));
  expect(told.top).toMatchSnapshot('told, top');
  expect(told.thread).toMatchSnapshot('told, thread');
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
  expect(told.top).toMatchSnapshot('told, top');
  expect(told.thread).toMatchSnapshot('told, thread');
});

test('with a name or without, what is wrong again and again is told once', async () => {
  const told = await (await createDigestScenario()).runDaily('2026-11-03', [
    (data) => {
      data.zones = [makeZone(1001, '', { Enabled: false })];
    },
    () => undefined,
  ]);
  expect(told.top).toMatchSnapshot();
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
  expect(told.top).toMatchSnapshot();
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
  expect(told.top).toMatchSnapshot();
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
  expect(told.top).toMatchSnapshot();
});
