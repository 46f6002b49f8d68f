import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import type { CdnData } from '../../../../simulator/cdn/model.ts';
import type { ZoneSummary } from '../../../../src/api/zones/summary.ts';
import type { AccountReads } from '../../../../src/commands/reports/accounts.ts';
import { flattenName } from '../../../../src/commands/reports/checks/check.ts';
import { zonesDigest } from '../../../../src/commands/reports/checks/zones-digest.ts';
import { baselineAfterSilence } from '../../../../src/commands/reports/digests/run-digest.ts';
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

const hostname = (HasCertificate: boolean) => ({ Id: 1, Value: 'www.shop.example', HasCertificate });

test.each([
  ['is reported as well', { Enabled: true, Hostnames: [hostname(true)] }, 2],
  ['is no longer reported', { Enabled: null, Hostnames: null }, 0],
])('what %s: recovered is only the former', async (_, members, recovered) => {
  const told = await (await createDigestScenario()).runDaily('2026-11-03', [
    (data) => {
      data.zones = [makeZone(1001, 'shop', { Enabled: false, Hostnames: [hostname(false)] as never })];
    },
    (data) => {
      data.zones = [makeZone(1001, 'shop', members as never)];
    },
  ]);
  expect(JSON.stringify(told.top).split(':white_check_mark:')).toHaveLength(recovered + 1);
});

test('what went wrong with zones, what was mended, what came and went', async () => {
  const plain = ['shop', 'media', 'docs', 'blog'].map((name, index) => makeZone(1001 + index, name));
  const told = await (await createDigestScenario()).runDaily('2026-11-03', [
    (data) => {
      data.zones = [...plain, makeZone(1009, 'old <!channel>', { Enabled: false })];
    },
    (data) => {
      data.zones = [
        makeZone(1001, 'shop', { Hostnames: [hostname(false)] as never }),
        makeZone(1002, 'media', { Suspended: true }),
        makeZone(1003, 'docs', { Enabled: false }),
        makeZone(1010, 'fresh'),
      ];
    },
  ]);
  expect(told.top).toMatchSnapshot('told, top');
  expect(told.thread).toMatchSnapshot('told, thread');
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

const now = new Date('2026-11-11T00:00:00Z');
type Baseline = Parameters<typeof zonesDigest.collect>[0]['baseline'];

function collect(zones: readonly ZoneSummary[], baseline?: Baseline, skipped = 0) {
  const account = { pullZones: { all: async () => ({ zones, skipped }) } } as unknown as AccountReads;
  const targets = { zones: [], shieldZones: [], apps: [] };
  return zonesDigest.collect({ account, now, targets, timeZone: 'UTC', past: [], baseline });
}

const zone = (id: string, bandwidthUsed: number): ZoneSummary => ({
  id,
  name: `zone ${id}`,
  hostnames: [],
  hostnamesWithoutCertificate: [],
  bandwidthUsed,
  bandwidthLimit: 100,
});

/** What is new, without names in bold: `At this rate zone 2 reaches …`. */
const listNews = ({ section }: Awaited<ReturnType<typeof collect>>) =>
  section?.findings.flatMap(({ text, names }) =>
    text === undefined ? [] : [[text, ...(names?.first ?? []).map(({ name }) => name)].join(' ')],
  );

test('limits: what is new comes first, then the soonest; reaching it is new once more', async () => {
  const first = await collect([zone('1', 40), zone('2', 60), zone('3', 100), zone('4', 20)]);
  const later = [zone('1', 41), zone('2', 100), zone('3', 100), zone('4', 50)];
  const second = await collect(later, first.baseline);
  expect([listNews(first), listNews(second)]).toMatchSnapshot();
});

const insecure = { ...zone('3', 0), hostnames: ['a.example'], hostnamesWithoutCertificate: ['a.example'] };

test.each<[what: string, before: ZoneSummary, after: Partial<ZoneSummary>]>([
  ['its hostname removed', insecure, { hostnames: ['b.example'], hostnamesWithoutCertificate: [] }],
  ['its limit removed', zone('4', 90), { bandwidthLimit: undefined, isUnlimited: true }],
])('a zone with %s is told as that', async (_, before, after) => {
  const { baseline } = await collect([before]);
  expect(listNews(await collect([{ ...before, ...after }], baseline))).toMatchSnapshot();
});

test('of a list that is not whole no zone left, and none joins when it is whole again', async () => {
  const zones = ['1', '2'].map((id) => zone(id, 0));
  const first = await collect(zones);
  const partly = await collect(zones.slice(1), first.baseline, 1);
  expect(listNews(partly)).toEqual([]);
  expect(listNews(await collect(zones, partly.baseline))).toEqual([]);
  expect(listNews(await collect(zones.slice(1), partly.baseline))).toEqual([
    expect.stringMatching(/zone 1$/),
  ]);
});

test('a baseline in the form of 0.1.0 is none: the run is a first one', async () => {
  const at = '2026-11-10T00:00:00.000Z';
  const { section, baseline } = await collect([zone('1', 100)], { scope: '', at, since: at });
  expect(section?.since).toEqual([undefined]);
  expect(baseline?.zones).toHaveLength(1);
});

test('a name is kept in bounds, whatever is in it', () => {
  expect(flattenName('a\u0000\n\u202E"b\\')).toBe('a b');
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 200 }), (name) => {
      expect(JSON.stringify(flattenName(name)).length).toBeLessThanOrEqual(62);
      expect(flattenName(name).isWellFormed()).toBe(true);
    }),
  );
});

test('a silent run forgets what was told of other zones', async () => {
  const { baseline } = await collect([zone('1', 40)]);
  const [told, found] = [{ ...baseline, scope: '2' } as Baseline, baseline].map((zones) => ({
    byKind: { zones },
  }));
  expect(baselineAfterSilence(told, found ?? { byKind: {} })).toEqual(found);
});
