import { expect, test } from 'vitest';
import { zoneFields } from '../../../simulator/cdn/zone-fields.ts';
import { toWireZone } from '../../../src/api/zones/members.ts';
import { listParts, renderZone, renderZonePart } from '../../../src/views/zones/zone.ts';
import { readWholeZone, valuesOf } from '../../api/zones/values.ts';
import { buttons, readText } from '../../support/command-harness.ts';

const secrets = ['ZoneSecurityKey', 'AWSSigningKey', 'AWSSigningSecret', 'LogForwardingToken'];
// The first line of the answer.
const inHeader = ['Name'];
const names = Object.keys(zoneFields).filter((name) => !secrets.includes(name));

/** A zone in which every member says something, and two values for each member. */
const valueOf = (name: keyof typeof zoneFields, which: 0 | 1): unknown =>
  name === 'Suspended' ? which === 1 : valuesOf(zoneFields[name])[which];

const base = Object.fromEntries(
  Object.keys(zoneFields).map((name) => [name, valueOf(name as keyof typeof zoneFields, 0)]),
);

const zoneOf = (raw: object) => readWholeZone(raw).zone;

function linesOf(raw: object): string[] {
  return listParts(zoneOf(raw)).map(({ part, rows }) =>
    [part, ...rows.map((row) => row.join(': '))].join('\n'),
  );
}

test.each(names.filter((name) => !inHeader.includes(name)))(
  '%s has its place in exactly one part',
  (name) => {
    const before = linesOf(base);
    const after = linesOf({ ...base, [name]: valueOf(name as keyof typeof zoneFields, 1) });
    const changed = before.filter((lines, index) => lines !== after[index]);
    expect(changed).toHaveLength(1);
  },
);

test('the file has every published member but the secrets, under its name', () => {
  const published = names.map((name) => name.replace('Vendor', 'Bunny')).sort();
  expect(Object.keys(toWireZone(zoneOf(base))).sort()).toEqual(published);
  expect(toWireZone(zoneOf({ Id: 1 }))).toMatchObject({ Id: '1', Name: null, EnableTLS1_1: null });
  const wire = toWireZone(
    zoneOf({
      ...base,
      Hostnames: [{ Value: 'a.example', ForceSSL: true, CertificateKey: 'CANARY' }],
      OriginUrl: 'https://u:CANARY@origin.example',
      ZoneSecurityKey: 'CANARY',
      MiddlewareScriptId: 9,
      EdgeScriptId: -1,
      SomethingNew: 'unknown',
    }),
  );
  expect(wire).toMatchObject({
    EnableTLS1_1: true,
    EUUSDiscount: 7,
    MiddlewareScriptId: '9',
    EdgeScriptId: null,
    Hostnames: [{ Value: 'a.example', ForceSSL: true }],
  });
  expect(wire).not.toHaveProperty('SomethingNew');
  expect(JSON.stringify(wire)).not.toContain('CANARY');
});

const panel = {
  zone: 'https://panel.example/{id}',
  app: undefined,
  script: undefined,
  storage: undefined,
  keys: undefined,
};

const readWeak = (raw: object) =>
  /:shield: .*/.exec(
    readText(renderZone({ zone: zoneOf({ Id: 1, ...raw }), asOf: new Date(0), panel })),
  )?.[0];

test('what makes a zone less secure is named; what is not reported and features that are off are not', () => {
  const safe = { EnableTLS1: false, EnableTLS1_1: false, VerifyOriginSSL: true };
  const off = { ZoneSecurityEnabled: false, EnableLogging: false, EnableOriginShield: false };
  for (const fine of [{}, { ...safe, ...off }]) expect(readWeak(fine)).toBeUndefined();
  const weak = { EnableTLS1: true, EnableTLS1_1: true, VerifyOriginSSL: false };
  expect(readWeak({ ...weak, ShieldDDosProtectionEnabled: false })).toMatchSnapshot();
});

test.each([
  [{}, undefined, undefined],
  [{ MonthlyCharges: null, EnableLogging: null }, /Logging.*Charges/u, undefined],
  [{ OriginUrl: 5, MonthlyCharges: {}, OriginType: 'x' }, undefined, /Origin, Origin type, Charges/u],
  [{ MonthlyBandwidthUsed: -5, MonthlyBandwidthLimit: -1 }, undefined, /This month, Monthly limit/u],
  // What may be empty, or is of no specification yet.
  [{ OriginUrl: null, BlockedIps: null, DnsZoneId: null, TlsSecurityLevel: null }, undefined, undefined],
])('%j: what is not reported or cannot be read is said', (raw, unreported, unreadable) => {
  const zone = zoneOf({ ...base, ...raw });
  for (const shown of [renderZone, (zone) => renderZonePart(zone, 'all')] satisfies (typeof renderZone)[]) {
    const lines = readText(shown({ zone, asOf: new Date(0), panel }));
    const [missing, wrong] = [/not reported: .*/u, /could not be read: .*/u].map((of) => of.exec(lines)?.[0]);
    expect(missing ?? '').toMatch(unreported ?? /^$/u);
    expect(wrong ?? '').toMatch(unreadable ?? /^$/u);
  }
});

test.each([[{}], [{ OriginType: 3 }], [{ OriginType: 6 }]])('%j: where the files come from', (raw) => {
  const shown = { zone: zoneOf({ Id: 7, Name: 'shop', ...raw }), asOf: new Date(0), panel };
  const lines = readText(renderZone(shown)).split('\n');
  expect(lines.find((line) => line.includes('zone 7'))).toMatchSnapshot();
});

test('all settings are there, page by page', () => {
  const shown = { zone: zoneOf(base), asOf: new Date(0), panel };
  const count = listParts(shown.zone).reduce((sum, part) => sum + part.rows.length, 0);
  const pages = [...buttons(renderZonePart(shown, 'all')).keys()].filter((label) => label.includes(' of '));
  expect(pages.at(-1)).toMatch(new RegExp(`–${count} of ${count}$`, 'u'));
  for (const [nth] of pages.entries())
    expect(readText(renderZonePart(shown, 'all', nth + 1)).split('\n').length).toBeGreaterThan(2);
});

test.each([
  ['hostnames', {}, 'Hostnames: not reported'],
  ['hostnames', { Hostnames: [] }, 'Hostnames: none'],
  ['rules', { EdgeRules: null }, 'Edge rules: not reported'],
  ['rules', { EdgeRules: [] }, 'Edge rules: none'],
] as const)('%s of %j', (part, raw, told) => {
  const zone = zoneOf({ Id: 7, Name: 'shop', ...raw });
  expect(renderZonePart({ zone, asOf: new Date(0), panel }, part).text).toContain(told);
});

const things = {
  MagicContainersAppId: 'app09',
  EdgeScriptId: 301,
  MiddlewareScriptId: 302,
  StorageZoneId: 2005,
  PermaCacheStorageZoneId: 2006,
  LoggingSaveToStorage: true,
  LoggingStorageZoneId: 2007,
};

test('each id that a zone shows leads to what the bot knows of it, and the zone to its page in the panel', () => {
  const shown = renderZone({ zone: zoneOf({ Id: 7, Name: 'shop', ...things }), asOf: new Date(0), panel });
  const types = [...buttons(shown).values()].map(([, value]) => value);
  const storage = [2005, 2006, 2007].map((id) => `zones storage:${id}`);
  const scripts = [301, 302].map((id) => `zones script:${id}`);
  for (const command of ['app app09', 'zones app:app09', ...storage, ...scripts])
    expect(types).toContain(command);
  expect(JSON.stringify(shown)).toContain('"url":"https://panel.example/7"');
  const none = { ...panel, zone: undefined };
  const without = renderZone({ zone: zoneOf({ Id: 7, Name: 'shop' }), asOf: new Date(0), panel: none });
  expect(JSON.stringify(without)).not.toMatch(/panel|Related/u);
});

test.each([
  ['active', { Enabled: true, Suspended: false }],
  ['enabled, and perhaps suspended', { Enabled: true, Suspended: 'yes' }],
  ['at its limit', { Enabled: false, MonthlyBandwidthLimit: 5e11, MonthlyBandwidthUsed: 5e11 }],
  ['above 80%', { Enabled: true, MonthlyBandwidthLimit: 1e13, MonthlyBandwidthUsed: 9.1e12 }],
  ['disabled for another reason', { Enabled: false, MonthlyBandwidthLimit: 5e11, MonthlyBandwidthUsed: 5e9 }],
  ['suspended', { Enabled: false, Suspended: true }],
  [
    'without certificates',
    {
      Enabled: true,
      Hostnames: ['a.example', 'b.example'].map((Value) => ({ Value, HasCertificate: false })),
    },
  ],
  ['not reported', {}],
] as const)('a zone that is %s says so in its first line', (_, raw) => {
  const zone = zoneOf({ Id: 7, Name: 'shop', MonthlyCharges: 1234.5, ...raw });
  const [lines] = readText(renderZone({ zone, asOf: new Date(0), panel })).split('\nOrigin errors');
  expect(lines).toMatchSnapshot();
});
