import { expect, test } from 'vitest';
import type { Section } from '../../../src/api/zones/members.ts';
import { listEdgeRule, listSection } from '../../../src/views/zones/settings.ts';
import { readWholeZone } from '../../api/zones/values.ts';

const zoneOf = (raw: object) => readWholeZone({ Id: 1, ...raw }).zone;

/** The rows of a section: `TLS 1.0: on`. */
function write(section: Section, raw: object): string[] {
  return listSection(zoneOf(raw), section).map(([setting, value]) => `${setting}: ${value}`);
}

function ruleOf(raw: object): string {
  const [rule] = zoneOf({ EdgeRules: [raw] }).members.EdgeRules ?? [];
  if (!rule) throw new Error('the zone has a rule');
  return listEdgeRule(rule, 0).slice(1).join(' ');
}

const queue = {
  OriginShieldMaxConcurrentRequests: 200,
  OriginShieldMaxQueuedRequests: 0,
  OriginShieldQueueMaxWaitTime: 30,
};

// What belongs together is one row, and what does not apply is left out.
test.each<[Section, object, string[]]>([
  ['security', { RequestLimit: 60, BurstSize: 0 }, ['Requests per IP, second: 60, burst 0']],
  ['security', { RequestLimit: 0, BurstSize: 120 }, ['Requests per IP, second: unlimited']],
  ['security', { LimitRatePerSecond: 5, LimitRateAfter: 10 }, ['Transfer rate: 5 kb/s, limited after 10']],
  ['security', { LimitRatePerSecond: 0, LimitRateAfter: 10 }, ['Transfer rate: unlimited']],
  ['security', { DisableLetsEncrypt: false }, ['Let’s Encrypt: on']],
  ['security', { DisableLetsEncrypt: true }, ['Let’s Encrypt: off']],
  ['security', { TlsSecurityLevel: 0, ZoneSecurityKey: 'CANARY' }, ['TLS profile: legacy']],
  ['security', { BlockPostRequests: true, BlockNoneReferrer: false }, ['Also blocked: POST']],
  ['security', { BlockPostRequests: false }, ['Also blocked: none']],
  [
    'caching',
    { OriginShieldEnableConcurrencyLimit: true, ...queue },
    ['Shield queue: on, in parallel 200, waiting 0, longest wait 30'],
  ],
  ['caching', { OriginShieldEnableConcurrencyLimit: false, ...queue }, ['Shield queue: off']],
  ['caching', { OriginShieldEnableConcurrencyLimit: null, ...queue }, []],
  [
    'caching',
    { CacheControlMaxAgeOverride: 2_592_000, CacheControlPublicMaxAgeOverride: -1 },
    ['CDN cache time: 2,592,000', 'Browser cache time: not overridden'],
  ],
  [
    'caching',
    { EnableWebPVary: true, EnableAvifVary: false, CookieVaryParameters: ['a', 'b'], CacheKeyHeaders: '' },
    ['Cache varies by: WebP, cookies (a, b)'],
  ],
  [
    'origin',
    { OriginRetries: 2, OriginRetryDelay: 3, OriginRetry5XXResponses: true },
    ['Retries: 2, delay 3, on 5xx'],
  ],
  [
    'origin',
    { OriginConnectTimeout: 10, OriginResponseTimeout: 60 },
    ['Timeouts: connect 10 s, response 60 s'],
  ],
  ['origin', { OriginType: 4, OriginUrl: 'https://bunnycdn.com' }, ['Origin type: edge script']],
  ['origin', { StickySessionType: 0, StickySessionCookieName: 'node' }, ['Sticky sessions: off']],
  ['origin', { LoadBalancerId: 7, EdgeScriptId: -1 }, ['Load balancer: 7']],
  [
    'optimizer',
    { OptimizerImageQuality: 85, OptimizerMobileImageQuality: 70, OptimizerPricing: 9.5 },
    ['Optimizer price a month: $9.50', 'Image quality: desktop 85, mobile 70'],
  ],
  ['optimizer', { EnableVendorImageAi: true }, ['AI images: on']],
  ['account', { Enabled: true }, ['Id: 1', 'State: active']],
  [
    'account',
    { Enabled: false, Suspended: true },
    [
      'Id: 1',
      'State: disabled',
      'Suspended: yes',
      'Disabled because: resource limits were reached or the owning account ran out of funds',
    ],
  ],
  [
    'account',
    { MonthlyBandwidthLimit: 0, PriceOverride: 1e-8 },
    ['Id: 1', 'Monthly limit: unlimited', 'Custom price: $1e-8 per byte'],
  ],
  [
    'pages',
    { ErrorPageEnableCustomCode: true, ErrorPageCustomCode: '<p>' },
    ['Custom error page: on, code 3 characters'],
  ],
  [
    'logging',
    { LoggingIPAnonymizationEnabled: true, LogAnonymizationType: 7 },
    ['IP addresses anonymized: on, method unknown (7)'],
  ],
])('%s of %j', (section, raw, rows) => {
  expect(write(section, raw)).toEqual(rows);
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
