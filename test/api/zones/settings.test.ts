import { createSecretKey, randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { generateZone, zone } from '../../../simulator/cdn/zones.ts';
import { isSameSetting, readZoneSettings, type ZoneSettings } from '../../../src/api/zones/settings.ts';
import { zoneSecretFields } from '../../../src/secrets/fields.ts';
import { findMarks } from '../../support/canary/markers.ts';

const [first, second] = [1, 2].map(() => createSecretKey(randomBytes(32)));
if (!first || !second) throw new Error('two keys');

function read(raw: unknown, keys = [first as NonNullable<typeof first>]): ZoneSettings {
  const settings = readZoneSettings(raw, { keys });
  if (!settings) throw new Error('not read as a zone');
  return settings;
}

/** What differs, by path. */
function differing(one: ZoneSettings, other: ZoneSettings): string[] {
  const [before, after] = [flatten(one), flatten(other)];
  return Object.entries(before)
    .filter(([path, setting]) => !isSameSetting(setting, after[path] ?? [null]))
    .map(([path]) => path);
}

function flatten({ members, groups }: ZoneSettings): ZoneSettings['members'] {
  const things = Object.entries(groups).flatMap(([name, group]) =>
    Object.entries(group).map(([key, setting]) => [`${name}/${key}`, setting] as const),
  );
  return { ...members, ...Object.fromEntries(things) };
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

test('the same secret is the same under a new primary key, and cannot be compared without a common one', () => {
  const shop = zone({ Name: 'shop' });
  const changed = { ...shop, ZoneSecurityKey: 'another-key-of-the-zone' };
  const [a, b] = [first, second] as const;
  expect(differing(read(shop, [a]), read(shop, [b, a]))).toEqual([]);
  expect(differing(read(shop, [a]), read(changed, [b, a]))).toEqual(['ZoneSecurityKey']);
  expect(differing(read(shop, [a]), read(changed, [b]))).toEqual([]);
});

test('what two zones have alike is seen to be only where zones are compared', () => {
  const [one, other] = [1, 2].map((Id) => zone({ Id, Name: `z${Id}`, ZoneSecurityKey: 'the-same-key' }));
  const digests = (options: object) =>
    [one, other].map(
      (raw) => readZoneSettings(raw, { keys: [first], ...options })?.members['ZoneSecurityKey'],
    );
  const [a, b] = digests({});
  expect(a).not.toEqual(b);
  const [c, d] = digests({ acrossZones: true });
  expect(c).toEqual(d);
});

test('members that are wrong or missing are not reported, and long texts are told by their length', () => {
  const { members } = read({
    Id: 1,
    EnableTLS1: 'yes',
    OriginHostHeader: null,
    ErrorPageCustomCode: 'x'.repeat(501),
  });
  expect(Object.keys(members).sort()).toEqual(['ErrorPageCustomCode', 'OriginHostHeader']);
  expect(members['OriginHostHeader']).toEqual([null]);
  expect(members['ErrorPageCustomCode']?.[0]).toEqual({ characters: 501 });
});
