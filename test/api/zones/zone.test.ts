import { expect, test } from 'vitest';
import { zoneFields } from '../../../simulator/cdn/zone-fields.ts';
import { getEnumName, readZone, zoneMembers } from '../../../src/api/zones/members.ts';
import { summarize } from '../../../src/api/zones/summary.ts';
import { zoneSecretFields } from '../../../src/secrets/fields.ts';
import { readWholeZone as read, valuesOf } from './values.ts';

// The simulator has the members of the specification, two of which are published under other names.
const published = Object.entries(zoneFields).map(
  ([name, kind]) => [name.replace('Vendor', 'Bunny'), kind] as const,
);

test('the table has exactly the published members, each read as its type', () => {
  expect(published).toHaveLength(168);
  const types: Readonly<Record<string, readonly string[]>> = {
    boolean: ['flag', 'unless', 'state', 'yes'],
    'string?': ['text', 'code', 'url', 'host', 'names', 'secret'],
    'string[]?': ['texts', 'hosts', 'countries'],
    'Hostname[]?': ['hostnames'],
    'EdgeRule[]?': ['rules'],
    'OptimizerClass[]?': ['properties'],
    'VendorAiImageBlueprint[]?': ['properties'],
  };
  const numbers = 'id link count plain seconds ms bytes limit kb/s override money price'.split(' ');
  const formats = new Map(zoneMembers.map(([name, , , format]) => [name as string, format as string]));
  expect([...formats.keys()].sort()).toEqual(published.map(([name]) => name).sort());
  for (const [name, kind] of published) {
    const format = formats.get(name) ?? '';
    const isNumber =
      /^(?:int|double|decimal)/u.test(kind) && (numbers.includes(format) || format === 'byte limit');
    // What is left are enumerations, which are called as they are published.
    expect([name, isNumber || (types[kind]?.includes(format) ?? kind === format)]).toEqual([name, true]);
  }
});

test('every member but the secret ones is read, under the published name', () => {
  const values = Object.fromEntries(published.map(([name, type]) => [name, valuesOf(type)[0]]));
  const { zone, wrong, unknown } = read(values);
  expect({ wrong, unknown }).toEqual({ wrong: [], unknown: [] });
  const secret = new Set<string>(zoneSecretFields);
  expect(Object.keys(zone.members).sort()).toEqual(
    published.flatMap(([name]) => (secret.has(name) ? [] : [name])).sort(),
  );
  expect(zone.members).toMatchObject({
    Id: '7',
    StorageZoneId: '7',
    EnableTLS1_1: true,
    OptimizerClasses: [{ Name: 'first', Properties: { width: '200' } }],
    TlsSecurityLevel: 1,
  });
});

test('a free property with the name of a secret keeps its name alone', () => {
  const Properties = { width: '200', CertificateKey: 'a', api_key: 'b', 'Access-Token': 'c' };
  const { zone } = read({ Id: 1, OptimizerClasses: [{ Name: 'thumb', Properties }] });
  const [hidden, shown] = ['[hidden]', { width: '200' }];
  expect(zone.members).toMatchObject({
    OptimizerClasses: [
      { Properties: { ...shown, CertificateKey: hidden, api_key: hidden, 'Access-Token': hidden } },
    ],
  });
});

test('members of AI images are read under the name of the specification and the published one', () => {
  const specified = read({ Id: 1, EnableVendorImageAi: true, VendorAiImageBlueprints: [{ Name: 'a' }] });
  const now = read({ Id: 1, EnableBunnyImageAi: true, BunnyAiImageBlueprints: [{ Name: 'a' }] });
  expect(now.zone.members).toMatchObject({
    EnableBunnyImageAi: true,
    BunnyAiImageBlueprints: [{ Name: 'a' }],
  });
  expect(specified).toEqual(now);
  expect(now.unknown).toEqual([]);
});

test.each<[type: unknown, url: string, isOne: boolean]>([
  [4, 'https://bunnycdn.com', false],
  [5, 'https://a.example', false],
  ['4', 'https://a.example', false],
  ['MagicContainers', 'https://a.example', false],
  [0, 'https://bunny.net', true],
  ['1', 'https://a.example', true],
  [2, 'https://a.example', false],
  [3, 'https://bunnycdn.com', false],
  [null, 'https://bunnycdn.com:443/', false],
  [9, 'http://www.bunny.net:80', false],
  ['PushZone', 'https://a.example', false],
  [7, 'https://Bunny.net/', false],
  [null, 'https://bunnycdn.com', false],
  [undefined, 'http://bunny.net', false],
  [undefined, 'https://a.example', true],
])('of origin type %j, %s is an origin: %j', (OriginType, OriginUrl, isOne) => {
  const { zone } = read({ Id: 1, OriginType, OriginUrl });
  expect([zone.members.OriginUrl !== undefined, zone.summary.originUrl !== undefined]).toEqual([
    isOne,
    isOne,
  ]);
});

test.each([
  [
    { Enabled: 1, Suspended: '0' },
    { enabled: true, suspended: false },
  ],
  [
    { Enabled: 'False', Suspended: 'true' },
    { enabled: false, suspended: true },
  ],
  [
    { Enabled: 'yes', Suspended: 2 },
    { enabled: undefined, suspended: undefined },
  ],
  [{ EnableTLS1: 'true', EnableLogging: 0 }, { weaknesses: ['old-tls', 'no-logging'] }],
  [{ EnableTLS1_1: true, TlsSecurityLevel: null }, { weaknesses: ['old-tls'] }],
  [{ TlsSecurityLevel: 0 }, { weaknesses: ['old-tls'] }],
  [{ TlsSecurityLevel: 1, EnableTLS1: false, EnableLogging: null }, { weaknesses: undefined }],
  [{ MonthlyBandwidthLimit: 0 }, { bandwidthLimit: undefined, isUnlimited: true }],
  [{ MonthlyBandwidthLimit: -1 }, { bandwidthLimit: undefined, isUnlimited: undefined }],
  [{ MonthlyBandwidthLimit: '1000' }, { bandwidthLimit: 1000, isUnlimited: undefined }],
  [
    { MonthlyBandwidthUsed: -5, MonthlyCharges: '0.5' },
    { bandwidthUsed: undefined, charges: 0.5 },
  ],
  [
    { MonthlyBandwidthUsed: 'NaN', MonthlyCharges: Number.POSITIVE_INFINITY },
    { bandwidthUsed: undefined, charges: undefined },
  ],
  [{ MonthlyBandwidthLimit: 1000 }, { bandwidthLimit: 1000, isUnlimited: undefined }],
  // What is not reported is not unlimited.
  [{ MonthlyBandwidthLimit: null }, { bandwidthLimit: undefined, isUnlimited: undefined }],
  [{ Hostnames: null }, { isCertificateUnreported: true }],
  [{ Hostnames: [] }, { isCertificateUnreported: undefined }],
  [{ Hostnames: [{ Value: 'a', HasCertificate: 'false' }] }, { hostnamesWithoutCertificate: ['a'] }],
  [
    { Hostnames: [{ Value: 'a', HasCertificate: null }] },
    { hostnamesWithoutCertificate: [], isCertificateUnreported: true },
  ],
  [
    { Hostnames: [{ Value: 'a', HasCertificate: null, IsSystemHostname: 1 }] },
    { hostnamesWithoutCertificate: [], isCertificateUnreported: undefined },
  ],
])('%j is read as %j', (raw, expected) => {
  expect(summarize({ Id: 1, ...raw })).toMatchObject(expected);
});

test('no secret of a zone gets past its reading', () => {
  const { zone } = read({
    Id: 1001,
    Name: 'shop',
    ZoneSecurityKey: 'CANARY',
    AWSSigningKey: 'CANARY',
    AWSSigningSecret: 'CANARY',
    LogForwardingToken: 'CANARY',
    OriginUrl: 'https://user:CANARY@origin.example.com/a?sig=CANARY&v=1#CANARY',
    OriginLinkValue: 'CANARY:CANARY@origin.example.com',
    OptimizerWatermarkUrl: 'https://CANARY@img.example.com/w.png?token=CANARY',
    PreloadingScreenLogoUrl: 'https://u:CANARY@img.example.com/l.png',
    LogForwardingHostname: 'user:CANARY@logs.example.com/v1?dd-api-key=CANARY',
    Hostnames: [{ Id: 1, Value: 'shop.example.com', Certificate: 'CANARY', CertificateKey: 'CANARY' }],
    EdgeRules: [
      {
        ActionType: 6,
        ActionParameter1: 'X-Origin-Auth: CANARY',
        ActionParameter2: 'CANARY',
        ActionParameter3: 'CANARY',
        Triggers: [
          { Type: 1, Parameter1: 'X-Shared-Secret', PatternMatches: ['CANARY'] },
          { Type: 10, Parameter1: 'session', PatternMatches: ['CANARY'] },
          { Type: 6, PatternMatches: ['token=CANARY'] },
          { Type: 0, PatternMatches: ['https://u:CANARY@x.example.com/*'] },
          { Type: 99, Parameter1: 'new', PatternMatches: ['CANARY'] },
        ],
        ExtraActions: [
          { ActionType: 5, ActionParameter1: 'Set-Cookie', ActionParameter2: 'CANARY' },
          { ActionType: 2, ActionParameter1: 'https://u:CANARY@other.example.com/?key=CANARY' },
          {
            ActionType: 99,
            ActionParameter1: 'CANARY',
            ActionParameter2: 'CANARY',
            ActionParameter3: 'CANARY',
          },
        ],
      },
    ],
    NewLevel: 'CANARY',
    NewSecret: { Key: 'CANARY' },
  });
  expect(JSON.stringify(zone)).not.toContain('CANARY');
  expect(zone.members.OriginUrl).toBe('https://origin.example.com/a?sig=…&v=…');
  expect(zone.members.EdgeRules?.[0]).toMatchObject({
    ActionParameter1: 'X-Origin-Auth',
    ActionParameter2: '[hidden]',
  });
});

test('what explains a rule stays', () => {
  const action = { ActionType: 1, ActionParameter1: 'https://example.com/new', ActionParameter2: '301' };
  const trigger = { Type: 1, Parameter1: 'User-Agent', PatternMatches: ['*bot*'] };
  const rule = { ...action, Triggers: [trigger, { Type: 4, PatternMatches: null }], ExtraActions: null };
  expect(read({ Id: 1, EdgeRules: [rule] }).zone.members.EdgeRules).toEqual([
    { ...action, Triggers: [trigger, { Type: 4, PatternMatches: [] }], ExtraActions: [] },
  ]);
});

test('null and missing both mean not reported', () => {
  const nothing = Object.fromEntries(published.map(([name]) => [name, name === 'Id' ? 5 : null]));
  const summary = {
    id: '5',
    name: '',
    hostnames: [],
    hostnamesWithoutCertificate: [],
    isCertificateUnreported: true,
    weaknessesUnreported: ['old-tls', 'no-logging'],
  };
  for (const raw of [nothing, { Id: 5 }])
    expect({ ...read(raw), missing: [] }).toEqual({
      zone: { members: { Id: '5' }, summary, unreported: expect.any(Array), unreadable: [] },
      wrong: [],
      missing: [],
      unknown: [],
    });
});

test('a wrong type loses its field only, and is named', () => {
  const { zone, wrong, unknown } = read({
    Id: '77',
    Name: 7,
    Enabled: 'yes',
    Suspended: false,
    OptimizerClasses: 'none',
    BlockedIps: ['192.0.2.1', 5, '192.0.2.2'],
    BlockedCountries: [null, 7],
    Hostnames: [{ Value: 'a.example.com', ForceSSL: 'x' }, 'broken', { Value: 'b.example.com' }],
    MonthlyBandwidthUsed: '12 GB',
    NewLevel: 2,
  });
  expect(zone).toEqual({
    members: {
      Id: '77',
      Suspended: false,
      BlockedIps: ['192.0.2.1', '192.0.2.2'],
      Hostnames: [{ Value: 'a.example.com' }, { Value: 'b.example.com' }],
    },
    summary: {
      id: '77',
      name: '',
      suspended: false,
      hostnames: ['a.example.com', 'b.example.com'],
      hostnamesWithoutCertificate: [],
      isCertificateUnreported: true,
      weaknessesUnreported: ['old-tls', 'no-logging'],
    },
    unreported: expect.any(Array),
    unreadable: [
      'Name',
      'Hostnames',
      'BlockedIps',
      'BlockedCountries',
      'OptimizerClasses',
      'Enabled',
      'MonthlyBandwidthUsed',
    ],
  });
  expect([...wrong].sort()).toEqual([
    'BlockedCountries[]',
    'BlockedCountries[]',
    'BlockedIps[]',
    'Enabled',
    'Hostnames[]',
    'Hostnames[].ForceSSL',
    'MonthlyBandwidthUsed',
    'Name',
    'OptimizerClasses',
  ]);
  expect(unknown).toEqual(['NewLevel']);
});

test.each([[null], [7], ['zone'], [[]], [{}], [{ Id: null }], [{ Id: 'abc' }], [{ Id: 1.5 }]])(
  '%j is no zone',
  (raw) => {
    expect(readZone(raw)).toBeUndefined();
    expect(summarize(raw)).toBeUndefined();
  },
);

test('a summary has what lists need', () => {
  const hostnames = ['platform', 'managed', 'bare', 'secured', 'new'].map((name) => `${name}.example.com`);
  const [platform, managed, bare, secured, fresh] = hostnames;
  expect(
    summarize({
      Id: 1001,
      Name: 'shop',
      OriginUrl: 'https://user:pw@origin.example.com',
      Enabled: true,
      MonthlyBandwidthLimit: 1000,
      MonthlyBandwidthUsed: 900,
      MonthlyCharges: 0.42,
      StorageZoneId: -1,
      EdgeScriptId: 301,
      MiddlewareScriptId: null,
      MagicContainersAppId: 'app1',
      Hostnames: [
        { Value: platform, HasCertificate: false, IsSystemHostname: true },
        { Value: managed, HasCertificate: false, IsManagedHostname: true },
        { Value: bare, HasCertificate: false, IsSystemHostname: false },
        { Value: secured, HasCertificate: true },
        { Value: fresh },
        null,
      ],
    }),
  ).toEqual({
    id: '1001',
    name: 'shop',
    originUrl: 'https://origin.example.com',
    enabled: true,
    bandwidthLimit: 1000,
    bandwidthUsed: 900,
    charges: 0.42,
    edgeScriptId: '301',
    appId: 'app1',
    hostnames,
    hostnamesWithoutCertificate: [bare],
    isCertificateUnreported: true,
    weaknessesUnreported: ['old-tls', 'no-logging'],
  });
});

test.each([
  ['PullZoneType', 1, 'Volume'],
  ['EdgeRuleActionType', 37, 'StripCookiesClientToOrigin'],
  ['EdgeRuleActionType', 35, 'unknown (35)'],
  ['PullZoneType', 7, 'unknown (7)'],
  ['PullZoneType', undefined, 'not reported'],
] as const)('%s %s reads as %s', (enumeration, value, name) => {
  expect(getEnumName(enumeration, value)).toBe(name);
});
