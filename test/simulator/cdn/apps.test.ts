import { expect, test } from 'vitest';
import { openCdn } from './raw-client.ts';

const app = '/mc/apps/app0api00000001';

test('the summary has the five specified members, a chart of thirty UTC days, and status where it is known', async () => {
  await using world = await openCdn({ zones: 0 });
  const summary = (await world.main(`${app}/summary`)).json() as { latencyChart: Record<string, number> };
  expect(summary).toEqual({
    averageLatency: 41.7,
    currentLatency: 38.2,
    totalVolumeSizeInGb: 30,
    monthlyCost: 3.57,
    latencyChart: expect.any(Object),
    status: 'active',
  });
  const days = Object.keys(summary.latencyChart);
  expect([days.length, days[0], days.at(-1)]).toEqual([30, '2026-10-22T00:00:00Z', '2026-11-20T00:00:00Z']);
  expect((await world.main('/mc/apps/app0idle0000003/summary')).json()).not.toHaveProperty('status');
});

test('an unknown application is a 404 of shape A', async () => {
  await using world = await openCdn({ zones: 0 });
  const answer = await world.main('/mc/apps/nobody/summary');
  expect(answer.status).toBe(404);
  expect(answer.json()).toEqual({
    title: 'Not Found',
    status: 404,
    detail: 'Application is not found.',
    instance: expect.any(String),
    errors: [],
    id: 'nobody',
  });
});

test('a volume whose instances are all detached is deleted once: 200 with the ids, then 404', async () => {
  await using world = await openCdn({ zones: 0 });
  const remove = () => world.main(`${app}/volumes/my-data-volume`, { method: 'DELETE' });
  const first = await remove();
  expect([first.status, first.json()]).toEqual([200, { ids: ['vi-1', 'vi-2'] }]);
  const again = await remove();
  expect(again.status).toBe(404);
  expect(again.json()).toMatchObject({
    detail: 'Volume template or instances not found.',
    id: 'app0api00000001',
  });
  expect(world.cdn.data.volumeDeletions).toEqual([
    { appId: 'app0api00000001', volumeId: 'my-data-volume', status: 200, ids: ['vi-1', 'vi-2'] },
    { appId: 'app0api00000001', volumeId: 'my-data-volume', status: 404, ids: [] },
  ]);
});

test('an attached instance refuses the deletion with 400 of shape A, naming it, and nothing is deleted', async () => {
  await using world = await openCdn({ zones: 0 });
  const remove = () => world.main(`${app}/volumes/live-volume`, { method: 'DELETE' });
  const refused = await remove();
  expect(refused.status).toBe(400);
  expect(refused.json()).toMatchObject({
    status: 400,
    detail: 'Some volume instances are not detached.',
    errors: [{ field: 'volumeId', message: 'Instance vi-3 is not detached.' }],
  });
  for (const instance of world.cdn.data.apps[0]?.volumes['live-volume'] ?? []) instance.detached = true;
  expect((await remove()).json()).toEqual({ ids: ['vi-3', 'vi-4'] });
});

test.each(['/mc/apps/nobody/volumes/my-data-volume', `${app}/volumes/nothing`, `${app}/volumes/constructor`])(
  '%s is a 404 of shape A',
  async (path) => {
    await using world = await openCdn({ zones: 0 });
    const answer = await world.main(path, { method: 'DELETE' });
    expect(answer.status).toBe(404);
    expect(answer.json()).toMatchObject({ title: 'Not Found', status: 404 });
  },
);

test('ids are decoded from the path', async () => {
  await using world = await openCdn({ zones: 0 });
  const volumes = world.cdn.data.apps[0]?.volumes;
  if (volumes) volumes['odd/name ü'] = [{ id: 'vi-9', detached: true }];
  const answer = await world.main(`${app}/volumes/${encodeURIComponent('odd/name ü')}`, { method: 'DELETE' });
  expect(answer.json()).toEqual({ ids: ['vi-9'] });
});
