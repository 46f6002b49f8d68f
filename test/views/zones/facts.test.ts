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
  expect(renderCaching(zoneOf({ OriginShieldEnableConcurrencyLimit: true, ...queue }))).toContain(
    'Its queue: at once: 200, waiting: 0, longest wait: 30',
  );
  for (const OriginShieldEnableConcurrencyLimit of [false, null]) {
    expect(renderCaching(zoneOf({ OriginShieldEnableConcurrencyLimit, ...queue })).join('\n')).not.toContain(
      'queue',
    );
  }
  expect(renderSecurity(zoneOf({ LimitRatePerSecond: 5, LimitRateAfter: 10 }))).toContain(
    'Limited after: 10',
  );
  expect(renderSecurity(zoneOf({ LimitRatePerSecond: 0, LimitRateAfter: 10 }))).toEqual([
    'Transfer rate: unlimited',
  ]);
});

test.each([
  [0, ['/a', '/b'], 'when URL is `/a` or `/b`'],
  [1, ['/a', '/b'], 'when URL is all of `/a` and `/b`'],
  [2, ['/a', '/b'], 'when URL is neither `/a` nor `/b`'],
  [1, ['/a'], 'when URL is `/a`'],
  [2, ['/a'], 'when URL is not `/a`'],
  [1, ['/a', '/b', '/c', '/d', '/e'], 'when URL is all of `/a` and `/b` and `/c` and 2 more'],
  [0, ['/a', '/b', '/c', '/d', '/e'], 'when URL is `/a` or `/b` or `/c` or 2 more'],
  [7, ['/a', '/b'], 'when URL unknown (7): `/a`, `/b`'],
])('patterns that match by %i are joined with its word: %j', (PatternMatchingType, PatternMatches, words) => {
  const rule = { ActionType: 4, Triggers: [{ Type: 0, PatternMatches, PatternMatchingType }] };
  expect(ruleOf(rule)).toBe(`block the request ${words}`);
});

test('the conditions of a rule stay apart from the patterns within each', () => {
  const Triggers = [
    { Type: 0, PatternMatches: ['/a', '/b'], PatternMatchingType: 0 },
    { Type: 4, PatternMatches: ['DE'], PatternMatchingType: 0 },
  ];
  expect(ruleOf({ ActionType: 4, TriggerMatchingType: 1, Triggers })).toBe(
    'block the request when URL is `/a` or `/b`, and country code is `DE`',
  );
});

test('each action on a cache time has words of its own, and no unit that nobody gave', () => {
  expect([3, 10, 16].map((ActionType) => ruleOf({ ActionType, ActionParameter1: '3600' }))).toEqual([
    'set the CDN’s cache time to 3600 always',
    'set the public cache time to 3600 always',
    'set the browser’s cache time to 3600 always',
  ]);
});

test('numbers have no unit where the specification gives none', () => {
  expect(renderOrigin(zoneOf({ OriginRetries: 2, OriginRetryDelay: 3 }))).toEqual([
    'Retries: 2, wait before a retry: 3',
  ]);
  expect(
    renderOptimizer(
      zoneOf({
        OptimizerDesktopMaxWidth: 1600,
        OptimizerMobileMaxWidth: 800,
        OptimizerImageQuality: 85,
        OptimizerMobileImageQuality: 70,
      }),
    ),
  ).toEqual(['Widest on desktop: 1,600', 'Widest on mobile: 800', 'Image quality: desktop: 85, mobile: 70']);
});

test('a disabled zone says why, as the specification does', () => {
  const why = 'Disabled because: resource limits were reached or the owning account ran out of funds';
  expect(renderOverview(zoneOf({ Enabled: false }))).toContain(why);
  expect(renderOverview(zoneOf({ Enabled: false, Suspended: true }))).toContain(why);
  for (const Enabled of [true, null]) expect(renderOverview(zoneOf({ Enabled }))).not.toContain(why);
});
