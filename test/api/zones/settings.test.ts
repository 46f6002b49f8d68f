import { createSecretKey, randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { generateZone, zone } from '../../../simulator/cdn/zones.ts';
import { isSameSetting, readZoneSettings, type ZoneSettings } from '../../../src/api/zones/settings.ts';
import { zoneSecretFields } from '../../../src/secrets/fields.ts';
import { findMarks } from '../../support/canary/markers.ts';

const [first, second] = [1, 2].map(() => createSecretKey(randomBytes(32)));
if (!first || !second) throw new Error('two keys');

function read(raw: unknown, key = first as NonNullable<typeof first>): ZoneSettings {
  const settings = readZoneSettings(raw, { key });
  if (!settings) throw new Error('not read as a zone');
  return settings;
}

/** What differs, by path. */
function differing(one: ZoneSettings, other: ZoneSettings): string[] {
  return Object.entries(one.settings)
    .filter(([path, setting]) => !isSameSetting(setting, other.settings[path] ?? [null]))
    .map(([path]) => path);
}

test('no secret of a zone is in its settings', () => {
  for (let index = 0; index < 60; index += 1)
    expect(findMarks(JSON.stringify(read(generateZone(index))), [])).toEqual([]);
});

test('a secret that changes is noticed, and not told', () => {
  const lab = generateZone(11);
  const before = read(lab);
  for (const name of zoneSecretFields) {
    const after = read({ ...lab, [name]: 'another-secret-of-the-zone' });
    expect(differing(before, after)).toEqual([name]);
    expect(JSON.stringify(after)).not.toContain('another-secret');
  }
  const change = (from: string, to: string) =>
    read(JSON.parse(JSON.stringify(lab).replace(from, to)) as unknown);
  expect(differing(before, change('Bearer CANARY', 'Bearer another'))).toHaveLength(1);
  expect(differing(before, change('deploy:CANARY', 'deploy:another'))).toHaveLength(1);
});

test('only an uploaded certificate is a setting: others renew themselves', () => {
  const host = { Id: 1, Value: 'a.example', HasCertificate: true, Certificate: 'one', CertificateKey: 'one' };
  const renewed = { ...host, Certificate: 'two', CertificateKey: 'two' };
  for (const [type, paths] of [
    [1, []],
    [3, ['Hostnames/a.example']],
  ] as const) {
    const [before, after] = [host, renewed].map((one) =>
      read({ Id: 1, Hostnames: [{ ...one, CertificateProvisionType: type }] }),
    ) as [ZoneSettings, ZoneSettings];
    expect(differing(before, after)).toEqual(paths);
  }
});

test('use, charges, the cache version and the order of a list are no settings', () => {
  const one = zone({ Name: 'shop', BlockedIps: ['10.0.0.1', '10.0.0.2'] });
  const moved = { MonthlyBandwidthUsed: 9e9, MonthlyCharges: 12, CacheVersion: 77 };
  const other = { ...one, ...moved, BlockedIps: ['10.0.0.2', '10.0.0.1'] };
  expect(read(other)).toEqual(read(one));
});

test('secrets that were digested under different keys cannot be compared, and count as unchanged', () => {
  const shop = zone({ Name: 'shop' });
  const changed = { ...shop, ZoneSecurityKey: 'another-key-of-the-zone' };
  expect(differing(read(shop, first), read(changed, first))).toEqual(['ZoneSecurityKey']);
  expect(differing(read(shop, first), read(changed, second))).toEqual([]);
});

test('what two zones have alike is seen to be only where zones are compared', () => {
  const [one, other] = [1, 2].map((Id) => zone({ Id, Name: `z${Id}`, ZoneSecurityKey: 'the-same-key' }));
  const digests = (options: object) =>
    [one, other].map((raw) => readZoneSettings(raw, { key: first, ...options })?.settings['ZoneSecurityKey']);
  const [a, b] = digests({});
  expect(a).not.toEqual(b);
  const [c, d] = digests({ acrossZones: true });
  expect(c).toEqual(d);
});

test('members that are wrong or missing are not reported, and long texts are told by their length', () => {
  const { settings } = read({
    Id: 1,
    EnableTLS1: 'yes',
    OriginHostHeader: null,
    ErrorPageCustomCode: 'x'.repeat(501),
  });
  expect(Object.keys(settings).sort()).toEqual(['ErrorPageCustomCode', 'OriginHostHeader']);
  expect(settings['OriginHostHeader']).toEqual([null]);
  expect(settings['ErrorPageCustomCode']?.[0]).toEqual({ characters: 501 });
});

// One value in several spellings: each is read, and none is a change.
test.each([
  [
    'OriginUrl',
    'https://h.example',
    'https://h.example:443',
    'https://H.Example/',
    ' HTTPS://h.example:443/ ',
  ],
  ['OriginUrl', 'http://h.example:80/a', 'http://h.example/a'],
  ['OriginUrl', 'https://user:CANARY@h.example', 'https://user:CANARY@h.example:443/'],
  ['OriginUrl', 'https://müller.example', 'https://xn--mller-kva.example/', 'https://MÜLLER.example.:443'],
  ['OriginUrl', 'https://h.example?x=1', 'https://h.example/?x=1'],
  ['OriginUrl', 'https://h.example?', 'https://h.example:/', 'https://h.example:0443'],
  ['OriginUrl', 'https://h.example/%7eme/%c3%a4', 'https://h.example/~me/%C3%A4'],
  ['OriginUrl', 'https://[2001:DB8:0::1]:443/', 'https://[2001:db8::1]'],
  ['OriginUrl', 'https://h.example/a', 'https://h.example/a/'],
  ['OriginHostHeader', 'Origin:8080', 'origin:8080'],
  ['DnsRecordValue', 'Origin', 'origin.'],
  ['LogForwardingHostname', 'Logs:5144', 'logs:5144'],
  ['AllowedReferrers', ['LocalHost'], ['localhost/']],
  ['OptimizerStaticHtmlWordPressPath', null, '/'],
  ['ZoneSecurityKey', null, '', ' '],
  ['ErrorPageCustomCode', 'x\n'.repeat(300), `${'x\r\n'.repeat(300)}\n`],
  ['LimitRateAfter', 12_345_678, 12_345_678.000_001],
  ['LimitRatePerSecond', 0, 1e-12, -1e-12],
  ['EdgeRules', by(0, '*://H.example/a', '//B.example'), by(0, '//b.example', '*://h.example/a')],
  ['EdgeRules', by(0, 'H.example/A*', '/B.Html'), by(0, '/B.Html', 'h.example/A*')],
  ['EdgeRules', byHeader('Host', 'H.example'), byHeader('host', 'h.example.')],
  ['EdgeRules', setsHeader('Host', 'H.example'), setsHeader('host', 'h.example')],
  ['EdgeRules', toOrigin('h.example'), toOrigin('H.example/')],
  ['RoutingFilters', ['EU', 'all'], ['all', 'eu']],
  ['OptimizerStaticHtmlWordPressPath', 'https://Blog.example/', 'https://blog.example:443'],
  ['Name', 'caf\u00e9', 'cafe\u0301'],
  ['MonthlyBandwidthLimit', 0, -1],
  ['ErrorPageCustomCode', '<p>\r</p>', '<p>\n</p>'],
  ['BlockedIps', ['::ffff:203.0.113.7'], ['203.0.113.7']],
  ['EdgeRules', rule({ Guid: '{AB-1}' }), rule({ Guid: 'ab-1' })],
  ['EdgeRules', by(5, '2001:DB8::1', '203.0.113.7'), by(5, '203.0.113.7/32', '2001:db8:0::1')],
  ['EdgeRules', by(0, 'HTTPS://H.example:443/a*'), by(0, 'https://h.example/a*')],
  ['EdgeRules', by(3, '.jpg'), by(3, 'JPG')],
  ['DnsRecordValue', 'Host.Example.', 'host.example'],
  ['BlockedIps', ['10.0.0.5/24', '0x0a.0.1.5'], ['10.0.0.0/24', '10.0.1.5']],
  ['BlockedIps', ['fe80::1%eth0', '2001:db8::/64'], ['[FE80:0::1%eth0]', '2001:DB8:0::/64']],
  ['BlockedIps', ['2001:db8::5/32', '2001:db8::1:5/111'], ['2001:DB8::/32', '2001:db8::/111']],
  ['BlockedIps', ['2001:db8:1:2:3:4:5:6/45', '::1/0'], ['2001:db8::/45', '::/0']],
  ['EdgeRules', rule({ ActionParameter1: '30.0' }), rule({ ActionParameter1: '30' })],
  ['OriginUrl', 'http://[FE80:0::1%25eth0]:80', 'http://[fe80::1%25eth0]'],
  ['BlockedIps', ['2001:DB8:0::1', '203.0.113.7/32'], ['203.0.113.7', '2001:db8::1/128']],
  ['AccessControlOriginHeaderExtensions', ['.CSS', 'js'], ['js', 'css']],
  ['OriginShieldZoneCode', 'fr', 'FR'],
  ['EnableTLS1', true, 1, 'true', 'True'],
  [
    'Hostnames',
    [host({ Value: 'müller.example', ForceSSL: 1 })],
    [host({ Value: 'xn--mller-kva.example', ForceSSL: true })],
  ],
  ['EdgeRules', rule({ Guid: 'AB-1' }), rule({ Guid: 'ab-1' })],
  ['OptimizerClasses', [{ Name: 'a', Properties: null }], [{ Name: 'a', Properties: {} }]],
  ['OriginHostHeader', 'Shop.example', 'shop.example.', 'shop.example'],
  ['OriginHostHeader', null, '', '  '],
  ['ErrorPageCustomCode', '<p>\r\n</p>', '<p>\n</p>\n'],
  ['BlockedIps', ['b', 'a'], ['a', 'b'], ['a', 'b', 'a', '']],
  ['BlockedIps', null, [], ['']],
  ['BlockedCountries', ['de', 'AT'], ['AT', 'DE']],
  ['AllowedReferrers', ['B.example', 'a.example'], ['a.example', 'b.example.']],
  ['CacheKeyHeaders', 'X-Tenant, Accept', 'accept,x-tenant'],
  ['OptimizerPricing', 9.5, 9.500_000_01, 9.499_999_99],
  ['PriceOverride', 1e-8, 1.000_000_01e-8],
  ['StorageZoneId', null, 0, -1, '0'],
  ['Hostnames', [host({ Value: 'A.example' })], [host({ ForceSSL: null, Certificate: '' })]],
  ['EdgeRules', rule({}), rule({ Description: '', ExtraActions: [], ActionParameter3: null })],
  ['EdgeRules', rule({}), rule({ ActionParameter1: 'https://h.example:443/' })],
  ['EdgeRules', rule({}), rule({ Triggers: triggers(['/b', '/a']).toReversed() })],
  ['EdgeRules', by(4, 'DE', 'AT'), by(4, 'at', 'de', 'De')],
  ['EdgeRules', byHeader('X-Tenant', 'A'), byHeader('x-tenant', 'A')],
  ['EdgeRules', setsHeader('X-Robots-Tag'), setsHeader('x-robots-tag')],
  [
    'OptimizerClasses',
    [{ Name: 'a', Properties: { b: '1', c: '' } }],
    [{ Name: 'a', Properties: { c: null, b: '1' } }],
  ],
])('%s has one value in each of its spellings', (name, ...spellings) => {
  const [one, ...others] = spellings.map((value) => read({ Id: 1, [name]: value }));
  expect(Object.keys(one?.settings ?? {})).not.toEqual([]);
  for (const other of others) expect(differing(one as ZoneSettings, other)).toEqual([]);
});

test.each([
  ['OriginUrl', 'https://h.example', 'https://h.example:8443'],
  ['OriginUrl', 'https://h.example', 'http://h.example'],
  ['OriginUrl', 'https://h.example/a', 'https://h.example/A'],
  ['OriginUrl', 'https://user:one@h.example', 'https://user:two@h.example'],
  ['OptimizerPricing', 9.5, 9.51],
  ['LimitRateAfter', 12_345_678, 12_345_679],
  ['PriceOverride', 5e-12, 6e-12],
  ['EdgeRules', by(0, '*.JPG'), by(0, '*.jpg')],
  ['EdgeRules', by(0, 'h.example/A*'), by(0, 'h.example/a*')],
  ['EdgeRules', by(0, 'Logo.JPG'), by(0, 'logo.jpg')],
  ['OptimizerStaticHtmlWordPressPath', '/wp', '/WP'],
  ['EnableTLS1', true, 0],
  ['EnableTLS1', 'true', 'false'],
  ['LimitRatePerSecond', 1_234_567.5, 1_234_569.5],
  ['BlockedIps', ['203.0.113.0/24'], ['203.0.113.0/25']],
  ['BlockedIps', ['2001:db8::/32'], ['2001:db9::/32']],
  ['BlockedIps', ['2001:db8::2:0/111'], ['2001:db8::/111']],
  ['EdgeRules', setsHeader('X-Version', '1.0'), setsHeader('X-Version', '1')],
  ['EdgeRules', rule({ ActionParameter1: '30.5' }), rule({ ActionParameter1: '30' })],
  ['Hostnames', [host({ ForceSSL: true })], [host({ ForceSSL: 0 })]],
  ['MonthlyBandwidthLimit', 1_000_000_000_000, 1_000_000_000_001],
  ['BlockedIps', ['a'], ['a', 'b']],
  ['EdgeRules', rule({}), rule({ Triggers: triggers(['/a', '/c']) })],
  ['EdgeRules', rule({}), rule({ ActionParameter1: 'https://h.example/a' })],
  ['EdgeRules', byHeader('x', 'A'), byHeader('x', 'a')],
  ['EdgeRules', by(4, 'DE'), by(4, 'AT')],
  ['EdgeRules', by(0, '/a'), by(0, '/A')],
  ['OriginUrl', 'https://h.example', 'https://h.example:80'],
  ['OriginUrl', 'https://h.example/a%2Fb', 'https://h.example/a/b'],
] as const)('%s: %j differs from %j', (name, one, other) => {
  expect(differing(read({ Id: 1, [name]: one }), read({ Id: 1, [name]: other }))).toHaveLength(1);
});

test('null says nothing about a flag, a number or a list of things, and so is no change', () => {
  expect(read({ Id: 1, EnableTLS1: null, BurstSize: null, Hostnames: null }).settings).toEqual({});
});

function host(more: object): object {
  return { Value: 'a.example', HasCertificate: true, ...more };
}

function triggers(patterns: readonly string[]): object[] {
  return [
    { Type: 0, PatternMatchingType: 0, PatternMatches: patterns },
    { Type: 4, PatternMatchingType: 0, PatternMatches: ['DE'] },
  ];
}

function by(Type: number, ...PatternMatches: string[]): object[] {
  return rule({ Triggers: [{ Type, PatternMatchingType: 0, PatternMatches }] });
}

function byHeader(Parameter1: string, pattern: string): object[] {
  return rule({ Triggers: [{ Type: 1, PatternMatchingType: 0, PatternMatches: [pattern], Parameter1 }] });
}

function setsHeader(ActionParameter1: string, ActionParameter2 = 'all'): object[] {
  return rule({ ExtraActions: [{ ActionType: 5, ActionParameter1, ActionParameter2 }] });
}

function toOrigin(ActionParameter1: string): object[] {
  return rule({ ExtraActions: [{ ActionType: 2, ActionParameter1 }] });
}

/** A list of one rule. */
function rule(more: object): object[] {
  const origin = { ActionType: 2, ActionParameter1: 'https://h.example', Enabled: true };
  return [{ Guid: 'g1', ...origin, Triggers: triggers(['/a', '/b']), ...more }];
}
