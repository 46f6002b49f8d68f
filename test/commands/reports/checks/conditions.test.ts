import { expect, test } from 'vitest';
import type { App, ScanCounts } from '../../../../simulator/cdn/model.ts';
import { hostname, zone } from '../../../../simulator/cdn/zones.ts';
import type { ConditionName } from '../../../../src/commands/reports/checks/list.ts';
import { settingsDigest } from '../../../../src/commands/reports/checks/settings.ts';
import { UserError } from '../../../../src/errors.ts';
import { dayMs, minuteMs } from '../../../../src/lib/time.ts';
import type { ConditionSettings } from '../../../../src/views/reports/report.ts';
import { listEvidence, listParts, startLooks } from '../../../support/alerts/looks.ts';
import { prepareEngines } from '../../../support/engines.ts';
import { alice, never } from '../accounts/account-harness.ts';

const { embedded } = await prepareEngines();

const startZones = async (zones: Parameters<typeof startLooks>[1]) =>
  startLooks(await embedded.emptyDatabase(), zones);

const GB = 1e9;
/** What the CDN does not report. */
const unreported = undefined as never;

const own = (id: number, name: string, has: boolean) => hostname(id, 1, name, { HasCertificate: has });
const system = hostname(1001, 9, 'shop.cdn.example', { HasCertificate: false, IsSystemHostname: true });

// The double makes a certificate that ends 5 + id % 85 days from now.
const ends = (id: number, name: string, days: number) =>
  hostname(id, 1, name, { Id: 850 + days - 5, HasCertificate: true });

const limited = (Name: string, used: number, limit = 100) => ({
  Name,
  MonthlyBandwidthLimit: limit * GB,
  MonthlyBandwidthUsed: used * GB,
});

const charged = [
  { Name: 'shop', MonthlyCharges: 60 },
  { Name: 'docs', MonthlyCharges: 40 },
  { Name: 'blog', MonthlyCharges: unreported },
];

const blocked = (blockedRequests: number): ScanCounts => ({
  loggedRequests: blockedRequests,
  blockedRequests,
  filesScanned: 100,
});

/** Apps `app0`, `app1` … , each with a zone that is linked to it, and a zone without. */
async function startApps(...apps: readonly Partial<App>[]) {
  const zones = apps.map((_, nth) => ({ Name: `zone${nth}`, MagicContainersAppId: `app${nth}` }));
  const world = await startZones([...zones, { Name: 'other' }]);
  const common = { averageLatency: 40, currentLatency: 40, totalVolumeSizeInGb: 0, monthlyCost: 10 };
  world.data.apps = apps.map((members, nth) => ({ id: `app${nth}`, ...common, volumes: {}, ...members }));
  return world;
}

async function startShields(...overviews: readonly Record<string, ScanCounts>[]) {
  const world = await startZones([{ Name: 'shop' }]);
  world.data.shieldZones = overviews.map((overview, nth) => ({ id: 501 + nth, plan: 'advanced', overview }));
  return world;
}

const startUse = () =>
  startApps(
    { currentLatency: 500, monthlyCost: 50 },
    { currentLatency: 500.5, monthlyCost: 50.01 },
    { currentLatency: unreported, monthlyCost: unreported },
  );
const startStates = () =>
  startApps(
    { status: 'Active' },
    { status: 'progressing' },
    { status: 'failing' },
    {},
    { status: 'Draining' },
  );
const startScans = () =>
  startShields(
    { '19-11-2026': blocked(99), '20-11-2026': blocked(11) },
    { '19-11-2026': blocked(99), '20-11-2026': blocked(10) },
    { '01-11-2026': blocked(99) },
  );
const startCertificates = () =>
  startZones([
    { Name: 'shop', Hostnames: [ends(1001, 'in14.example', 14), ends(1001, 'in15.example', 15)] },
    { Name: 'docs', Hostnames: [{ ...ends(1002, 'odd.example', 5), Certificate: 'bm90IG9uZQ' }] },
    { Name: 'bare', Hostnames: [] },
  ]);
const startCharges = () => startZones(charged);

test.each<[name: string, ConditionName, () => ReturnType<typeof startZones>, Partial<ConditionSettings>?]>([
  [
    'suspended before disabled; one that is gone or not reported is neither',
    'zone-state',
    () =>
      startZones([
        { Name: 'shop', Enabled: false },
        { Name: 'docs', Suspended: true },
        { Name: 'blog', Enabled: false },
        { Name: 'wiki', Enabled: unreported },
      ]),
    { targets: ['1001', '1002', '1004', '1009'] },
  ],
  [
    'what is not reported is neither',
    'zone-state',
    () => startZones([{ Name: 'shop', Suspended: unreported }, { Name: 'docs' }]),
  ],
  [
    'hostnames or certificates that are not reported are neither',
    'certificate-missing',
    () =>
      startZones([
        { Name: 'shop', Hostnames: unreported },
        { Name: 'docs', Hostnames: [{ ...own(1002, 'docs.example', true), HasCertificate: unreported }] },
        { Name: 'blog', Hostnames: [own(1003, 'blog.example', true)] },
      ]),
  ],
  [
    'reached within the month is wrong, just after it is not (19 days and 10 hours of 30 are over)',
    'zone-forecast',
    () => startZones([limited('shop', 70), limited('docs', 64), limited('blog', 100)]),
  ],
  [
    'a limit that is not reported is not “no limit”',
    'zone-limit',
    () => startZones([{ ...limited('shop', 1), MonthlyBandwidthLimit: unreported }, limited('docs', 1)]),
  ],
  [
    'each hostname of the customer without one, and none of the platform’s',
    'certificate-missing',
    () =>
      startZones([
        { Name: 'shop', Hostnames: [own(1001, 'a.example', false), own(1001, 'b.example', false), system] },
        { Name: 'docs', Hostnames: [own(1002, 'docs.example', true)] },
        { Name: 'bare', Hostnames: [] },
      ]),
    { targets: ['1001', '1002', '1003'] },
  ],
  [
    'one that ends within the days, has ended, or cannot be read',
    'certificate-ending',
    startCertificates,
    { targets: ['1001', '1002', '1003', '1009'] },
  ],
  ['all zones together; one that is not reported is said', 'charges', startCharges, { threshold: 99 }],
  ['at the threshold', 'charges', startCharges, { threshold: 100 }],
  ['of chosen zones', 'charges', startCharges, { targets: ['1001', '1009'], threshold: 50 }],
  [
    'anything but active and progressing is wrong; unknown and gone are neither',
    'app-status',
    startStates,
    { targets: ['app0', 'app1', 'app2', 'app3', 'app4', 'gone'] },
  ],
  ['without a choice those that zones are linked to', 'app-status', startStates],
  ['above the threshold, not at it; one that is not reported is neither', 'app-latency', startUse],
  ['above the threshold, not at it; one that is not reported is neither', 'app-cost', startUse],
  [
    'blocked today above the threshold, not at it; earlier days are past',
    'scanning',
    startScans,
    { targets: ['501', '502', '503', '504'] },
  ],
])('%s: %s', async (_, condition, start, settings) => {
  const found = await (await start()).createLook(condition, settings)();
  const { value, unread } = found;
  expect({ parts: listParts(found), evidence: listEvidence(found), value, unread }).toMatchSnapshot();
});

test.each<[ConditionName, () => ReturnType<typeof startZones>, string[], object]>([
  [
    'zone-state',
    () => startZones([{ Name: 'shop' }]),
    ['1009'],
    { message: expect.stringMatching('None of') },
  ],
  [
    'zone-state',
    () => startZones([{ Name: 'shop', Enabled: unreported }]),
    [],
    { message: expect.stringMatching('did not report') },
  ],
  [
    'certificate-ending',
    startCertificates,
    ['1002'],
    { message: expect.stringMatching('no readable expiry') },
  ],
  ['charges', startCharges, ['1003'], { message: expect.stringMatching('reports no charges') }],
  ['app-status', startStates, ['app3'], { message: expect.stringMatching('does not know') }],
  ['app-status', startStates, ['gone'], { code: 'not_found' }],
  ['app-status', () => startZones([{ Name: 'shop' }]), [], { message: expect.stringMatching('No zone is') }],
  ['app-latency', startUse, ['app2'], { message: expect.stringMatching('does not report') }],
  ['scanning', startScans, ['503'], { message: expect.stringMatching('no upload scanning') }],
  ['scanning', startScans, ['504'], { code: 'refused' }],
])('%s: what cannot be judged is never fine', async (condition, start, targets, error) => {
  await expect((await start()).createLook(condition, { targets })()).rejects.toMatchObject(error);
});

test.each([
  [89.99, []],
  [90, ['shop: 90% of its limit: 90 GB of 100 GB']],
  [100, ['shop: 100% of its limit: 100 GB of 100 GB']],
  [250, ['shop: 250% of its limit: 250 GB of 100 GB']],
])('limit: %d GB of 100 at 90%%', async (used, parts) => {
  const world = await startZones([limited('shop', used), limited('free', used, 0)]);
  const found = await world.createLook('zone-limit')();
  expect(listParts(found)).toEqual(parts);
  expect(found.value).toBe(Math.floor(used));
});

test.each(['zone-state', 'zone-limit', 'charges', 'errors'] as const)(
  '%s: a list without any zone does not say that all is well',
  async (name) => {
    const world = await startZones([{ Name: 'shop' }]);
    const look = world.createLook(name);
    await look();
    world.later(dayMs);
    world.change(1001, { Id: 'none' as never });
    await expect(look()).rejects.toThrow(/cannot be read/u);
    world.later(dayMs);
    const chosen = world.createLook(name, { targets: ['9'] });
    world.data.zones = [zone({ Id: 1002, Name: 'docs' })];
    await expect(chosen()).rejects.toThrow('None of this alert’s zones');
    world.later(dayMs);
    world.data.zones = [];
    await expect(look()).rejects.toThrow('The CDN lists no zones at all');
  },
);

test.each([
  ['zone-state', startStates, '1002'],
  ['errors', startStates, '1002'],
  ['app-status', startStates, 'app1'],
  ['certificate-ending', startCertificates, '1002/docs.example'],
  ['charges', startCharges, undefined],
] as const)('%s: a zone that cannot be read is named, and has not recovered', async (name, start, part) => {
  const world = await start();
  world.change(1002, { Id: 'none' as never });
  const { evidence, isUnlisted, isGone } = await world.createLook(name)();
  expect(evidence.map(({ name }) => name)).toContain('1 zone');
  expect(part === undefined || isUnlisted?.(part)).toBe(true);
  expect(isGone?.('1002')).not.toBe(true);
});

test.each([
  ['zone-state', startStates],
  ['errors', startStates],
  ['errors-rise', startStates],
  ['certificate-ending', startCertificates],
] as const)('%s: a zone that was deleted is gone', async (name, start) => {
  const world = await start();
  world.remove(1002);
  const { isGone } = await world.createLook(name)();
  expect(['1001', '1002', '1002/docs.example'].map((part) => isGone?.(part))).toEqual([false, true, true]);
});

test.each([[null], [[{ Value: 5 }]], [[{ Value: 'in14.example', HasCertificate: 'perhaps' }]]])(
  'certificate-ending: of a zone whose hostnames are %j nothing has recovered, and that is told',
  async (hostnames) => {
    const world = await startZones([
      { Name: 'shop', Hostnames: [ends(1001, 'in14.example', 14)] },
      { Name: 'docs', Hostnames: [ends(1002, 'in40.example', 40)] },
    ]);
    const look = world.createLook('certificate-ending');
    const [{ id } = { id: '' }] = (await look()).parts;
    world.later(dayMs);
    world.change(1001, { Hostnames: hostnames as never });
    const found = await look();
    expect(listEvidence(found)).toContainEqual(expect.stringMatching(/^shop: .*not reported/u));
    expect([found.isUnlisted?.(id), found.isUnlisted?.('1002/in40.example')]).toEqual([true, false]);
  },
);

test('scanning: a day that ended since the last look is judged once more, and one that is reported late', async () => {
  const world = await startShields({ '20-11-2026': blocked(3) });
  const look = world.createLook('scanning', { targets: ['501'] });
  world.moveTo('2026-11-20T23:45:00Z');
  expect((await look()).parts).toEqual([]);
  world.moveTo('2026-11-21T00:00:00Z');
  world.data.shieldZones[0]!.overview = { '20-11-2026': blocked(12), '21-11-2026': blocked(0) };
  expect(listParts(await look())).toEqual(['shield zone 501: 12 uploads blocked on 2026-11-20']);
  world.moveTo('2026-11-21T00:15:00Z');
  expect((await look()).parts).toEqual([]);
  // Nothing is reported of today yet.
  world.moveTo('2026-11-22T08:00:00Z');
  world.data.shieldZones[0]!.overview = { '21-11-2026': blocked(40) };
  expect(listParts(await look())).toEqual(['shield zone 501: 40 uploads blocked on 2026-11-21']);
});

const zones = ['shop', 'docs', 'blog'].map((Name) => ({ Name, BlockedIps: [] }));

test('settings: every change is told once, whoever found it, and secrets never', async () => {
  const world = await startZones(zones);
  const look = world.createLook('settings');
  expect(listEvidence(await look())).toEqual(['3 zones: read: changes are reported from now on']);
  world.later(15 * minuteMs);
  world.change(1001, { EnableTLS1: true, ZoneSecurityKey: 'another-secret-key' });
  const found = await look();
  expect(listParts(found).sort()).toEqual([
    'shop: TLS 1.0: off → on',
    'shop: Token authentication key: changed, not shown',
  ]);
  expect(JSON.stringify(found)).not.toContain('another-secret');
  world.later(15 * minuteMs);
  expect(await look()).toMatchObject({ parts: [] });

  // Another reader of the same person looks first.
  world.later(dayMs);
  world.change(1002, { EnableTLS1: true });
  await (await world.accounts.open(alice, never)).settings.look();
  world.later(15 * minuteMs);
  world.change(1002, { EnableTLS1: false });
  const both = await look();
  expect(listParts(both)).toEqual(['docs: TLS 1.0: on → off', 'docs: TLS 1.0: off → on']);
  // The same setting again is another change.
  expect(new Set(both.parts.map(({ id }) => id)).size).toBe(2);
});

test('settings: of chosen zones only theirs; one that is deleted is told, then it is gone', async () => {
  const world = await startZones(zones);
  const look = world.createLook('settings', { targets: ['1001', '1002'] });
  await look();
  world.later(15 * minuteMs);
  world.change(1003, { EnableTLS1: true });
  world.remove(1002);
  const found = await look();
  expect(listParts(found)).toEqual(['docs: Zone: deleted']);
  expect(listEvidence(found)).toMatchSnapshot('a zone is deleted');
  world.remove(1001);
  world.later(15 * minuteMs);
  await expect(look()).rejects.toThrow('None of this alert’s zones');
});

test.each([{ EnableTLS1: 'maybe' }, { BlockedIps: [[1]] }, { OriginUrl: ['a'] }])(
  'settings: of %j nothing was compared, and that is told',
  async (members) => {
    const world = await startZones(zones);
    const look = world.createLook('settings');
    await look();
    world.later(15 * minuteMs);
    world.change(1001, members as never);
    expect(listEvidence(await look())).toContainEqual(expect.stringMatching(/^1 zone: .* not readable/u));
  },
);

test('settings: of more changes than a message takes the number is told', async () => {
  const world = await startZones(zones);
  const look = world.createLook('settings');
  await look();
  for (const { Id } of world.data.zones) {
    const on = Object.keys(world.data.zones[0] ?? {}).filter((name) =>
      /^(?:Enable|Optimizer|Origin)/u.test(name),
    );
    world.change(Id, Object.fromEntries(on.map((name) => [name, flip(world.data.zones[0], name)])));
  }
  world.later(15 * minuteMs);
  const found = await look();
  expect(found.parts).toHaveLength(50);
  expect(listParts(found).at(-1)).toMatch(/^Further: \d{2,} more changes$/u);
});

test('settings: no zone at all, or none that can be read, is no answer, in an alert and in a digest', async () => {
  const world = await startZones(zones);
  const { zones: listed } = world.data;
  world.data.zones = [];
  await expect(world.createLook('settings')()).rejects.toThrow('No settings');
  world.later(dayMs);
  let baseline: Awaited<ReturnType<typeof settingsDigest.collect>>['baseline'];
  const collect = async (zones: readonly string[] = []) => {
    const account = await world.accounts.open(alice, never);
    const targets = { zones, shieldZones: [], apps: [] };
    const found = await settingsDigest.collect({
      account,
      now: world.now(),
      targets,
      timeZone: 'UTC',
      past: [],
      baseline,
    });
    ({ baseline } = found);
    world.later(dayMs);
    return found.section?.number;
  };
  world.data.zones = listed;
  expect([
    await collect(['1001']),
    await collect(['1001', '1002']),
    await collect(['1002']),
  ]).toMatchSnapshot();
  world.data.zones = listed.map((one) => ({ ...one, Id: null as never }));
  await expect(collect()).rejects.toBeInstanceOf(UserError);
});

function flip(zone: object | undefined, name: string): unknown {
  const value = (zone as Readonly<Record<string, unknown>>)[name];
  if (typeof value === 'boolean') return !value;
  return typeof value === 'number' ? value + 1 : value;
}
