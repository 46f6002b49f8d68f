import { expect, test } from 'vitest';
import type { App } from '../../../../simulator/cdn/model.ts';
import { minuteMs } from '../../../../src/lib/time.ts';
import { listEvidence, listParts, startLooks } from '../../../support/alerts/looks.ts';
import { prepareEngines } from '../../../support/engines.ts';

const { embedded } = await prepareEngines();

async function start(...apps: readonly Partial<App>[]) {
  const zones = apps.map((_, nth) => ({ Name: `zone${nth}`, MagicContainersAppId: `app${nth}` }));
  const world = await startLooks(await embedded.emptyDatabase(), [...zones, { Name: 'other' }]);
  world.data.apps = apps.map((members, nth) => ({
    id: `app${nth}`,
    averageLatency: 40,
    currentLatency: 40,
    totalVolumeSizeInGb: 0,
    monthlyCost: 10,
    volumes: {},
    ...members,
  }));
  return world;
}

test('status: anything but active and progressing is wrong; unknown and gone are neither', async () => {
  const world = await start({ status: 'Active' }, { status: 'progressing' }, { status: 'failing' }, {});
  const found = await world.createLook('app-status', { targets: ['app0', 'app1', 'app2', 'app3', 'gone'] })();
  expect(listParts(found)).toEqual(['app app2: failing']);
  expect(found.unread).toEqual(['gone', 'app3']);
  expect(listEvidence(found)).toEqual([
    '! app app2: failing | not active or progressing',
    'app app3: the CDN does not know its status | not active or progressing',
    'app gone: not there, or the key does not see it',
    'app app0: active | not active or progressing',
    'app app1: progressing | not active or progressing',
  ]);
  // Without a choice: those that zones are linked to.
  expect((await world.createLook('app-status')()).unread).toEqual(['app3']);
  await expect(world.createLook('app-status', { targets: ['app3'] })()).rejects.toThrow('does not know');
  await expect(world.createLook('app-status', { targets: ['gone'] })()).rejects.toMatchObject({
    code: 'not_found',
  });
  world.later(2 * minuteMs);
  for (const { Id } of world.data.zones) world.change(Id, { MagicContainersAppId: null });
  await expect(world.createLook('app-status')()).rejects.toThrow('No zone is linked to an app');
});

test('a status that is not known is no failure', async () => {
  const world = await start({ status: 'Draining' }, { status: 'active' });
  const found = await world.createLook('app-status', { targets: ['app0', 'app1'] })();
  expect(found).toMatchObject({ parts: [], unread: ['app0'] });
  expect(listEvidence(found)).toMatchInlineSnapshot(`
    [
      "app app0: draining, an unknown status | not active or progressing",
      "app app1: active | not active or progressing",
    ]
  `);
});

test('latency and cost: above the threshold, not at it; one that is not reported is neither', async () => {
  const missing = { currentLatency: undefined, monthlyCost: undefined } as unknown as Partial<App>;
  const world = await start(
    { currentLatency: 500, monthlyCost: 50 },
    { currentLatency: 500.5, monthlyCost: 50.01 },
    missing,
  );
  const latency = await world.createLook('app-latency')();
  expect(listParts(latency)).toEqual(['app app1: latency 500.5, 40 on average']);
  expect(latency).toMatchObject({ value: 500.5, unread: ['app2'] });
  const cost = await world.createLook('app-cost')();
  expect(listParts(cost)).toEqual(['app app1: costs 50.01 a month']);
  expect(cost).toMatchObject({ value: 50.01, unread: ['app2'] });
  const only = world.createLook('app-latency', { targets: ['app2'] });
  await expect(only()).rejects.toThrow('does not report its latency');
});
