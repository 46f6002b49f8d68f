import { expect, test } from 'vitest';
import { hostname } from '../../../../simulator/cdn/zones.ts';
import { dayMs } from '../../../../src/lib/time.ts';
import { listEvidence, listParts, startLooks } from '../../../support/alerts/looks.ts';
import { prepareEngines } from '../../../support/engines.ts';

const { embedded } = await prepareEngines();
const GB = 1e9;

const own = (id: number, name: string, has: boolean) => hostname(id, 1, name, { HasCertificate: has });

// The double makes a certificate that ends 5 + id % 85 days from now.
const ends = (id: number, name: string, days: number) =>
  hostname(id, 1, name, { Id: 850 + days - 5, HasCertificate: true });

test('state: suspended before disabled; one that is gone, unreadable or not reported is neither', async () => {
  const names = ['shop', 'docs', 'blog', 'wiki'].map((Name) => ({ Name }));
  const world = await startLooks(await embedded.emptyDatabase(), names);
  const look = world.createLook('zone-state', { targets: ['1001', '1002', '1004', '1009'] });
  expect(await look()).toMatchObject({ parts: [], value: 0, unread: [] });
  world.later(dayMs);
  world.change(1001, { Enabled: false });
  world.change(1002, { Suspended: true });
  world.change(1003, { Enabled: false });
  world.change(1004, { Enabled: undefined as unknown as boolean });
  const found = await look();
  expect(listParts(found)).toEqual(['docs: suspended', 'shop: disabled']);
  expect(listEvidence(found)).toEqual([
    '! docs: suspended | disabled or suspended',
    '! shop: disabled | disabled or suspended',
    'wiki: not reported | disabled or suspended',
    'zone 1009: not in the account',
  ]);
  expect(found).toMatchObject({ value: 2, unread: ['1004'] });
});

test('state: nothing that is looked at is there, or reported: it cannot look', async () => {
  const world = await startLooks(await embedded.emptyDatabase(), [{ Name: 'shop' }]);
  await expect(world.createLook('zone-state', { targets: ['1009'] })()).rejects.toThrow(
    'None of this alert’s zones',
  );
  world.later(dayMs);
  world.change(1001, { Enabled: undefined as unknown as boolean });
  await expect(world.createLook('zone-state')()).rejects.toThrow('did not report');
  world.later(dayMs);
  world.simulator.faults.add({ match: { path: /pullzone/ }, status: 503, times: 9 });
  await expect(world.createLook('zone-state')()).rejects.toMatchObject({ code: 'unavailable' });
});

test.each([
  [89.99, []],
  [90, ['shop: 90 % of its limit: 90 GB of 100 GB']],
  [100, ['shop: 100 % of its limit: 100 GB of 100 GB']],
  [250, ['shop: 250 % of its limit: 250 GB of 100 GB']],
])('limit: %d GB of 100 at 90 %%', async (used, parts) => {
  const [limit, use] = [100 * GB, used * GB];
  const world = await startLooks(await embedded.emptyDatabase(), [
    { Name: 'shop', MonthlyBandwidthLimit: limit, MonthlyBandwidthUsed: use },
    { Name: 'free', MonthlyBandwidthLimit: 0, MonthlyBandwidthUsed: use },
  ]);
  const found = await world.createLook('zone-limit')();
  expect(listParts(found)).toEqual(parts);
  expect(found.value).toBe(Math.floor(used));
});

test('forecast: reached within the month is wrong, just after it is not', async () => {
  const limit = { MonthlyBandwidthLimit: 100 * GB };
  // 19 days and 10 hours of 30 are over.
  const world = await startLooks(await embedded.emptyDatabase(), [
    { Name: 'shop', ...limit, MonthlyBandwidthUsed: 70 * GB },
    { Name: 'docs', ...limit, MonthlyBandwidthUsed: 64 * GB },
    { Name: 'blog', ...limit, MonthlyBandwidthUsed: 100 * GB },
  ]);
  const found = await world.createLook('zone-forecast')();
  expect(listParts(found)).toEqual([
    'blog: has reached it: 100 GB of 100 GB',
    'shop: reaches its limit about 2026-11-28 17:42 UTC: 70 GB of 100 GB',
  ]);
  expect(listEvidence(found)[2]).toBe('docs: 64 GB of 100 GB | reached before the month ends (UTC)');
});

test('certificates: each hostname of the customer without one, and none of the platform’s', async () => {
  const system = hostname(1001, 9, 'shop.cdn.example', { HasCertificate: false, IsSystemHostname: true });
  const world = await startLooks(await embedded.emptyDatabase(), [
    { Name: 'shop', Hostnames: [own(1001, 'a.example', false), own(1001, 'b.example', false), system] },
    { Name: 'docs', Hostnames: [own(1002, 'docs.example', true)] },
    { Name: 'bare', Hostnames: [] },
  ]);
  const found = await world.createLook('certificate-missing', { targets: ['1001', '1002', '1003'] })();
  expect(found.parts.map(({ id }) => id)).toEqual(['1001/a.example', '1001/b.example']);
  expect(listEvidence(found)).toEqual([
    '! a.example: no certificate (zone shop) | a hostname without',
    '! b.example: no certificate (zone shop) | a hostname without',
    'docs: each hostname has one | a hostname without',
  ]);
});

test('certificates: one that ends within the days, has ended, or cannot be read', async () => {
  const world = await startLooks(await embedded.emptyDatabase(), [
    { Name: 'shop', Hostnames: [ends(1001, 'in14.example', 14), ends(1001, 'in15.example', 15)] },
    { Name: 'docs', Hostnames: [{ ...ends(1002, 'odd.example', 5), Certificate: 'bm90IG9uZQ' }] },
    { Name: 'bare', Hostnames: [] },
  ]);
  const look = world.createLook('certificate-ending', { targets: ['1001', '1002', '1003', '1009'] });
  const found = await look();
  expect(listParts(found)).toEqual(['in14.example: ends in 14 days, on 2026-12-04 (zone shop)']);
  expect(listEvidence(found)).toEqual([
    '! in14.example: ends in 14 days, on 2026-12-04 | in 14 days or less',
    'zone 1009: not in the account',
    'odd.example: its end date is unreadable',
    'bare: no certificate of its own is reported',
    'in15.example: ends in 15 days, on 2026-12-05 | in 14 days or less',
  ]);
  expect(found.unread).toEqual(['1002/odd.example']);
  const blind = world.createLook('certificate-ending', { targets: ['1002'] });
  await expect(blind()).rejects.toThrow('no readable end date');
});

test('charges: of all or of chosen zones together; one that is not reported is said to be missing', async () => {
  const world = await startLooks(await embedded.emptyDatabase(), [
    { Name: 'shop', MonthlyCharges: 60 },
    { Name: 'docs', MonthlyCharges: 40 },
    { Name: 'blog', MonthlyCharges: undefined as unknown as number },
  ]);
  const all = await world.createLook('charges', { threshold: 99 })();
  expect(listParts(all)).toEqual(['All zones: at least $100.00 this month']);
  expect(listEvidence(all)).toEqual([
    '! All zones: at least $100.00 this month | more than $99.00',
    '1 zone: charges not reported',
    'shop: $60.00',
    'docs: $40.00',
  ]);
  expect(await world.createLook('charges', { threshold: 100 })()).toMatchObject({ parts: [], value: 100 });
  const one = await world.createLook('charges', { targets: ['1001', '1009'], threshold: 50 })();
  expect(listParts(one)).toEqual(['1 zone: $60.00 this month']);
  await expect(world.createLook('charges', { targets: ['1003'] })()).rejects.toThrow('reports no charges');
});

test.each(['zone-state', 'zone-limit', 'charges', 'errors'] as const)(
  '%s: a list without any zone does not say that all is well',
  async (name) => {
    const world = await startLooks(await embedded.emptyDatabase(), [{ Name: 'shop' }]);
    const look = world.createLook(name);
    await look();
    world.later(dayMs);
    world.remove(1001);
    await expect(look()).rejects.toThrow('The CDN lists no zones at all');
  },
);

test('limit: one that is not reported is not “no limit”', async () => {
  const world = await startLooks(await embedded.emptyDatabase(), [{ Name: 'shop' }, { Name: 'docs' }]);
  world.change(1001, { MonthlyBandwidthLimit: undefined as unknown as number });
  world.change(1002, { MonthlyBandwidthLimit: 100 * GB, MonthlyBandwidthUsed: GB });
  const found = await world.createLook('zone-limit')();
  expect(found).toMatchObject({ parts: [], unread: ['1001'] });
  expect(listEvidence(found)).toMatchInlineSnapshot(`
    [
      "shop: limit not reported | 90 % or more",
      "docs: 1 %: 1 GB of 100 GB | 90 % or more",
    ]
  `);
});
