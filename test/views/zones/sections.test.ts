import { expect, test } from 'vitest';
import { zoneFields } from '../../../simulator/cdn/zone-fields.ts';
import { readZone, toWireZone } from '../../../src/api/zones/zone.ts';
import { renderSections, renderZone } from '../../../src/views/zones/zone.ts';
import { readText } from '../../support/command-harness.ts';

const secrets = ['ZoneSecurityKey', 'AWSSigningKey', 'AWSSigningSecret', 'LogForwardingToken'];
// The first line of the answer.
const inHeader = ['Name'];
const names = Object.keys(zoneFields).filter((name) => !secrets.includes(name));

/** A zone in which every member says something, and two values for each member. */
function valueOf(name: keyof typeof zoneFields, which: 0 | 1): unknown {
  if (name === 'Suspended') return which === 1;
  const kinds: Readonly<Record<string, readonly [unknown, unknown]>> = {
    boolean: [true, false],
    'string?': ['first', 'other and longer'],
    'string[]?': [['first'], ['other']],
    'Hostname[]?': [[{ Value: 'a.example' }], [{ Value: 'b.example' }]],
    'EdgeRule[]?': [[{ ActionType: 4 }], [{ ActionType: 0 }]],
    'OptimizerClass[]?': [[{ Name: 'first' }], [{ Name: 'other' }]],
    'VendorAiImageBlueprint[]?': [[{ Name: 'first' }], [{ Name: 'other' }]],
    int32: [7, 5],
    int64: [7, 5],
    'int64?': [7, 5],
    double: [7, 5],
    decimal: [7, 5],
  };
  return (kinds[zoneFields[name]] ?? [1, 0])[which];
}

const base = Object.fromEntries(
  Object.keys(zoneFields).map((name) => [name, valueOf(name as keyof typeof zoneFields, 0)]),
);

function zoneOf(raw: object) {
  const read = readZone(raw);
  if (!read) throw new Error('a zone with an id is a zone');
  return read.zone;
}

function linesOf(raw: object): string[] {
  return renderSections(zoneOf(raw)).map(({ title, lines }) => [title, ...lines].join('\n'));
}

test.each(names.filter((name) => !inHeader.includes(name)))(
  '%s has its place in exactly one section',
  (name) => {
    const before = linesOf(base);
    const after = linesOf({ ...base, [name]: valueOf(name as keyof typeof zoneFields, 1) });
    const changed = before.filter((lines, index) => lines !== after[index]);
    expect(changed).toHaveLength(1);
  },
);

test('the file has every field of the specification but the secrets, under its name and in its order', () => {
  expect(Object.keys(toWireZone(zoneOf(base)))).toEqual(names);
  expect(toWireZone(zoneOf({ Id: 1 }))).toMatchObject({
    Id: '1',
    Name: '',
    EnableTLS1_1: null,
    AWSSigningEnabled: null,
  });
  const wire = toWireZone(
    zoneOf({
      ...base,
      Hostnames: [{ Value: 'a.example', ForceSSL: true, CertificateKey: 'CANARY' }],
      OptimizerClasses: [{ Name: 'a', Properties: { width: '10' } }],
      OriginUrl: 'https://u:CANARY@origin.example',
      ZoneSecurityKey: 'CANARY',
      MiddlewareScriptId: 9,
      EdgeScriptId: -1,
      SomethingNew: 'unknown',
    }),
  );
  expect(wire).toMatchObject({
    EnableTLS1_1: true,
    AWSSigningEnabled: true,
    EUUSDiscount: 7,
    MiddlewareScriptId: '9',
    EdgeScriptId: null,
    Hostnames: [{ Value: 'a.example', ForceSSL: true }],
    OptimizerClasses: [{ Name: 'a', Properties: { width: '10' } }],
  });
  expect(wire).not.toHaveProperty('SomethingNew');
  expect(JSON.stringify(wire)).not.toContain('CANARY');
});

const readWeak = (raw: object) =>
  /:shield: .*/.exec(readText(renderZone(zoneOf({ Id: 1, ...raw }), new Date(0))))?.[0];

test('what makes a zone less secure is named; what is not reported and features that are off are not', () => {
  const safe = { EnableTLS1: false, EnableTLS1_1: false, VerifyOriginSSL: true };
  const off = { ZoneSecurityEnabled: false, EnableLogging: false, EnableOriginShield: false };
  for (const fine of [{}, { ...safe, ...off }]) expect(readWeak(fine)).toBeUndefined();
  const weak = { EnableTLS1: true, EnableTLS1_1: true, VerifyOriginSSL: false };
  expect(readWeak({ ...weak, ShieldDDosProtectionEnabled: false })).toMatchSnapshot();
});
