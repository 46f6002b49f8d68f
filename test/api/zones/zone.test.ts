import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { pullZoneModel } from '../../../src/api/zones/model.ts';
import { summarize } from '../../../src/api/zones/summary.ts';
import { readZone } from '../../../src/api/zones/zone.ts';

// The names of PullZoneModel, one a line, as the specification lists them.
const specified = readFileSync(new URL('pull-zone-fields.txt', import.meta.url), 'utf8')
  .trim()
  .split('\n');

const read = (raw: unknown) => {
  const found = readZone(raw);
  if (!found) throw new Error('not read as a zone');
  return found;
};

test('the schema has exactly the 166 fields of the specification', () => {
  expect(specified).toHaveLength(166);
  expect(Object.keys(pullZoneModel)).toEqual(specified);
});

test('every field but the secret ones is read, under its name in camelCase', () => {
  const values = Object.fromEntries(specified.map((name) => [name, valueFor(name)]));
  const { zone, wrong, unknown } = read(values);
  expect({ wrong, unknown }).toEqual({ wrong: [], unknown: [] });
  const secret = ['ZoneSecurityKey', 'AWSSigningKey', 'AWSSigningSecret', 'LogForwardingToken'];
  const { summary: _, ...fields } = zone;
  const names = specified.filter((name) => !secret.includes(name)).map((name) => name.toLowerCase());
  expect(
    Object.keys(fields)
      .map((name) => name.toLowerCase())
      .sort(),
  ).toEqual(names.sort());
  expect(zone).toMatchObject({
    id: '1001',
    storageZoneId: '7',
    awsSigningEnabled: true,
    awsSigningRegionName: 'text',
    euusDiscount: 5,
    enableTLS1_1: true,
    optimizerClasses: [{ name: 'thumb', properties: { width: '200' } }],
    type: 1,
  });
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
    TlsSecurityLevel: 'CANARY',
    NewSecret: { Key: 'CANARY' },
  });
  expect(JSON.stringify(zone)).not.toContain('CANARY');
  expect(zone.originUrl).toBe('https://origin.example.com/a?sig=…&v=…');
  expect(zone.edgeRules[0]).toMatchObject({
    actionParameter1: 'X-Origin-Auth',
    actionParameter2: '[hidden]',
  });
});

test('what explains a rule stays', () => {
  const { zone } = read({
    Id: 1,
    EdgeRules: [
      {
        Guid: 'g1',
        ActionType: 1,
        ActionParameter1: 'https://example.com/new',
        ActionParameter2: '301',
        TriggerMatchingType: 1,
        Triggers: [
          { Type: 0, PatternMatches: ['*/old/*'], PatternMatchingType: 0 },
          { Type: 1, Parameter1: 'User-Agent', PatternMatches: ['*bot*'] },
          { Type: 4, PatternMatches: null },
        ],
        ExtraActions: null,
        Enabled: true,
        OrderIndex: 3,
      },
    ],
  });
  expect(zone.edgeRules).toEqual([
    {
      guid: 'g1',
      actionType: 1,
      actionParameter1: 'https://example.com/new',
      actionParameter2: '301',
      triggerMatchingType: 1,
      triggers: [
        { type: 0, patternMatches: ['*/old/*'], patternMatchingType: 0 },
        { type: 1, parameter1: 'User-Agent', patternMatches: ['*bot*'] },
        { type: 4, patternMatches: [] },
      ],
      extraActions: [],
      enabled: true,
      orderIndex: 3,
    },
  ]);
});

test('null and missing both mean not reported', () => {
  const nothing = Object.fromEntries(specified.map((name) => [name, name === 'Id' ? 5 : null]));
  const bare = { id: '5', name: '', hostnames: [], edgeRules: [] };
  const summary = { id: '5', name: '', hostnames: [], hostnamesWithoutCertificate: [] };
  expect(read(nothing)).toEqual({ zone: { ...bare, summary }, wrong: [], unknown: [] });
  expect(read({ Id: 5 })).toEqual({ zone: { ...bare, summary }, wrong: [], unknown: [] });
});

test('a wrong type loses its field only, and is named', () => {
  const { zone, wrong, unknown } = read({
    Id: '77',
    Name: 7,
    Enabled: 'yes',
    Suspended: false,
    OptimizerClasses: 'none',
    BlockedIps: ['192.0.2.1', 5, '192.0.2.2'],
    Hostnames: [{ Value: 'a.example.com', ForceSSL: 'x' }, 'broken', { Value: 'b.example.com' }],
    MonthlyBandwidthUsed: '12',
    TlsSecurityLevel: 2,
  });
  expect(zone).toEqual({
    id: '77',
    name: '',
    suspended: false,
    blockedIps: ['192.0.2.1', '192.0.2.2'],
    hostnames: [{ value: 'a.example.com' }, { value: 'b.example.com' }],
    edgeRules: [],
    summary: {
      id: '77',
      name: '',
      suspended: false,
      hostnames: ['a.example.com', 'b.example.com'],
      hostnamesWithoutCertificate: [],
    },
  });
  expect([...wrong].sort()).toEqual([
    'BlockedIps[]',
    'Enabled',
    'Hostnames[]',
    'Hostnames[].ForceSSL',
    'MonthlyBandwidthUsed',
    'Name',
    'OptimizerClasses',
  ]);
  expect(unknown).toEqual(['TlsSecurityLevel']);
});

test.each([[null], [7], ['zone'], [[]], [{}], [{ Id: null }], [{ Id: 'abc' }], [{ Id: 1.5 }]])(
  '%j is no zone',
  (raw) => {
    expect(readZone(raw)).toBeUndefined();
    expect(summarize(raw)).toBeUndefined();
  },
);

test('a summary has what lists need', () => {
  expect(
    summarize({
      Id: 1001,
      Name: 'shop',
      OriginUrl: 'https://user:pw@origin.example.com',
      Enabled: true,
      Suspended: false,
      MonthlyBandwidthLimit: 1000,
      MonthlyBandwidthUsed: 900,
      MonthlyCharges: 0.42,
      StorageZoneId: -1,
      EdgeScriptId: 301,
      MiddlewareScriptId: null,
      MagicContainersAppId: 'app1',
      Hostnames: [
        { Value: 'shop.cdn.example.net', HasCertificate: false, IsSystemHostname: true },
        { Value: 'managed.example.net', HasCertificate: false, IsManagedHostname: true },
        { Value: 'shop.example.com', HasCertificate: false, IsSystemHostname: false },
        { Value: 'www.example.com', HasCertificate: true },
        { Value: 'new.example.com' },
        null,
      ],
    }),
  ).toEqual({
    id: '1001',
    name: 'shop',
    originUrl: 'https://origin.example.com',
    enabled: true,
    suspended: false,
    bandwidthLimit: 1000,
    bandwidthUsed: 900,
    charges: 0.42,
    edgeScriptId: '301',
    appId: 'app1',
    hostnames: [
      'shop.cdn.example.net',
      'managed.example.net',
      'shop.example.com',
      'www.example.com',
      'new.example.com',
    ],
    hostnamesWithoutCertificate: ['shop.example.com'],
  });
});

test('a limit of 0 is no limit', () => {
  expect(summarize({ Id: 1, MonthlyBandwidthLimit: 0 })).toMatchObject({ bandwidthLimit: undefined });
});

test('whatever comes in place of a zone, the reading by hand and by schema agree on it', () => {
  const odd = fc.oneof(fc.jsonValue({ maxDepth: 2 }), fc.boolean(), fc.integer(), fc.string());
  const zone = fc.record(
    Object.fromEntries(
      [
        'Id',
        'Name',
        'OriginUrl',
        'Enabled',
        'Suspended',
        'MonthlyBandwidthUsed',
        'MonthlyCharges',
        'StorageZoneId',
        'MagicContainersAppId',
        'Hostnames',
        'EdgeRules',
      ].map((name) => [name, odd]),
    ),
    { requiredKeys: [] },
  );
  fc.assert(
    fc.property(
      fc.oneof(
        zone,
        odd,
        zone.map((fields) => ({ ...fields, Id: 1 })),
      ),
      (raw) => {
        const found = readZone(raw);
        expect(found?.zone.summary).toEqual(summarize(raw));
        if (!found) return;
        const { zone } = found;
        expect(zone.summary).toMatchObject({
          id: zone.id,
          name: zone.name,
          ...(zone.originUrl === undefined ? {} : { originUrl: zone.originUrl }),
          ...(zone.enabled === undefined ? {} : { enabled: zone.enabled }),
          ...(zone.monthlyCharges === undefined ? {} : { charges: zone.monthlyCharges }),
          ...(zone.storageZoneId === undefined ? {} : { storageZoneId: zone.storageZoneId }),
        });
      },
    ),
    { numRuns: 300 },
  );
});

/** A right value for a member, by what its schema accepts. */
function valueFor(name: string): unknown {
  if (name === 'Id') return 1001;
  const candidates = [
    true,
    7,
    5,
    1,
    'text',
    ['text'],
    [{ Id: 1, Value: 'shop.example.com', Guid: 'g1', Name: 'thumb', Properties: { width: '200' } }],
  ];
  const schema = pullZoneModel[name as keyof typeof pullZoneModel];
  const fitting = candidates.filter((value) => schema.safeParse(value).success);
  const number = name.endsWith('Discount') ? 5 : name === 'Type' ? 1 : 7;
  return fitting.includes(7) ? number : fitting[0];
}
