import { X509Certificate } from 'node:crypto';
import { asyncProperty, assert as holds, integer } from 'fast-check';
import { expect, test } from 'vitest';
import { canaryMark } from '../../../simulator/cdn/canaries.ts';
import { enumerationSizes, type PullZone, zoneFields } from '../../../simulator/cdn/zone-fields.ts';
import { generateZone, zone } from '../../../simulator/cdn/zones.ts';
import { openCdn, type RawAnswer } from './raw-client.ts';

const zonesIn = (answer: RawAnswer) => answer.json() as PullZone[];
interface Page {
  Items: PullZone[];
  CurrentPage: number;
  TotalItems: number;
  HasMoreItems: boolean;
}
const pageIn = (answer: RawAnswer) => answer.json() as Page;

test.each(['/pullzone', '/pullzone?page=0', '/pullzone?page='])(
  '%s answers all zones as a plain array',
  async (path) => {
    await using world = await openCdn({ zones: 1200 });
    const zones = zonesIn(await world.main(path));
    expect(zones).toHaveLength(1200);
    expect(new Set(zones.map((zone) => zone.Id)).size).toBe(1200);
    expect(new Set(zones.map((zone) => zone.Name)).size).toBe(1200);
  },
);

test('a page above 0 answers the envelope, with 1000 items unless told otherwise', async () => {
  await using world = await openCdn({ zones: 1200 });
  const first = pageIn(await world.main('/pullzone?page=1'));
  expect(Object.keys(first)).toEqual(['Items', 'CurrentPage', 'TotalItems', 'HasMoreItems']);
  expect(first.Items).toHaveLength(1000);
  expect(first).toMatchObject({ CurrentPage: 1, TotalItems: 1200, HasMoreItems: true });
  const second = pageIn(await world.main('/pullzone?page=2'));
  expect(second.Items).toHaveLength(200);
  expect(second).toMatchObject({ CurrentPage: 2, TotalItems: 1200, HasMoreItems: false });
  const beyond = pageIn(await world.main('/pullzone?page=2147483647'));
  expect(beyond).toEqual({ Items: [], CurrentPage: 2_147_483_647, TotalItems: 1200, HasMoreItems: false });
});

test('pages put together are the whole list, for any count and any page size', async () => {
  await using world = await openCdn({ zones: 60 });
  const all = zonesIn(await world.main('/pullzone'));
  const size = integer({ min: 5, max: 70 });
  await holds(
    asyncProperty(integer({ min: 0, max: 60 }), size, async (count, perPage) => {
      world.cdn.data.zones = all.slice(0, count);
      const collected: PullZone[] = [];
      for (let page = 1, more = true; more; page += 1) {
        const answer = pageIn(await world.main(`/pullzone?page=${page}&perPage=${perPage}`));
        collected.push(...answer.Items);
        expect(answer.TotalItems).toBe(count);
        more = answer.HasMoreItems;
      }
      expect(collected.map((zone) => zone.Id)).toEqual(world.cdn.data.zones.map((zone) => zone.Id));
    }),
    { numRuns: 20 },
  );
});

test.each([
  'page=-1',
  'page=2147483648',
  'page=one',
  'page=1.5',
  'page=1&perPage=1001',
  'page=1&perPage=many',
  'includeCertificate=perhaps',
])('%s is refused with 400 in the core shape', async (query) => {
  await using world = await openCdn({ zones: 5 });
  const answer = await world.main(`/pullzone?${query}`);
  expect(answer.status).toBe(400);
  expect(answer.json()).toEqual({
    ErrorKey: 'validation_error',
    Field: expect.any(String),
    Message: expect.any(String),
  });
});

test.each([
  ['1', 5],
  ['0', 5],
  ['-7', 5],
  ['5', 5],
  ['6', 6],
  ['1000', 30],
])('perPage %s gives %d zones of 30: less than 5 is silently 5', async (perPage, count) => {
  await using world = await openCdn({ zones: 30 });
  expect(pageIn(await world.main(`/pullzone?page=1&perPage=${perPage}`)).Items).toHaveLength(count);
});

test('search filters by name, whatever the case, in both shapes', async () => {
  await using world = await openCdn({ zones: 60 });
  const array = zonesIn(await world.main('/pullzone?search=SHOP'));
  expect(array.map((zone) => zone.Name)).toEqual([
    'shop',
    'shop-staging',
    'shop-eu-1',
    'shop-us-1',
    'shop-asia-1',
  ]);
  const page = pageIn(await world.main('/pullzone?page=1&perPage=5&search=shop-'));
  expect(page).toMatchObject({ TotalItems: 4, HasMoreItems: false });
  expect(zonesIn(await world.main('/pullzone?search=nothing-like-it'))).toEqual([]);
});

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

test('hostnames, rules and triggers carry exactly their specified members', () => {
  const lab = generateZone(11);
  const [host] = lab.Hostnames ?? [];
  expect(Object.keys(host ?? {})).toEqual(
    'Id Value ForceSSL IsSystemHostname IsManagedHostname HasCertificate Certificate CertificateKey CertificateKeyType CertificateProvisionType'.split(
      ' ',
    ),
  );
  const rule = lab.EdgeRules?.find((rule) => rule.ExtraActions?.length);
  expect(Object.keys(rule ?? {}).toSorted()).toEqual(
    'ActionParameter1 ActionParameter2 ActionParameter3 ActionType Description Enabled ExtraActions Guid OrderIndex ReadOnly TriggerMatchingType Triggers'.split(
      ' ',
    ),
  );
  expect(Object.keys(rule?.Triggers?.[0] ?? {})).toEqual([
    'Type',
    'PatternMatches',
    'PatternMatchingType',
    'Parameter1',
  ]);
});

test('the zone edge-lab has a rule of each of the 36 action types and each of the 14 trigger types', () => {
  const lab = generateZone(11);
  expect(lab.Name).toBe('edge-lab');
  const actions = (lab.EdgeRules ?? []).map((rule) => rule.ActionType);
  expect(actions).toEqual([...Array.from({ length: 35 }, (_, type) => type), 37]);
  const triggers = new Set(
    lab.EdgeRules?.flatMap((rule) => rule.Triggers ?? []).map((trigger) => trigger.Type),
  );
  expect([...triggers].toSorted((a, b) => a - b)).toEqual(Array.from({ length: 14 }, (_, type) => type));
});

const share = (zone: PullZone): number =>
  zone.MonthlyBandwidthLimit > 0 ? zone.MonthlyBandwidthUsed / zone.MonthlyBandwidthLimit : 0;

test('the first page holds every state a person may meet', async () => {
  await using world = await openCdn();
  const zones = zonesIn(await world.main('/pullzone?search='));
  expect(zones).toHaveLength(60);
  const findByName = (matches: (zone: PullZone) => boolean) =>
    zones
      .slice(0, 12)
      .filter(matches)
      .map((zone) => zone.Name);
  expect(findByName((zone) => !zone.Enabled)).toEqual(['checkout']);
  expect(findByName((zone) => zone.Suspended)).toEqual(['video']);
  expect(findByName((zone) => zone.Enabled && share(zone) > 0.8)).toEqual(['media', 'images']);
  expect(findByName((zone) => zone.Hostnames?.some((host) => !host.HasCertificate) ?? false)).toEqual([
    'docs',
    'shop-staging',
  ]);
  expect(findByName((zone) => zone.EdgeScriptId > 0)).toEqual(['shop', 'shop-staging']);
  expect(findByName((zone) => (zone.MiddlewareScriptId ?? 0) > 0)).toEqual(['blog']);
  expect(findByName((zone) => zone.MagicContainersAppId !== null)).toEqual(['api']);
  expect(findByName((zone) => zone.MonthlyBandwidthLimit === 0).length).toBeGreaterThan(2);
});

test('every secret member of a zone is planted somewhere', () => {
  const text = JSON.stringify(Array.from({ length: 60 }, (_, index) => generateZone(index)));
  const kinds =
    'zone-security-key aws-signing-key aws-signing-secret log-forwarding-token certificate certificate-key origin-password log-password edge-rule-request-header edge-rule-response-header edge-rule-trigger-header edge-rule-origin-password extra-action';
  expect(kinds.split(' ').filter((kind) => !text.includes(`${canaryMark}-${kind}-`))).toEqual([]);
});

test('a zone is the same in every run and for every count', async () => {
  await using small = await openCdn({ zones: 20 });
  await using large = await openCdn({ zones: 2500 });
  const path = '/pullzone?page=1&perPage=20';
  expect(pageIn(await small.main(path)).Items).toEqual(pageIn(await large.main(path)).Items);
  expect(generateZone(1999)).toEqual(generateZone(1999));
});

test('a change to a small world is on the wire at once', async () => {
  await using world = await openCdn({
    data: { zones: [zone({ Name: 'one' }), zone({ Name: 'two', Id: 7 })] },
  });
  await world.main('/pullzone');
  const [one] = world.cdn.data.zones;
  if (one) one.Enabled = false;
  world.cdn.data.zones.push(zone({ Name: 'three', Id: 8 }));
  const zones = zonesIn(await world.main('/pullzone'));
  expect(zones.map(({ Id, Name, Enabled }) => [Id, Name, Enabled])).toEqual([
    [1001, 'one', false],
    [7, 'two', true],
    [8, 'three', true],
  ]);
});

test('a large world refuses a change in place and shows a replaced zone', async () => {
  await using world = await openCdn({ zones: 2001 });
  const path = '/pullzone?page=1&perPage=5';
  await world.main(path);
  const [first] = world.cdn.data.zones;
  if (!first) throw new Error('no zone was generated');
  expect(() => (first.Enabled = false)).toThrow(TypeError);
  expect(() => first.Hostnames?.pop()).toThrow(TypeError);
  world.cdn.data.zones[0] = { ...first, Enabled: false };
  expect(pageIn(await world.main(path)).Items[0]?.Enabled).toBe(false);
});

test('a lean world leaves most members out and is about 1.1 kB a zone', async () => {
  await using world = await openCdn({ zones: 500, zoneMembers: 'few' });
  const answer = await world.main('/pullzone');
  const [first] = zonesIn(answer);
  expect(first).toMatchObject({ Id: 1001, Name: 'shop', MonthlyBandwidthLimit: 5_000_000_000_000 });
  expect(first).not.toHaveProperty('EnableOriginShield');
  expect(answer.text.length / 500).toBeGreaterThan(900);
  expect(answer.text.length / 500).toBeLessThan(1500);
});
