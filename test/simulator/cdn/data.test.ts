import { X509Certificate } from 'node:crypto';
import { expect, test } from 'vitest';
import { canaryMark } from '../../../simulator/cdn/canaries.ts';
import { enumerationSizes, type PullZone, zoneFields } from '../../../simulator/cdn/zone-fields.ts';
import { generateZone } from '../../../simulator/cdn/zones.ts';
import { openCdn, type RawAnswer } from './raw-client.ts';

const zonesIn = (answer: RawAnswer) => answer.json() as PullZone[];

test('Certificate is filled in only when the request asks for it', async () => {
  await using world = await openCdn({ zones: 30 });
  const certificates = async (path: string): Promise<(string | null)[]> =>
    zonesIn(await world.main(path)).flatMap((zone) => (zone.Hostnames ?? []).map((host) => host.Certificate));
  expect(new Set(await certificates('/pullzone'))).toEqual(new Set([null]));
  expect(new Set(await certificates('/pullzone?includeCertificate=false'))).toEqual(new Set([null]));
  const asked = await certificates('/pullzone?includeCertificate=true');
  const sent = asked.flatMap((text) => text ?? []);
  expect(sent.length).toBeGreaterThan(25);
  for (const text of sent)
    expect(new X509Certificate(Buffer.from(text, 'base64url')).subject).toMatch(/^CN=/);
});

const fits: Record<string, (value: unknown) => boolean> = {
  boolean: (value) => typeof value === 'boolean',
  int32: (value) => Number.isInteger(value) && Math.abs(Number(value)) <= 2_147_483_647,
  int64: (value) => Number.isSafeInteger(value),
  double: (value) => Number.isFinite(value),
  decimal: (value) => Number.isFinite(value),
  string: (value) => typeof value === 'string',
  ...Object.fromEntries(
    Object.entries(enumerationSizes).map(([name, size]) => [
      name,
      (value: unknown) => Number.isInteger(value) && Number(value) >= 0 && Number(value) < size,
    ]),
  ),
};

function isOf(kind: string, value: unknown): boolean {
  if (kind.endsWith('?')) return value === null || isOf(kind.slice(0, -1), value);
  if (kind.endsWith('[]')) {
    const item = fits[kind.slice(0, -2)] ?? ((value: unknown) => typeof value === 'object' && value !== null);
    return Array.isArray(value) && value.every(item);
  }
  return fits[kind]?.(value) ?? false;
}

test('every zone has exactly the 168 published members, each of its declared type', async () => {
  await using world = await openCdn({ zones: 300 });
  const names = Object.keys(zoneFields);
  expect(names).toHaveLength(168);
  const wrong = zonesIn(await world.main('/pullzone')).flatMap((zone) => [
    ...Object.keys(zone).filter((name) => !names.includes(name)),
    ...Object.entries(zoneFields).filter(([name, kind]) => !isOf(kind, zone[name as keyof PullZone])),
  ]);
  expect(wrong).toEqual([]);
});

test('every secret member of a zone is planted somewhere', () => {
  const text = JSON.stringify(Array.from({ length: 60 }, (_, index) => generateZone(index)));
  const kinds =
    'zone-security-key aws-signing-key aws-signing-secret log-forwarding-token certificate certificate-key origin-password log-password edge-rule-request-header edge-rule-response-header edge-rule-trigger-header edge-rule-origin-password extra-action';
  expect(kinds.split(' ').filter((kind) => !text.includes(`${canaryMark}-${kind}-`))).toEqual([]);
});
