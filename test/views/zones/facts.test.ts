import { expect, test } from 'vitest';
import { readZone } from '../../../src/api/zones/zone.ts';
import { renderOrigin, renderOverview } from '../../../src/views/zones/delivery.ts';
import { renderEdgeRule } from '../../../src/views/zones/edge-rules.ts';
import { renderCaching, renderOptimizer, renderSecurity } from '../../../src/views/zones/sections.ts';

function zoneOf(raw: object) {
  const read = readZone({ Id: 1, ...raw });
  if (!read) throw new Error('a zone with an id is a zone');
  return read.zone;
}

function ruleOf(raw: object): string {
  const [rule] = zoneOf({ EdgeRules: [raw] }).edgeRules;
  if (!rule) throw new Error('the zone has a rule');
  return renderEdgeRule(rule);
}

test('a burst size of 0 is no burst; without a request limit there is no burst to speak of', () => {
  expect(renderSecurity(zoneOf({ RequestLimit: 60, BurstSize: 0 }))).toContain('Burst: none');
  expect(renderSecurity(zoneOf({ RequestLimit: 60, BurstSize: 120 }))).toContain('Burst: 120');
  expect(renderSecurity(zoneOf({ RequestLimit: 0, BurstSize: 120 })).join('\n')).not.toContain('Burst');
});

test('limits of a limiter are shown only where it is on', () => {
  const queue = {
    OriginShieldMaxConcurrentRequests: 200,
    OriginShieldMaxQueuedRequests: 0,
    OriginShieldQueueMaxWaitTime: 30,
  };
  expect(renderCaching(zoneOf({ OriginShieldEnableConcurrencyLimit: true, ...queue }))).toContainEqual(
    expect.stringMatching(/queue: .* 200, .* 0, .* 30$/),
  );
  for (const OriginShieldEnableConcurrencyLimit of [false, null]) {
    expect(renderCaching(zoneOf({ OriginShieldEnableConcurrencyLimit, ...queue })).join('\n')).not.toContain(
      'queue',
    );
  }
  expect(renderSecurity(zoneOf({ LimitRatePerSecond: 5, LimitRateAfter: 10 }))).toContain(
    'Limited after: 10',
  );
  expect(renderSecurity(zoneOf({ LimitRatePerSecond: 0, LimitRateAfter: 10 }))).toMatchSnapshot();
});

test.each([
  [0, ['/a', '/b']],
  [1, ['/a', '/b']],
  [2, ['/a', '/b']],
  [1, ['/a']],
  [2, ['/a']],
  [1, ['/a', '/b', '/c', '/d', '/e']],
  [0, ['/a', '/b', '/c', '/d', '/e']],
  [7, ['/a', '/b']],
])('patterns that match by %i are joined with its word: %j', (PatternMatchingType, PatternMatches) => {
  const rule = { ActionType: 4, Triggers: [{ Type: 0, PatternMatches, PatternMatchingType }] };
  expect(ruleOf(rule)).toMatchSnapshot();
});

test('the conditions of a rule stay apart from the patterns within each', () => {
  const Triggers = [
    { Type: 0, PatternMatches: ['/a', '/b'], PatternMatchingType: 0 },
    { Type: 4, PatternMatches: ['DE'], PatternMatchingType: 0 },
  ];
  expect(ruleOf({ ActionType: 4, TriggerMatchingType: 1, Triggers })).toMatchSnapshot();
});

test('each action on a cache time has words of its own, and no unit that nobody gave', () => {
  expect([3, 10, 16].map((ActionType) => ruleOf({ ActionType, ActionParameter1: '3600' }))).toMatchSnapshot();
});

test('numbers have no unit where the specification gives none', () => {
  expect(renderOrigin(zoneOf({ OriginRetries: 2, OriginRetryDelay: 3 }))).toMatchSnapshot('retries');
  const times = { CacheControlMaxAgeOverride: 2_592_000, CacheControlPublicMaxAgeOverride: -1 };
  expect(renderCaching(zoneOf(times))).toMatchSnapshot('cache times');
  expect(
    renderOptimizer(
      zoneOf({
        OptimizerDesktopMaxWidth: 1600,
        OptimizerMobileMaxWidth: 800,
        OptimizerImageQuality: 85,
        OptimizerMobileImageQuality: 70,
      }),
    ),
  ).toMatchSnapshot('optimizer');
});

test('a disabled zone says why, as the specification does', () => {
  for (const Enabled of [false, true, null])
    expect(renderOverview(zoneOf({ Enabled }))).toMatchSnapshot(`enabled: ${Enabled}`);
  expect(renderOverview(zoneOf({ Enabled: false, Suspended: true }))).toMatchSnapshot('suspended');
});
