import { expect, test } from 'vitest';
import type { ScanCounts } from '../../../../simulator/cdn/model.ts';
import { listEvidence, listParts, startLooks } from '../../../support/alerts/looks.ts';
import { prepareEngines } from '../../../support/engines.ts';

const { embedded } = await prepareEngines();

const blocked = (blockedRequests: number): ScanCounts => ({
  loggedRequests: blockedRequests,
  blockedRequests,
  filesScanned: 100,
});

async function start(...overviews: readonly Record<string, ScanCounts>[]) {
  const world = await startLooks(await embedded.emptyDatabase(), [{ Name: 'shop' }]);
  world.data.shieldZones = overviews.map((overview, nth) => ({ id: 501 + nth, plan: 'advanced', overview }));
  return world;
}

test('blocked today above the threshold, not at it; earlier days are past', async () => {
  const world = await start(
    { '19-11-2026': blocked(99), '20-11-2026': blocked(11) },
    { '19-11-2026': blocked(99), '20-11-2026': blocked(10) },
    { '01-11-2026': blocked(99) },
  );
  const found = await world.createLook('scanning', { targets: ['501', '502', '503', '504'] })();
  expect(listParts(found)).toEqual(['shield zone 501: 11 uploads blocked on 2026-11-20']);
  expect(listEvidence(found)).toEqual([
    '! shield zone 501: 11 uploads blocked on 2026-11-20 | more than 10 in a day (UTC)',
    'shield zone 503: nothing reported of today or yesterday',
    'shield zone 504: not checked: the CDN refused',
    'shield zone 502: 10 uploads blocked on 2026-11-20 | more than 10 in a day (UTC)',
  ]);
  expect(found).toMatchObject({ value: 11, unread: ['504', '503'] });
  await expect(world.createLook('scanning', { targets: ['503'] })()).rejects.toThrow('no upload scanning');
  await expect(world.createLook('scanning', { targets: ['504'] })()).rejects.toMatchObject({
    code: 'refused',
  });
});

test('a day that ended since the last look is judged once more, and one that is reported late', async () => {
  const world = await start({ '20-11-2026': blocked(3) });
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
