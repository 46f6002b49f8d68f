import { expect, test } from 'vitest';
import { readZone } from '../../../src/api/zones/zone.ts';
import { listAccount, listOrigin } from '../../../src/views/zones/delivery.ts';
import { listEdgeRule } from '../../../src/views/zones/edge-rules.ts';
import type { Row } from '../../../src/views/zones/fields.ts';
import { listCaching, listOptimizer, listSecurity } from '../../../src/views/zones/sections.ts';

function zoneOf(raw: object) {
  const read = readZone({ Id: 1, ...raw });
  if (!read) throw new Error('a zone with an id is a zone');
  return read.zone;
}

function write(rows: readonly Row[]): string[] {
  return rows.map(([setting, value]) => `${setting}: ${value}`);
}

function ruleOf(raw: object): string {
  const [rule] = zoneOf({ EdgeRules: [raw] }).edgeRules;
  if (!rule) throw new Error('the zone has a rule');
  return listEdgeRule(rule, 0).slice(1).join(' ');
}

test('a burst size of 0 is no burst; without a request limit there is no burst to speak of', () => {
  expect(write(listSecurity(zoneOf({ RequestLimit: 60, BurstSize: 0 })))).toContain('Burst: off');
  expect(write(listSecurity(zoneOf({ RequestLimit: 60, BurstSize: 120 })))).toContain('Burst: 120');
  expect(write(listSecurity(zoneOf({ RequestLimit: 0, BurstSize: 120 }))).join('\n')).not.toContain('Burst');
});

test('limits of a limiter are shown only where it is on', () => {
  const queue = {
    OriginShieldMaxConcurrentRequests: 200,
    OriginShieldMaxQueuedRequests: 0,
    OriginShieldQueueMaxWaitTime: 30,
  };
  const limited = write(listCaching(zoneOf({ OriginShieldEnableConcurrencyLimit: true, ...queue })));
  expect(limited).toMatchSnapshot('shield queue');
  for (const OriginShieldEnableConcurrencyLimit of [false, null]) {
    const rows = listCaching(zoneOf({ OriginShieldEnableConcurrencyLimit, ...queue }));
    expect(write(rows).join('\n')).not.toContain('queue');
  }
  expect(write(listSecurity(zoneOf({ LimitRatePerSecond: 5, LimitRateAfter: 10 })))).toContain(
    'Limited after: 10',
  );
  expect(write(listSecurity(zoneOf({ LimitRatePerSecond: 0, LimitRateAfter: 10 })))).toMatchSnapshot('rate');
});

test('Let’s Encrypt is on unless it is disabled', () => {
  expect(write(listSecurity(zoneOf({ DisableLetsEncrypt: false })))).toEqual(['Let’s Encrypt: on']);
  expect(write(listSecurity(zoneOf({ DisableLetsEncrypt: true })))).toEqual(['Let’s Encrypt: off']);
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
  expect(write(listOrigin(zoneOf({ OriginRetries: 2, OriginRetryDelay: 3 })))).toMatchSnapshot('retries');
  const times = { CacheControlMaxAgeOverride: 2_592_000, CacheControlPublicMaxAgeOverride: -1 };
  expect(write(listCaching(zoneOf(times)))).toMatchSnapshot('cache times');
  expect(
    write(
      listOptimizer(
        zoneOf({
          OptimizerDesktopMaxWidth: 1600,
          OptimizerMobileMaxWidth: 800,
          OptimizerImageQuality: 85,
          OptimizerMobileImageQuality: 70,
        }),
      ),
    ),
  ).toMatchSnapshot('optimizer');
});

test('a disabled zone says why, as the specification does', () => {
  for (const Enabled of [false, true, null])
    expect(write(listAccount(zoneOf({ Enabled })))).toMatchSnapshot(`enabled: ${Enabled}`);
  expect(write(listAccount(zoneOf({ Enabled: false, Suspended: true })))).toMatchSnapshot('suspended');
});
